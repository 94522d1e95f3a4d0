"""The outcome of the study: times of phases, and counts of calls."""

from dataclasses import dataclass
from typing import Final

from pagecast.comparison import outcome

__all__ = ["CALL_TOLERANCE", "CallCount", "LiveNfsOutcome"]

CALL_TOLERANCE: Final = 0.20
"""How far a number of calls may be off, or one call."""


@dataclass(frozen=True, slots=True)
class CallCount:
    """How often a call of NFS was made in a phase: on average over the repetitions, and as forecast."""

    experiment: str
    case: str
    phase: str
    call: str
    measured: float
    forecast: int

    @property
    def is_within(self) -> bool:
        """Whether the forecast is close; of a few calls one more or less is."""
        return abs(self.forecast - self.measured) <= max(CALL_TOLERANCE * self.measured, 1)

    def as_dict(self) -> dict[str, object]:
        """Give the count under the names of ``--json``."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, kw_only=True)
class LiveNfsOutcome(outcome.Outcome):
    """Outcome: rows of times, and `calls` of the model kernel; `calibrations` are those of each platform."""

    platforms: tuple[str, ...]
    calls: tuple[CallCount, ...]
    calibrations: dict[str, dict[str, str]]

    def beside_times(self) -> dict[str, object]:
        """Give the counts under the names of ``--json``."""
        return {"calls": [each.as_dict() for each in self.calls]}
