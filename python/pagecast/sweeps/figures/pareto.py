"""Two measures against each other, and the points that no other one beats in both."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.errors import ArgumentError
from pagecast.plot.axes import given_or_new, quiet_frame, say
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import GREY, VERMILION
from pagecast.sweeps.figures.common import chosen_measure, measure_axis, tick
from pagecast.sweeps.table import MeasureColumn, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["front_of", "pareto"]

_SAME = 1e-3
"""Percentiles are right to 0.1 %."""

_LONG = 50
"""A legend with so many letters has its entries one below the other."""

_APART = (150, 16)
"""Texts beside points are so many pixels apart, across or up."""


def pareto(
    table: SweepTable, ax: "Axes | None" = None, *, x: str | None = None, y: str | None = None
) -> "Axes":
    """Draw two measures of all points, and the Pareto front.

    Less is better, but of rates, counts and bytes.

    Parameters
    ----------
    table : SweepTable
    ax : matplotlib.axes.Axes, optional
    x, y : str, optional
        Measures; by default the first two.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        No such measure, or there are not two.
    """
    across = chosen_measure(table, x, 1 if x is None and y is not None and _is_first(table, y) else 0)
    up = chosen_measure(table, y, 0 if x is not None and not _is_first(table, x) else 1)
    if across == up:
        raise ArgumentError("a Pareto front needs two measures; choose them with --x and --y")
    ax = given_or_new(ax)
    ax.set_title(f"{up.text} against {across.text}, forecast by {table.model}")
    both = np.array([table.columns[each.column] for each in (across, up)], dtype=float)
    there = np.flatnonzero(np.isfinite(both).all(axis=0))
    if not len(there):
        say(ax, "no point has both measures")
        return ax
    keys = ", ".join(key.key for key in table.keys)
    signs = np.array([[-1.0 if each.more_is_better else 1.0] for each in (across, up)])
    front = there[front_of(both[:, there] * signs)]
    ax.plot(
        *both[:, there], linestyle="none", marker="o", markersize=4, color=GREY, alpha=0.6, label="points"
    )
    ax.plot(
        *both[:, front],
        color=VERMILION,
        marker="D",
        markersize=6,
        linewidth=1.4,
        label=f"Pareto front, with {keys}",
    )
    for axis, measure, values in (("x", across, both[0, there]), ("y", up, both[1, there])):
        measure_axis(ax, axis, measure, values, is_close=True)  # type: ignore[arg-type]
    ax.margins(0.12)
    ax.set_xlabel(f"{across.text} ({_better(across)})")
    ax.set_ylabel(f"{up.text} ({_better(up)})")
    _name(ax, table, both, front)
    quiet_frame(ax)
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=1 if len(keys) > _LONG else 2, frameon=False
    )
    draw_names_as_they_are(ax)
    return ax


def front_of(both: Any) -> Any:
    """Give the points that no other one beats by over 0.1 %, less being better, by their first figure.

    Parameters
    ----------
    both : ndarray
        Shape (2, n).

    Returns
    -------
    ndarray
        Numbers of points; of points that are alike the first one.
    """
    order = np.lexsort((both[1], both[0]))
    front: list[int] = []
    lowest = np.inf
    for point in order.tolist():
        if not front or both[1, point] < lowest - _SAME * abs(lowest):
            front.append(point)
            lowest = both[1, point]
    return np.array(front, dtype=np.int64)


def _is_first(table: SweepTable, name: str) -> bool:
    return table.measure(name) == table.measures[0]


def _better(measure: MeasureColumn) -> str:
    return "more is better" if measure.more_is_better else "less is better"


def _name(ax: "Axes", table: SweepTable, both: Any, front: Any) -> None:
    """Write the values of the keys beside points of the front, where there is room."""
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    middle = np.mean(ax.get_window_extent().intervalx)
    taken: list[Any] = []
    for point in [front[0], front[-1], *front[1:-1]]:
        at = ax.transData.transform(both[:, point])
        if any((np.abs(at - other) < _APART).all() for other in taken):
            continue
        taken.append(at)
        words = [tick(_plain(table.columns[key.column][point]), key.unit) for key in table.keys]
        is_left = at[0] < middle
        ax.annotate(
            ", ".join(words), both[:, point], (8 if is_left else -8, 7), textcoords="offset points",
            fontsize=8, ha="left" if is_left else "right", parse_math=False,
        )  # fmt: skip


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
