"""The distribution of the time of operations as a page draws it: quantiles and a histogram for each kind."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.plot.operation_groups import groups
from pagecast.plot.style import SEQUENCE

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["latencies"]

_QUANTILES: Final = {"p50_s": 0.5, "p90_s": 0.9, "p99_s": 0.99, "p99_9_s": 0.999}
_PER_DECADE: Final = 12
_POINTS: Final = 160
"""Of a curve."""


def latencies(result: "Result") -> dict[str, Any]:
    """Give the distribution for each kind of operation of each process; copies of a process are one.

    Parameters
    ----------
    result : Result

    Returns
    -------
    dict
        `kinds`, each with `label`, `colour`, `count`, the quantiles `p50_s` to `p99_9_s`, `max_s`, a `curve`
        and a `histogram`, and `note` on those that are left out. A curve has durations, in seconds, from
        points of the axis 1/(1 - share) on; a histogram the count in each of 12 bins per decade from
        `first_s` on.
    """
    found = groups(result)
    table = result.latency_bins
    of = found.of(table)
    kinds = []
    for place, label in enumerate(found.labels):
        rows = np.flatnonzero(of == place)
        duration_s, at = np.unique(table["duration_s"][rows], return_inverse=True)
        count = np.bincount(at, weights=table["count"][rows]).astype(float)
        if len(duration_s):
            kinds.append({"label": label, "colour": SEQUENCE[place], **_distribution(duration_s, count)})
    return {"kinds": kinds, "note": found.note}


def _distribution(duration_s: NDArray[np.float64], count: NDArray[np.float64]) -> dict[str, Any]:
    total = float(count.sum())
    up_to = np.cumsum(count)

    def at(share: float | NDArray[np.float64]) -> Any:
        """Give the least duration that so many operations do not exceed (nearest rank)."""
        rank = np.ceil(np.round(np.multiply(share, total), 6))
        return duration_s[np.minimum(np.searchsorted(up_to, rank, side="left"), len(duration_s) - 1)]

    axis = np.geomspace(1.0, max(2 * total, 2.0), _POINTS)
    return {
        "count": int(total),
        **{name: float(at(share)) for name, share in _QUANTILES.items()},
        "max_s": float(duration_s[-1]),
        "curve": _steps(axis, at(1 - 1 / axis)),
        "histogram": _histogram(duration_s, count),
    }


def _steps(axis: NDArray[np.float64], duration_s: NDArray[np.float64]) -> list[list[float]]:
    """Keep where the duration changes, and the end."""
    is_kept = np.append(True, np.diff(duration_s) != 0)
    is_kept[-1] = True
    return [np.round(axis[is_kept], 6).tolist(), duration_s[is_kept].tolist()]


def _histogram(duration_s: NDArray[np.float64], count: NDArray[np.float64]) -> dict[str, Any]:
    timed = duration_s > 0
    if not timed.any():
        return {"first_s": 0.0, "counts": []}
    bins = np.floor(_PER_DECADE * np.log10(duration_s[timed])).astype(int)
    counts = np.bincount(bins - bins.min(), weights=count[timed])
    return {"first_s": float(10 ** (bins.min() / _PER_DECADE)), "counts": counts.astype(int).tolist()}
