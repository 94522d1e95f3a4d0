"""A scenario that was forecast and run: what validation compares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagecast.studies.levels import CACHED_TOLERANCE, DIRTY_TOLERANCE

if TYPE_CHECKING:
    from pagecast.api import Scenario
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = ["Case", "Tolerance", "Validated"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a forecast may be off, as fractions.

    `total` is of the measured time of a case, `dirty` of the dirty limit at 95 % of the samples, `cached` of
    the memory.
    """

    total: float = 0.10
    dirty: float = DIRTY_TOLERANCE
    cached: float = CACHED_TOLERANCE


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be forecast and run; `what` says it in a sentence."""

    name: str
    what: str
    scenario: "Scenario"
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class Validated:
    """A case with its runs, and a forecast for each of them under each model, in the order of the runs."""

    case: Case
    measured: "tuple[Measured, ...]"
    forecasts: "Mapping[str, tuple[Result, ...]]"
