"""Draws the bytes and operations per second of processes over time."""

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pagecast.arguments import check_word
from pagecast.plot.axes import given_or_new, outside_legend, quiet_frame, say, size_scale, time_axis
from pagecast.plot.operation_groups import groups, windows
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import SEQUENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["SHOWN", "rates"]

SHOWN: Final = ("bandwidth", "iops")
"""The figures that there are."""


def rates(
    result: "Result", ax: "Axes | None" = None, *, show: Literal["bandwidth", "iops"] = "bandwidth"
) -> "Axes":
    """Draw what operations on files move over time, a line for each kind and process.

    Copies of a process share a line, which is their sum. Values are means over each window of
    `Result.rates`, of which there are 256 at most.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    show : {"bandwidth", "iops"}
        Bytes, or operations, per second.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_word("show", show, SHOWN)
    ax = given_or_new(ax)
    table, found = result.rates, groups(result)
    of = found.of(table)
    values = table["bytes_per_s" if show == "bandwidth" else "iops"]
    drawn = [place for place in range(len(found.labels)) if values[of == place].any()]
    what = "Bandwidth" if show == "bandwidth" else "Operations per second"
    ax.set_title(f"{what} over time, {result.made_by}")
    time_axis(ax, result.end_s)
    if not drawn:
        say(ax, "nothing is read or written" if show == "bandwidth" else "no operation on a file takes time")
        return ax
    at, edges = windows(result)
    lines = {place: _sum(at[of == place], values[of == place], edges) for place in drawn}
    scale, unit = size_scale(max(line.max() for line in lines.values()))
    if show == "iops":
        scale = 1.0
        ax.yaxis.set_major_formatter("{x:,.10g}")
    for place, line in lines.items():
        ax.stairs(
            _while_under_way(line) / scale,
            edges,
            baseline=None,
            color=SEQUENCE[place],
            linewidth=1.8,
            label=found.labels[place],
        )
    ax.set_ylabel(f"bandwidth ({unit}/s)" if show == "bandwidth" else "operations per second")
    ax.set_ylim(bottom=0)
    quiet_frame(ax)
    outside_legend(ax, drawn)
    if found.note:
        ax.annotate(found.note, (1.0, 0.0), (-4, 4), "axes fraction", "offset points", ha="right", fontsize=8)
    draw_names_as_they_are(ax)
    return ax


def _while_under_way(line: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out the zeros before the first and after the last operation."""
    moved = np.flatnonzero(line)
    at = np.arange(len(line))
    return np.where((at >= moved[0]) & (at <= moved[-1]), line, np.nan)


def _sum(at: NDArray[np.int64], rate: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the rates in each window; in the last one over the time up to the end of the result."""
    total = np.bincount(at, weights=rate, minlength=len(edges) - 1)
    lasts_s = np.diff(edges)
    rates = np.zeros(len(total))
    np.divide(total * lasts_s[0], lasts_s, out=rates, where=lasts_s > 0)
    return rates
