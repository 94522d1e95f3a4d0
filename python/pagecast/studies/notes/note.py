"""The measurements of a note, and their method."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast.comparison.rows import Role

__all__ = ["Case", "Note", "Point"]

HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Point:
    """One printed figure: the seconds of an operation that moves `bytes_moved`."""

    operation: str
    measured_s: float
    bytes_moved: int
    role: Role = "judged"

    def mib_per_s(self, seconds: float) -> float:
        """Give the rate at which the operation takes so many seconds."""
        return self.bytes_moved / 2**20 / seconds


@dataclass(frozen=True)
class Case:
    """A run of programs: each point is one read or write of the scenario, in this order.

    `scenario` is the name of a file beside this one, without a machine.
    """

    experiment: str
    name: str
    scenario: str
    points: Sequence[Point]

    @property
    def text(self) -> str:
        """The scenario, still without a machine."""
        return (HERE / self.scenario).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Note:
    """A note: its name as a study, where it is from, and its cases."""

    name: str
    title: str
    lead: str
    source: str
    machine: str
    cases: Sequence[Case]
    pitfalls: Sequence[str]

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments, in the order of the cases."""
        return tuple(dict.fromkeys(case.experiment for case in self.cases))
