"""Draws how long operations take: percentiles, a histogram, or means and maxima over time."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pagecast.arguments import check_word
from pagecast.plot.axes import duration_axis, given_or_new, outside_legend, quiet_frame, say, time_axis
from pagecast.plot.bands import draw_latency_bands
from pagecast.plot.operation_groups import Groups, groups, windows
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import SEQUENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["SHOWN", "latency", "percentile_axis", "percentile_steps"]

SHOWN: Final = ("percentiles", "histogram", "time")
"""The figures that there are."""

_Floats = NDArray[np.float64]

_BINS_PER_DECADE: Final = 12

_NINES: Final = (0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999)
"""Percentiles that have ticks."""

_MANY: Final = 5_000

_LONGEST: Final[dict[str, Any]] = {"linestyle": (0, (1, 1.5)), "linewidth": 1.0}


def latency(
    result: "Result",
    ax: "Axes | None" = None,
    *,
    show: Literal["percentiles", "histogram", "time"] = "percentiles",
) -> "Axes":
    """Draw how long operations on files take, a line for each kind and process.

    Copies of a process share a line, and so do all files. The calls of an operation with a pattern count one
    by one. Axes of durations are logarithmic; what takes no time at all is not drawn. With ``uncertain=N``
    percentiles have their 90 % ranges as bands.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    show : {"percentiles", "histogram", "time"}
        The duration that so many percent do not exceed; the share of the operations in each of 12 bins per
        decade; or mean (full) and longest (dotted) duration of those that end in each window of
        `Result.rates`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_word("show", show, SHOWN)
    ax = given_or_new(ax)
    found = groups(result)
    draw: dict[str, Callable[[Axes, Result, Groups], str]] = {
        "percentiles": _percentiles,
        "histogram": _histogram,
        "time": _over_time,
    }
    if found.labels:
        what = draw[show](ax, result, found)
        quiet_frame(ax)
        outside_legend(ax, found.labels)
    else:
        what = "Durations"
        say(ax, "no operation on a file takes time")
    ax.set_title(f"{what} of operations, {result.made_by}")
    if found.note:
        ax.annotate(found.note, (1.0, 0.0), (-4, 4), "axes fraction", "offset points", ha="right", fontsize=8)
    draw_names_as_they_are(ax)
    return ax


def _percentiles(ax: "Axes", result: "Result", found: Groups) -> str:
    most = 1
    for place, duration_s, count in _bins(result, found):
        most = max(most, int(count.sum()))
        ax.stairs(
            *percentile_steps(duration_s, count),
            baseline=None,
            color=SEQUENCE[place],
            linewidth=1.8,
            label=found.labels[place],
        )
    draw_latency_bands(ax, result, found.labels)
    duration_axis(ax, "y")
    ax.set_ylabel("duration, log scale")
    percentile_axis(ax, most)
    return "Percentiles of the durations"


def percentile_steps(duration_s: _Floats, count: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
    """Give a histogram as steps over the percentiles: their heights, and their edges on a `percentile_axis`.

    Parameters
    ----------
    duration_s, count : ndarray
        Shape (n,), durations ascending.

    Returns
    -------
    tuple of ndarray
        Shapes (n,) and (n + 1,).
    """
    n = float(count.sum())
    longer = n - np.cumsum(count)
    longer[-1] = 0.5  # the longest of all ends half an operation beyond it
    return np.where(duration_s > 0, duration_s, np.nan), np.append(1.0, n / longer)


def percentile_axis(ax: "Axes", most: int) -> None:
    """Make the horizontal axis one of percentiles, up to those of so many operations.

    It is logarithmic in the share of the operations that take longer, as HdrHistogram draws it.
    """
    from matplotlib.ticker import NullLocator

    ax.set_xscale("log")
    ax.set_xlim(1, 2 * most)
    shown = [nines for nines in _NINES if 100 / (100 - nines) <= 2 * most]
    if most > _MANY:
        shown.remove(50)  # there is no room beside 0 %
    ax.set_xticks([100 / (100 - nines) for nines in shown], [f"{nines:g} %" for nines in shown])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("share of the operations that take no longer")


def _histogram(ax: "Axes", result: "Result", found: Groups) -> str:
    bins = list(_bins(result, found))
    every = np.concatenate([duration_s[duration_s > 0] for _, duration_s, _ in bins])
    first, last = np.floor(_BINS_PER_DECADE * np.log10([every.min(), every.max()]))
    edges = 10 ** (np.arange(first, last + 2) / _BINS_PER_DECADE)
    for place, duration_s, count in bins:
        in_bins = np.histogram(duration_s, np.append(edges[:-1], np.inf), weights=count)[0]
        share = 100 * in_bins / count.sum()
        style: dict[str, Any] = {"color": SEQUENCE[place], "label": found.labels[place]}
        ax.stairs(share, edges, linewidth=1.8, **style)
        ax.stairs(share, edges, fill=True, alpha=0.12, color=SEQUENCE[place])
    ax.set_xlim(edges[0], edges[-1])
    duration_axis(ax, "x")
    ax.set_xlabel("duration, log scale")
    ax.set_ylabel("share of the operations (%)")
    ax.set_ylim(bottom=0)
    return "Histograms of the durations"


def _over_time(ax: "Axes", result: "Result", found: Groups) -> str:
    table = result.rates
    of = found.of(table)
    at, edges = windows(result)
    count = len(edges) - 1
    has_ended = table["ended"] > 0
    for place, label in enumerate(found.labels):
        rows = np.flatnonzero((of == place) & has_ended)
        ended = np.bincount(at[rows], weights=table["ended"][rows], minlength=count)
        total_s = np.bincount(at[rows], weights=(table["mean_s"] * table["ended"])[rows], minlength=count)
        longest_s = np.zeros(count)
        np.maximum.at(longest_s, at[rows], table["max_s"][rows])
        mean_s = np.divide(total_s, ended, out=np.full(count, np.nan), where=total_s > 0)
        longest_s[longest_s == 0] = np.nan
        style: dict[str, Any] = {"color": SEQUENCE[place]}
        ax.stairs(longest_s, edges, baseline=None, **style, **_LONGEST)
        ax.stairs(mean_s, edges, baseline=None, linewidth=1.8, label=label, **style)
        alone = _alone(mean_s)
        middle_s = (edges[alone] + edges[alone + 1]) / 2
        ax.plot(middle_s, mean_s[alone], linestyle="none", marker=".", markersize=5, **style)
    duration_axis(ax, "y")
    ax.set_ylabel("duration, log scale")
    time_axis(ax, result.end_s)
    return "Mean (full) and longest (dotted) duration"


def _alone(values: _Floats) -> NDArray[np.int64]:
    """Give the places of values without neighbours: a line of one window would be too short to be seen."""
    is_there = np.pad(~np.isnan(values), 1)
    return np.flatnonzero(is_there[1:-1] & ~is_there[:-2] & ~is_there[2:])


def _bins(result: "Result", found: Groups) -> Iterator[tuple[int, _Floats, NDArray[np.int64]]]:
    """Give the number of each group, and its histogram: durations, ascending, and how many operations."""
    table = result.latency_bins
    of = found.of(table)
    for place in range(len(found.labels)):
        rows = np.flatnonzero(of == place)
        duration_s, at = np.unique(table["duration_s"][rows], return_inverse=True)
        count = np.bincount(at, weights=table["count"][rows]).astype(np.int64)
        yield place, duration_s, count
