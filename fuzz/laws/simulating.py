"""Simulations of a case: each is done once, within a limit of processor time."""

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import pagecast
from fuzz.laws.chance import Chance
from fuzz.laws.document import Table, Units, base_units, to_toml
from pagecast.errors import PagecastError
from pagecast.result import Result

MODELS = ("kernel", "wrench", "no-cache", "endless-cache")


@dataclass(frozen=True)
class Case:
    """A scenario to be looked at: of which kind, and which one."""

    kind: str
    seed: int
    number: int
    document: Table

    def chance(self, purpose: str) -> Chance:
        """Give a random stream for what a law draws itself, which is the same when the scenario is shrunk."""
        return Chance(f"{self.seed}/{self.number}/{purpose}")


@dataclass(frozen=True)
class Answer:
    """What came of a simulation: a result, or why there is none."""

    result: Result | None
    refusal: str = ""

    @cached_property
    def text(self) -> str:
        """All tables, as `--json` prints them."""
        return json.dumps(self.result.to_dict()) if self.result is not None else self.refusal


@dataclass
class Simulator:
    """Simulates, and remembers the answers; `begin` is told before each simulation what is simulated."""

    most_seconds: float = 20
    begin: Callable[[str], object] = lambda _: None
    count: int = 0
    known: dict[tuple[str, str], Answer] = field(default_factory=dict)

    def ask(self, document: Table, model: str = "kernel", units: Units = base_units) -> Answer:
        """Simulate a document, unless that has been done."""
        text = to_toml(document, units)
        if (text, model) not in self.known:
            self.known[text, model] = self.again(text, model)
        return self.known[text, model]

    def again(self, text: str, model: str, *, seed: int = 0, threads: int = 1) -> Answer:
        """Simulate a scenario file. Whoever takes more processor time than is allowed is killed (SIGPROF)."""
        self.count += 1
        self.begin(f"{model}\n{text}")
        signal.setitimer(signal.ITIMER_PROF, self.most_seconds)
        try:
            scenario = pagecast.Scenario.from_toml(text)
            return Answer(pagecast.simulate(scenario, model=model, seed=seed, threads=threads))
        except PagecastError as error:
            return Answer(None, f"{type(error).__name__}: {error}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
