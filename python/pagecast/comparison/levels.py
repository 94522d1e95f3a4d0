"""Compares levels of memory over time and cached bytes of files, forecast and measured."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pagecast.tolerance import CACHED_TOLERANCE

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = [
    "ENOUGH",
    "WINDOW_S",
    "CachedBytes",
    "Level",
    "Sampled",
    "deviation",
    "deviation_of_most",
    "looks_at_files",
    "share_within",
]

WINDOW_S: Final = 0.2
"""A sample is compared with everything that is forecast so long before and after it."""

ENOUGH: Final = 0.95
"""Share of the samples of a level that must be within its tolerance."""


class Sampled(Protocol):
    """Deviations of a level, one for each sample."""

    @property
    def deviations(self) -> NDArray[np.float64]:
        """As shares of what the level is compared with."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of memory in one repetition of a case: the distance of its samples from one model's forecast.

    `deviations`, one for each time of `time_s`, are shares of the dirty limit, or of the memory for cached
    bytes; 0 within the range of the forecast over +-0.2 s. Under the model `MEASURED` another run stands
    for the forecast.
    """

    case: str
    repetition: int
    model: str
    time_s: NDArray[np.float64]
    deviations: NDArray[np.float64]

    def share_within(self, tolerance: float) -> float:
        """Share of the samples that are no farther away than this."""
        return float(np.mean(self.deviations <= tolerance))

    def as_dict(self, tolerance: float) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "repetition": self.repetition,
            "model": self.model,
            "tolerance": tolerance,
            "share_within": self.share_within(tolerance),
            "deviation_at_95_percent": deviation_of_most([self]),
            "mean_deviation": float(np.mean(self.deviations)),
            "greatest_deviation": float(np.max(self.deviations)),
            "n": len(self.deviations),
        }


class CachedBytes:
    """Bytes of a file in the page cache, measured and forecast: common fields of the rows of all studies."""

    __slots__: tuple[str, ...] = ()
    measured_bytes: float
    forecast_bytes: float
    memory_bytes: float

    @property
    def deviation(self) -> float:
        """Signed, as a share of all memory."""
        return (self.forecast_bytes - self.measured_bytes) / self.memory_bytes

    @property
    def is_within(self) -> bool:
        """At most `CACHED_TOLERANCE` away."""
        return abs(self.deviation) <= CACHED_TOLERANCE

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        shown = (name for name in self.__slots__ if name != "memory_bytes")
        return {name: getattr(self, name) for name in shown} | {"deviation": self.deviation}


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


def looks_at_files(result: "Result") -> dict[tuple[str, int, str], int]:
    """Give cached bytes by process, number of the operation ("" and -1 at the end) and path."""
    columns = (result.files[name] for name in ("process", "index", "path", "cached_bytes"))
    return {
        (process, int(index), path): int(cached)
        for process, index, path, cached in zip(*columns, strict=True)
    }


def share_within(levels: Iterable[Sampled], tolerance: float) -> float | None:
    """Share of all samples of several levels that are within a tolerance; None if there are no samples."""
    all_of = [each.deviations for each in levels]
    if not all_of:
        return None
    return float(np.mean(np.concatenate(all_of) <= tolerance))


def deviation_of_most(levels: Iterable[Sampled]) -> float | None:
    """Give the least deviation that `ENOUGH` of all samples are within; None if there are no samples.

    So `share_within` a tolerance is `ENOUGH` if and only if this is no more than the tolerance.
    """
    all_of = [each.deviations for each in levels]
    if not all_of:
        return None
    deviations = np.sort(np.concatenate(all_of))
    # What 0.95 n is off by in binary must not ask for one sample more.
    return float(deviations[math.ceil(round(ENOUGH * len(deviations), 6)) - 1])
