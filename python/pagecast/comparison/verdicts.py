"""Judges a forecast of a case: its total time, its levels of dirty and cached memory, its latencies."""

from dataclasses import dataclass

from pagecast.comparison.standing import Check, Standing
from pagecast.tolerance import Tolerance

__all__ = ["LatencyVerdict", "LevelVerdict", "Verdict"]


@dataclass(frozen=True, slots=True)
class LevelVerdict:
    """How a level of memory of a case is forecast.

    Attributes
    ----------
    check : Check
        The deviation that `ENOUGH` of the samples of all runs are within, and the same of runs held against
        each other.
    share_within, share_allowed : float
        Share of the samples within the tolerance, and within the allowed error.
    """

    check: Check
    share_within: float
    share_allowed: float


@dataclass(frozen=True, slots=True)
class LatencyVerdict:
    """How a percentile of operations that are done often is forecast.

    Attributes
    ----------
    percentile : str
        "p50", "p90", "p99", "p99_9" or "max".
    check : Check
    """

    percentile: str
    check: Check

    @property
    def called(self) -> str:
        """How sentences call it: "the median", "the p99"."""
        special = {"p50": "the median", "max": "the longest"}
        return special.get(self.percentile, f"the {self.percentile.replace('_', '.')}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a case is forecast well enough under one model.

    Attributes
    ----------
    error : float
        Signed error of the total time, of all repetitions together.
    error_without_waiting : float
        The same of the total time less the wait for a processor.
    spread : float or None
        Half the range of the measured total times by their median; None of one run.
    run_queue_s : float
        How much of the measured total went by waiting for a processor, mean over the repetitions.
    tolerance : Tolerance
        Tolerance of the case.
    dirty, cached : LevelVerdict or None
        None where the level is not known.
    latency : LatencyVerdict or None
        The percentile that is furthest off, of operations that are done often; None where none is.
    """

    case: str
    model: str
    error: float
    error_without_waiting: float
    spread: float | None
    run_queue_s: float
    tolerance: Tolerance
    dirty: LevelVerdict | None
    cached: LevelVerdict | None
    latency: LatencyVerdict | None = None

    @property
    def total(self) -> Check:
        """The total time: two runs are apart by twice `spread` at most."""
        between_runs = None if self.spread is None else 2 * self.spread
        without = abs(self.error_without_waiting) if self.error < 0 else None
        return Check(abs(self.error), self.tolerance.total, between_runs, without)

    @property
    def standing(self) -> Standing:
        """The worst of total time, dirty and cached memory, and latency; what is not known does not count.

        Where the time is not judged, levels over that time are not either.
        """
        if self.total.standing is Standing.NOT_JUDGED:
            return Standing.NOT_JUDGED
        levels = [level.check for level in (self.dirty, self.cached) if level is not None]
        latencies = [] if self.latency is None else [self.latency.check]
        checks = (self.total, *levels, *latencies)
        return max((check.standing for check in checks), key=list(Standing).index)

    @property
    def allowed(self) -> float:
        """How far the total may be off: the tolerance, or twice the measurement's own spread."""
        return self.total.allowed

    @property
    def is_total_within(self) -> bool:
        """Whether the total time is off by no more than `allowed`."""
        return self.total.off <= self.total.allowed

    @property
    def dirty_within(self) -> float | None:
        """Share of the samples at which dirty memory is within the tolerance; None where it is not known."""
        return None if self.dirty is None else self.dirty.share_within

    @property
    def cached_within(self) -> float | None:
        """Share of the samples at which cached memory is within the tolerance; None where it is not known."""
        return None if self.cached is None else self.cached.share_within

    @property
    def is_within(self) -> bool:
        """Whether all that is known is judged and within the allowed error."""
        return self.standing in (Standing.WITHIN, Standing.BY_SPREAD)

    @property
    def is_by_spread(self) -> bool:
        """Whether it is within only because the measurement itself differs so much from run to run."""
        return self.standing is Standing.BY_SPREAD

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "model": self.model,
            "verdict": self.standing.value,
            "total_error": self.error,
            "total_error_without_waiting": self.error_without_waiting,
            "spread": self.spread,
            "run_queue_s": self.run_queue_s,
            "total_tolerance": self.tolerance.total,
            "total_allowed": self.allowed,
            "total_verdict": self.total.standing.value,
            **_level_dict("dirty", self.dirty, self.tolerance.dirty),
            **_level_dict("cached", self.cached, self.tolerance.cached),
            **_latency_dict(self.latency),
            "is_within": self.is_within,
            "is_by_spread": self.is_by_spread,
        }


def _latency_dict(latency: LatencyVerdict | None) -> dict[str, object]:
    return {
        "latency_percentile": latency and latency.percentile,
        "latency_tolerance": latency and latency.check.tolerance,
        "latency_error": latency and latency.check.off,
        "latency_between_runs": latency and latency.check.between_runs,
        "latency_allowed": latency and latency.check.allowed,
        "latency_verdict": latency and latency.check.standing.value,
    }


def _level_dict(name: str, level: LevelVerdict | None, tolerance: float) -> dict[str, object]:
    found = {
        "tolerance": tolerance,
        "share_within": level and level.share_within,
        "deviation_at_95_percent": level and level.check.off,
        "between_runs": level and level.check.between_runs,
        "allowed": level and level.check.allowed,
        "verdict": level and level.check.standing.value,
    }
    return {f"{name}_{key}": value for key, value in found.items()}
