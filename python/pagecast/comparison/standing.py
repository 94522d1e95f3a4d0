"""Judges an error against a tolerance or the spread between runs.

The same rule for a time and for a level of memory: a forecast may be off by the tolerance, or by as much as
one run is from another, whichever is more. A noisy measurement is not judged: runs that differ by far more
than the tolerance, and times that only waiting for a processor keeps away from their forecast.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["MOST_ALLOWED", "Check", "Standing"]

MOST_ALLOWED: Final = 4.0
"""Runs that differ by more than so many tolerances say nothing: whatever is forecast, one may be close."""


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
    off_without_waiting : float or None
        How far the forecast would be off if nobody had waited for a processor, which no forecast knows; None
        where that makes it no better.
    """

    off: float
    tolerance: float
    between_runs: float | None
    off_without_waiting: float | None = None

    @property
    def allowed(self) -> float:
        """How far the forecast may be off: a time that the machine does not repeat cannot be forecast."""
        return max(self.tolerance, self.between_runs or 0.0)

    @property
    def standing(self) -> Standing:
        """Whether it is within, and by what."""
        if self.is_noisy or self.is_by_waiting:
            return Standing.NOT_JUDGED
        if self.off > self.allowed:
            return Standing.OUTSIDE
        return Standing.WITHIN if self.off <= self.tolerance else Standing.BY_SPREAD

    @property
    def is_noisy(self) -> bool:
        """Whether runs differ by more than `MOST_ALLOWED` tolerances."""
        return self.allowed > MOST_ALLOWED * self.tolerance

    @property
    def is_by_waiting(self) -> bool:
        """Whether it is off by more than is allowed only because somebody waited for a processor."""
        without = self.off_without_waiting
        return self.off > self.allowed and without is not None and without <= self.allowed
