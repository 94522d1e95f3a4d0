"""Forecast levels held against sampled ones: dirty memory over time, cached bytes of files."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagecast.comparison.levels import CachedBytes
from pagecast.tolerance import DIRTY_TOLERANCE

__all__ = ["CachedFile", "DirtyLevel"]


@dataclass(frozen=True, slots=True)
class DirtyLevel:
    """Dirty memory of one repetition under one model: deviations as shares of the limit, one per sample."""

    experiment: str
    case: str
    repetition: int
    model: str
    deviations: NDArray[np.float64]

    @property
    def share_within(self) -> float:
        """Share of the samples that are within `DIRTY_TOLERANCE`."""
        return float(np.mean(self.deviations <= DIRTY_TOLERANCE))

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "experiment": self.experiment,
            "case": self.case,
            "repetition": self.repetition,
            "model": self.model,
            "share_within_10_percent": self.share_within,
            "mean_deviation": float(np.mean(self.deviations)),
            "greatest_deviation": float(np.max(self.deviations)),
            "n": len(self.deviations),
        }


@dataclass(frozen=True, slots=True)
class CachedFile(CachedBytes):
    """Cached bytes of a file at one step `stat`, found and forecast."""

    experiment: str
    case: str
    repetition: int
    process: str
    label: str
    file: str
    model: str
    measured_bytes: int
    forecast_bytes: int
    memory_bytes: float
