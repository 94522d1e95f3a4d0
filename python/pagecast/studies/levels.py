"""What memory holds, forecast and measured: how far the two may be apart, for all studies."""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["CACHED_TOLERANCE", "DIRTY_TOLERANCE", "WINDOW_S", "CachedBytes", "deviation", "looks_at_files"]

DIRTY_TOLERANCE: Final = 0.10
"""How far dirty memory may be off, as a share of the dirty limit."""

CACHED_TOLERANCE: Final = 0.05
"""How far cached memory, or what is cached of a file, may be off, as a share of all memory."""

WINDOW_S: Final = 0.2
"""A sample is compared with everything that is forecast so long before and after it."""


class CachedBytes:
    """Bytes of a file in the page cache, measured and forecast: what each study's own rows have in common."""

    __slots__ = ()
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
