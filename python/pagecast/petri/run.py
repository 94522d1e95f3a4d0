"""Runs of a net, at once or step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pagecast._core import PetriSimulator
from pagecast.result import Columns

__all__ = ["Run", "Stepper"]

_LONGEST = 10_000
"""Characters of a marking that are kept as text; `tokens` has all of it."""


@dataclass(frozen=True)
class Run:
    """A net at the end of a run.

    Attributes
    ----------
    ended : str
        "dead", "time", "steps", "marking", "breakpoint" and the transition, or "monitor" and its name.
    time : int or float
        Model time.
    steps : int
        Occurrences of transitions.
    is_timed : bool
        True if tokens have time stamps.
    """

    ended: str
    time: float
    steps: int
    is_timed: bool
    _ll_simulator: PetriSimulator

    @property
    def transitions(self) -> Columns:
        """Columns `transition` and `occurrences`, a row for each transition."""
        counts = self._ll_simulator.counts()
        return Columns({"transition": [name for name, _ in counts], "occurrences": [n for _, n in counts]})

    @property
    def places(self) -> Columns:
        """Columns `place`, `colset`, `tokens` and `marking`, a row for each place."""
        rows = self._ll_simulator.markings(_LONGEST)
        names = ("place", "colset", "tokens", "marking")
        return Columns({name: [row[at] for row in rows] for at, name in enumerate(names)})

    @property
    def marking(self) -> dict[str, str]:
        """Marking of each place, in CPN ML."""
        return {place: text for place, _, _, text in self._ll_simulator.markings(_LONGEST)}

    def tokens(self, place: str) -> Columns:
        """Give the tokens of a place.

        Parameters
        ----------
        place : str
            ``Page'Place``, or the name alone where one place has it. The instance follows if a page
            has several.

        Returns
        -------
        Columns
            `value`, `count` and `time` (None without a time stamp).

        Raises
        ------
        PetriNetError
            There is no such place, or more than one.
        """
        rows = self._ll_simulator.tokens(place)
        names = ("value", "count", "time")
        return Columns({name: [row[at] for row in rows] for at, name in enumerate(names)})

    @property
    def monitors(self) -> Columns:
        """Values that the monitors have measured until now.

        Columns `monitor`, `kind`, `count` (of values), `sum`, `mean` (over the time, where a value weighs as
        long as it lasts), `deviation`, `min`, `max`, `first` and `last`; None where there is no value.
        """
        rows = [(name, kind, *sums, *spread) for name, kind, sums, spread, _ in self._ll_simulator.monitors()]
        names = ("monitor", "kind", "count", "sum", "mean", "deviation", "min", "max", "first", "last")
        return Columns({name: [row[at] for row in rows] for at, name in enumerate(names)})

    @property
    def written(self) -> dict[str, str]:
        """Texts that monitors of the kind "write in file" have written, by name."""
        return {
            name: text for name, kind, *_, text in self._ll_simulator.monitors() if kind == "write in file"
        }

    @property
    def occurrences(self) -> Columns:
        """Columns `transition`, `time` and `binding` of the occurrences that were kept."""
        rows = self._ll_simulator.occurrences()
        names = ("transition", "time", "binding")
        return Columns({name: [row[at] for row in rows] for at, name in enumerate(names)})


class Stepper:
    """A net that goes on step by step; `Net.stepper` makes it."""

    def __init__(self, simulator: PetriSimulator) -> None:
        self._ll_simulator = simulator

    @property
    def time(self) -> float:
        """Model time."""
        return self._ll_simulator.time

    @property
    def is_timed(self) -> bool:
        """True if tokens have time stamps."""
        return self._ll_simulator.is_timed

    def enabled(self) -> list[tuple[str, str]]:
        """Give the enabled binding elements: transition and binding. Time goes on to the first ones.

        Returns
        -------
        list of tuple of str and str

        Raises
        ------
        SimulationError
            An inscription fails.
        """
        return self._ll_simulator.enabled()

    def occur(self, number: int) -> bool:
        """Let one of the enabled binding elements occur.

        Parameters
        ----------
        number : int
            Its place in the list of `enabled`.

        Returns
        -------
        bool
            False if there is no such one.
        """
        return self._ll_simulator.occur(number)

    def run(
        self,
        *,
        until: float | None = None,
        steps: int | None = None,
        when: Mapping[str, int] | None = None,
        breakpoints: Sequence[str] = (),
        steps_at_one_time: int | None = None,
        log: int = 0,
    ) -> Run:
        """Go on until a limit; the arguments are those of `Net.run`.

        Returns
        -------
        Run
        """
        ended = self._ll_simulator.run(
            until=until,
            steps=steps,
            steps_at_one_time=steps_at_one_time,
            when=list((when or {}).items()),
            breakpoints=list(breakpoints),
            log=log,
        )
        return self.now(ended)

    def now(self, ended: str = "steps") -> Run:
        """Give the net as it is now.

        Returns
        -------
        Run
        """
        simulator = self._ll_simulator
        time: Any = simulator.time
        return Run(ended, time, simulator.steps, simulator.is_timed, simulator)
