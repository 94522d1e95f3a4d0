"""Forecast levels held against sampled ones: dirty memory over time, cached bytes of files."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pagecast.studies.levels import DIRTY_TOLERANCE, CachedBytes

__all__ = ["WINDOW_S", "CachedFile", "DirtyLevel", "deviation"]

WINDOW_S: Final = 0.2
"""A sample is compared with everything that is forecast so long before and after it."""


def deviation(
    time_s: NDArray[np.float64],
    level_bytes: NDArray[np.float64],
    forecast_time_s: NDArray[np.float64],
    forecast_bytes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Say how far samples are from the range of the forecast around them.

    Parameters
    ----------
    time_s, level_bytes : ndarray, shape (n,)
        What was sampled.
    forecast_time_s, forecast_bytes : ndarray, shape (m,)
        The forecast level, linear in between, constant outside; times do not decrease and start where
        those of the samples do.

    Returns
    -------
    ndarray, shape (n,)
        Bytes above the greatest or below the least forecast within `WINDOW_S`; 0 in between.
    """
    first = np.searchsorted(forecast_time_s, time_s - WINDOW_S, side="left")
    after = np.searchsorted(forecast_time_s, time_s + WINDOW_S, side="right")
    edges = [np.interp(time_s + shift, forecast_time_s, forecast_bytes) for shift in (-WINDOW_S, 0, WINDOW_S)]
    least, greatest = np.minimum.reduce(edges), np.maximum.reduce(edges)
    for k, (low, high) in enumerate(zip(first, after, strict=True)):
        if low < high:
            least[k] = min(least[k], forecast_bytes[low:high].min())
            greatest[k] = max(greatest[k], forecast_bytes[low:high].max())
    away: NDArray[np.float64] = np.maximum(np.maximum(least - level_bytes, level_bytes - greatest), 0)
    return away


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

    @staticmethod
    def share_of(levels: "Iterable[DirtyLevel]") -> float:
        """Share of all samples of several repetitions that are within `DIRTY_TOLERANCE`."""
        return float(np.mean(np.concatenate([each.deviations for each in levels]) <= DIRTY_TOLERANCE))


@dataclass(frozen=True, slots=True)
class CachedFile(CachedBytes):
    """What was cached of a file at one step `stat`, found and forecast."""

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

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        names = ("experiment", "case", "repetition", "process", "label", "file", "model")
        bytes_of = {name: getattr(self, name) for name in ("measured_bytes", "forecast_bytes")}
        return {name: getattr(self, name) for name in names} | bytes_of | {"deviation": self.deviation}
