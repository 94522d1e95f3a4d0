"""How a forecast stands to what was measured: against a tolerance, and what the runs themselves differ.

The same rule for a time and for a level of memory: a forecast may be off by the tolerance, or by as much as
one run is from another, whichever is more. Where runs differ by far more than the tolerance a forecast
within that is not judged: almost any would be.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["MOST_ALLOWED", "Check", "Standing"]

MOST_ALLOWED: Final = 4.0
"""More than so many tolerances allowed by what runs differ, and being within that says nothing."""


class Standing(StrEnum):
    """The verdict on a case or a part of it, from the best to the worst."""

    WITHIN = "within"
    BY_SPREAD = "within_by_spread"
    NOT_JUDGED = "not_judged"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is judged.

    Attributes
    ----------
    off : float
        How far the forecast is from the measurement, not negative.
    tolerance : float
        How far it was asked to be at most.
    between_runs : float or None
        How far runs are from each other by the same measure; None of one run.
    """

    off: float
    tolerance: float
    between_runs: float | None

    @property
    def allowed(self) -> float:
        """How far the forecast may be off: what a machine does not repeat, nobody can forecast."""
        return max(self.tolerance, self.between_runs or 0.0)

    @property
    def standing(self) -> Standing:
        """Whether it is within, and by what."""
        if self.off > self.allowed:
            return Standing.OUTSIDE
        if self.allowed > MOST_ALLOWED * self.tolerance:
            return Standing.NOT_JUDGED
        return Standing.WITHIN if self.off <= self.tolerance else Standing.BY_SPREAD
