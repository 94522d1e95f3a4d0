"""A measure over one key, with a line for each value of another."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.errors import ArgumentError
from pagecast.plot.axes import given_or_new, outside_legend, quiet_frame, say
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from pagecast.sweeps.figures.common import (
    chosen_measure,
    key_axis,
    levels,
    measure_axis,
    median_by,
    numeric_key,
    tick,
)
from pagecast.sweeps.table import KeyColumn, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["lines"]

_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK, GREY)
_MARKERS = "os^DvP*X"


def lines(
    table: SweepTable,
    ax: "Axes | None" = None,
    *,
    x: str | None = None,
    y: str | None = None,
    by: str | None = None,
) -> "Axes":
    """Draw a measure over a key.

    A line is the median over the keys that are not shown, its band the lowest to the highest value. Of points
    that were drawn there are no lines.

    Parameters
    ----------
    table : SweepTable
    ax : matplotlib.axes.Axes, optional
    x : str, optional
        A key with numbers; by default the one with most values.
    y : str, optional
        A measure; by default the first one.
    by : str, optional
        A key with at most eight values, each of which has a line; by default one of the others.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        No such key or measure, or one that cannot be drawn so.
    """
    measure, key = chosen_measure(table, y), numeric_key(table, x)
    if key is None or not table.is_numeric(key):
        raise ArgumentError("lines need a key with numbers; choose one with --x, or draw a tornado")
    ax = given_or_new(ax)
    values = np.asarray(table.columns[measure.column], dtype=float)
    ax.set_title(f"{measure.text} over {key.key}, forecast by {table.model}")
    if not np.isfinite(values).any():
        say(ax, "no point has this measure")
        return ax
    other = _other(table, key, by)
    names, groups = ([""], np.zeros(len(values), np.int64)) if other is None else levels(table, other)
    at, steps = levels(table, key)
    is_banded = not table.is_sample and len(values) > len(at) * len(names)
    for number, name in enumerate(names):
        look: dict[str, Any] = {"color": _COLOURS[number], "marker": _MARKERS[number], "markersize": 5}
        look["label"] = "" if other is None else tick(name, other.unit)
        ours = groups == number
        if table.is_sample:
            ax.plot(np.array(at)[steps[ours]], values[ours], linestyle="none", alpha=0.75, **look)
            continue
        medians = median_by(np.where(ours, values, np.nan), steps, len(at))
        there = np.isfinite(medians)
        ax.plot(np.array(at)[there], medians[there], linewidth=1.8, **look)
        if is_banded:
            low, high = _band(np.where(ours, values, np.nan), steps, len(at))
            ax.fill_between(at, low, high, color=_COLOURS[number], alpha=0.15, linewidth=0)
    key_axis(ax, "x", table, key)
    measure_axis(ax, "y", measure, values)
    quiet_frame(ax)
    if other is not None:
        outside_legend(ax, names)
        if (legend := ax.get_legend()) is not None:
            legend.set_title(other.key)
    if is_banded:
        hidden = ", ".join(each.key for each in table.keys if each not in (key, other))
        ax.set_title(
            f"Median over {hidden}; the bands are lowest to highest", fontsize=9, loc="left", y=-0.22
        )
    draw_names_as_they_are(ax)
    return ax


def _other(table: SweepTable, key: KeyColumn, by: str | None) -> KeyColumn | None:
    """Give the key whose values have lines of their own."""
    most = len(_COLOURS)
    if by is None:
        others = [each for each in table.keys if each != key and len(levels(table, each)[0]) <= most]
        return None if not others else max(others, key=lambda each: len(levels(table, each)[0]))
    chosen = table.key(by)
    count = len(levels(table, chosen)[0])
    if count > most:
        raise ArgumentError(f"{chosen.key} has {count} values, and there are {most} colours; draw a heat map")
    return chosen


def _band(values: Any, steps: Any, count: int) -> tuple[list[float], list[float]]:
    low, high = [], []
    for step in range(count):
        here = values[steps == step]
        here = here[np.isfinite(here)]
        low.append(float(here.min()) if len(here) else np.nan)
        high.append(float(here.max()) if len(here) else np.nan)
    return low, high
