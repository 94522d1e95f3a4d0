"""A measure over two keys, as colours."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.errors import ArgumentError
from pagecast.plot.axes import given_or_new, say
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.sweeps.figures.common import (
    chosen_measure,
    is_wide,
    key_axis,
    levels,
    median_by,
    numeric_keys,
    tick,
    with_units,
)
from pagecast.sweeps.table import KeyColumn, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["heatmap"]

_MOST_NUMBERED = 150
_MOST_TICKS = 24
_LEAST_CONTRAST = 0.8
"""The scale of colours goes at least from this part of the highest value up to it."""


def heatmap(
    table: SweepTable,
    ax: "Axes | None" = None,
    *,
    x: str | None = None,
    y: str | None = None,
    value: str | None = None,
) -> "Axes":
    """Draw a measure over two keys: a cell for each pair of values, its median over the other keys.

    Points that were drawn are dots.

    Parameters
    ----------
    table : SweepTable
    ax : matplotlib.axes.Axes, optional
    x, y : str, optional
        Keys; by default the two with most values.
    value : str, optional
        A measure; by default the first one.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        No such key or measure, or there are not two keys.
    """
    from matplotlib.ticker import LogLocator, NullLocator

    measure = chosen_measure(table, value)
    across, up = _two_keys(table, x, y)
    ax = given_or_new(ax)
    values = np.asarray(table.columns[measure.column], dtype=float)
    ax.set_title(f"{measure.text}, forecast by {table.model}")
    if not np.isfinite(values).any():
        say(ax, "no point has this measure")
        return ax
    image = (
        _dots(ax, table, across, up, values)
        if table.is_sample
        else _cells(ax, table, across, up, values, measure.unit)
    )
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label(measure.text)
    if is_wide(values):
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    with_units(bar.ax.yaxis, measure.unit)
    bar.outline.set_visible(False)
    hidden = [each.key for each in table.keys if each not in (across, up)]
    if hidden and not table.is_sample:
        ax.set_title(f"{measure.text}, median over {', '.join(hidden)}, forecast by {table.model}")
    draw_names_as_they_are(ax)
    return ax


def _two_keys(table: SweepTable, x: str | None, y: str | None) -> tuple[KeyColumn, KeyColumn]:
    chosen = [None if name is None else table.key(name) for name in (x, y)]
    numeric = numeric_keys(table)
    free = iter(
        [key for key in (*numeric, *(k for k in table.keys if k not in numeric)) if key not in chosen]
    )
    across, up = (next(free, None) if key is None else key for key in chosen)
    if across is None or up is None or across == up:
        raise ArgumentError("a heat map needs two keys; vary another one, or draw lines")
    return across, up


def _norm(values: Any) -> Any:
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if is_wide(values):
        return LogNorm(low, high)
    # Small differences have small differences of colour.
    return Normalize(min(low, _LEAST_CONTRAST * high), high or 1.0)


def _dots(ax: "Axes", table: SweepTable, across: KeyColumn, up: KeyColumn, values: Any) -> Any:
    if not (table.is_numeric(across) and table.is_numeric(up)):
        raise ArgumentError("points that were drawn need two keys with numbers; choose them with --x and --y")
    places = table.columns[across.column], table.columns[up.column]
    image = ax.scatter(*places, c=values, norm=_norm(values), cmap="viridis", s=45, edgecolors="white")
    key_axis(ax, "x", table, across)
    key_axis(ax, "y", table, up)
    ax.spines[["top", "right"]].set_visible(False)
    return image


def _cells(ax: "Axes", table: SweepTable, across: KeyColumn, up: KeyColumn, values: Any, unit: str) -> Any:
    columns, column = levels(table, across)
    rows, row = levels(table, up)
    medians = median_by(values, row * len(columns) + column, len(rows) * len(columns))
    cells = np.ma.masked_invalid(medians.reshape(len(rows), len(columns)))
    image = ax.pcolormesh(
        cells, norm=_norm(cells.compressed()), cmap="viridis", edgecolors="white", linewidth=0.6
    )
    for axis, key, found in ((ax.xaxis, across, columns), (ax.yaxis, up, rows)):
        places = range(0, len(found), -(-len(found) // _MOST_TICKS))
        axis.set_ticks([place + 0.5 for place in places], [tick(found[place], key.unit) for place in places])
        axis.set_tick_params(length=0)
        axis.set_label_text(key.key)
    if len(columns) > 6:
        ax.tick_params(axis="x", labelrotation=40)
    ax.spines[:].set_visible(False)
    if cells.count() <= _MOST_NUMBERED:
        size = 8 if len(columns) <= 10 else 6.5
        for (at_row, at_column), level in np.ndenumerate(cells.filled(np.nan)):
            if np.isfinite(level):
                red, green, blue, _ = image.to_rgba(np.array([level]))[0]
                ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
                ax.text(
                    at_column + 0.5, at_row + 0.5, tick(float(level), unit), ha="center", va="center",
                    fontsize=size, color=ink,
                )  # fmt: skip
    return image
