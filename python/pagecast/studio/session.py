"""Simulates what a page asks for; a newer question of the same page stops an older one."""

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagecast._core import MODELS
from pagecast.advice.finding import find_hosts, find_knobs, largest_processes, used_disks
from pagecast.api import Scenario, simulate
from pagecast.arguments import shown
from pagecast.errors import PagecastError
from pagecast.result import Result
from pagecast.studio.answer import answer
from pagecast.studio.controls import controls
from pagecast.studio.copies import as_command, as_toml
from pagecast.studio.source import Loaded, Text, Watched

__all__ = ["Asked", "Session", "Superseded"]

RIVALS: Final = ("no-cache", "endless-cache")
_MOST_RESULTS: Final = 6
"""So many are kept: what was seen a moment ago is there at once."""
_MOST_PAGES: Final = 64
"""So many pages have a question of their own that can be stopped."""


class Superseded(Exception):  # noqa: N818  (no error: a newer question has come)
    """A newer question of the same page has come."""


@dataclass(frozen=True)
class Asked:
    """A question of a page.

    Attributes
    ----------
    page : str
        Tells pages from each other.
    overrides : tuple of str
        As for ``--set``.
    models : tuple of str
        The first one is drawn, the others are compared with it; none for what the scenario asks for.
    host : str or None
    known : str
        The revision whose controls the page has.
    """

    page: str
    overrides: tuple[str, ...]
    models: tuple[str, ...]
    host: str | None
    known: str


class Session:
    """The scenario of a studio, and what was forecast of it; may be used by several threads.

    Parameters
    ----------
    path : Path
    overrides : sequence of str
        Set in every forecast, before those of the page.
    seed : int
    """

    def __init__(self, path: Path, overrides: Sequence[str] = (), *, seed: int = 0) -> None:
        self.watched = Watched(path)
        self.overrides = tuple(overrides)
        self._seed = seed
        self._results: OrderedDict[tuple[object, ...], Result] = OrderedDict()
        self._stops: OrderedDict[str, threading.Event] = OrderedDict()
        self._lock = threading.Lock()

    def forecast(self, asked: Asked) -> dict[str, Any]:
        """Answer a question.

        Parameters
        ----------
        asked : Asked

        Returns
        -------
        dict
            For JSON: `revision`, `main` and `rivals`, what `answer` gives, and `notes` on rivals that cannot
            forecast it; `controls` and `choices`, the models to choose from, if the page has those of another
            revision. Of a scenario that cannot be understood or cannot go on: `error`, with `file`, `line`
            and `message`, and still `controls` where the machine can be described.

        Raises
        ------
        Superseded
        """
        stop = self._newest(asked.page)
        try:
            return self._forecast(asked, stop)
        finally:
            self._forget(asked.page, stop)

    def _forecast(self, asked: Asked, stop: threading.Event) -> dict[str, Any]:
        found: dict[str, Any] = {"scenario": self.watched.path.name}
        try:
            text = self.watched.read()
        except PagecastError as error:
            return found | {"revision": "", "error": self._located(error)}
        found["revision"] = text.revision
        try:
            loaded = self.watched.load(text, self._all(asked.overrides))
            models = asked.models or _usual_models(loaded.scenario)
            results = [self._result(loaded, models[0], stop)]
            notes = []
            for model in models[1:]:
                try:
                    results.append(self._result(loaded, model, stop))
                except PagecastError as error:
                    notes.append(f"{model}: {self._located(error)['message']}")
            found |= {"main": models[0], "rivals": [*models[1:]], "notes": notes}
            found |= answer(results, asked.host)
        except PagecastError as error:
            found["error"] = self._located(error)
        if asked.known != text.revision:
            found |= self._described(text, stop)
        return found

    def stop(self) -> None:
        """Stop all that is under way."""
        with self._lock:
            for stop in self._stops.values():
                stop.set()

    def copied(self, what: str, asked: Asked) -> str:
        """Give the settings as ``toml`` or as ``command``.

        Raises
        ------
        ScenarioError
            The scenario or a value cannot be understood.
        """
        text, overrides = self.watched.read(), self._all(asked.overrides)
        loaded = self.watched.load(text, overrides)
        if what == "toml":
            return as_toml(text.content, self.watched.path, overrides)
        models = asked.models or _usual_models(loaded.scenario)
        return as_command(self.watched.path, models, overrides, seed=self._seed)

    def _all(self, overrides: Sequence[str]) -> tuple[str, ...]:
        return (*self.overrides, *overrides)

    def _newest(self, page: str) -> threading.Event:
        """Note the newest question of a page, and stop the one before."""
        stop = threading.Event()
        with self._lock:
            if (before := self._stops.pop(page, None)) is not None:
                before.set()
            self._stops[page] = stop
            while len(self._stops) > _MOST_PAGES:
                self._stops.popitem(last=False)[1].set()
        return stop

    def _forget(self, page: str, stop: threading.Event) -> None:
        with self._lock:
            if self._stops.get(page) is stop:
                del self._stops[page]

    def _result(self, loaded: Loaded, model: str, stop: threading.Event) -> Result:
        key = (loaded.identity, model)
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]

        def check(*_: object) -> None:
            if stop.is_set():
                raise Superseded

        check()
        result = simulate(loaded.scenario, model=model, seed=self._seed, record="auto", progress=check)
        check()
        with self._lock:
            self._results[key] = result
            while len(self._results) > _MOST_RESULTS:
                self._results.popitem(last=False)
        return result

    def _described(self, text: Text, stop: threading.Event) -> dict[str, Any]:
        """Give the controls, and the models to choose from, of the scenario as it is in its file."""
        try:
            loaded = self.watched.load(text, self.overrides)
        except PagecastError:
            return {}
        scenario = loaded.scenario
        usual = _usual_models(scenario)[0]
        try:
            result = self._result(loaded, usual, stop)
        except PagecastError:
            hosts, moving = find_hosts(scenario, None), scenario.processes[:1]
        else:
            hosts, moving = find_hosts(scenario, used_disks(result)), largest_processes(result)
        knobs = find_knobs(hosts, text.content, self.overrides, moving)
        return {
            "controls": controls(hosts, knobs),
            "choices": [usual, *(model for model in MODELS if model not in (usual, *RIVALS))],
        }

    def _located(self, error: PagecastError) -> dict[str, Any]:
        """Take the place out of a message."""
        message, name = str(error), shown(self.watched.path)
        place = re.match(rf"{re.escape(name)}(?::(\d+))?: ", message)
        return {
            "file": self.watched.path.name if place else "",
            "line": int(place[1]) if place and place[1] else None,
            "message": message[place.end() :] if place else message,
        }


def _usual_models(scenario: Scenario) -> tuple[str, ...]:
    """Choose what is drawn first: kernel where it is asked for, and the rivals that are asked for."""
    asked = scenario.models
    drawn = [model for model in asked if model not in RIVALS] or asked
    main = "kernel" if "kernel" in drawn else drawn[0]
    return (main, *(model for model in asked if model in RIVALS and model != main))
