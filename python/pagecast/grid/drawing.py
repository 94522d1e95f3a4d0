"""A grid as heat maps, as surfaces, and its errors against another source."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.grid.plan import size_text
from pagecast.plot.axes import size_scale
from pagecast.plot.saving import draw_names_as_they_are

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pagecast.grid.result import Grid

__all__ = ["error_maps", "heat_maps", "surfaces"]

_MOST_NUMBERED = 60
"""With more cells than this a panel has no numbers in them."""


def heat_maps(grid: "Grid", source: str) -> "Figure":
    """Draw the rate of each test over record size and file size, as colours on a common logarithmic scale.

    Parameters
    ----------
    grid : Grid
    source : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.colors import LogNorm

    panels = {test: _values(grid, partial(grid.rate, source, test)) for test in grid.tests}
    finite = np.concatenate([values[np.isfinite(values)] for values in panels.values()])
    most = float(finite.max(initial=0.0)) or 1.0
    least = float(finite.min(initial=most))
    scale, unit = size_scale(most)
    norm = LogNorm(0.99 * least / scale, 1.01 * most / scale)
    look = _Look(f"Rates, {_made_by(source)}", f"{unit}/s, log scale", norm, "viridis", _short)
    return _maps(grid, {test: values / scale for test, values in panels.items()}, look)


def error_maps(grid: "Grid", source: str, reference: str) -> "Figure":
    """Draw how far the times of a source are from those of another one, in percent.

    Parameters
    ----------
    grid : Grid
    source, reference : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.colors import Normalize

    def error(test: str, cell: Any) -> float | None:
        rate, other = grid.rate(source, test, cell), grid.rate(reference, test, cell)
        return None if rate is None or other is None or math.isinf(rate) else 100 * (other / rate - 1)

    panels = {test: _values(grid, partial(error, test)) for test in grid.tests}
    title = f"Error of the time, {source} against {reference}"
    look = _Look(title, "error (%), blue: too fast", Normalize(-100, 100), "RdBu_r", "{:+.0f}".format)
    return _maps(grid, panels, look)


def surfaces(grid: "Grid", source: str) -> "Figure":
    """Draw the rate of each test as a surface over record size and file size, as iozone's reports are drawn.

    Parameters
    ----------
    grid : Grid
    source : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    files, records = _axes(grid)
    columns, rows = _shape(len(grid.tests))
    figure = Figure(figsize=(3.9 * columns, 3.6 * rows), layout="constrained")
    x, y = np.meshgrid(range(len(records)), range(len(files)))
    for number, test in enumerate(grid.tests):
        ax: Any = figure.add_subplot(rows, columns, number + 1, projection="3d")
        values = _values(grid, partial(grid.rate, source, test))
        values[~np.isfinite(values)] = np.nan
        scale, unit = size_scale(float(np.nanmax(values, initial=1.0)))
        if min(values.shape) > 1:
            ax.plot_surface(x, y, values / scale, cmap="viridis", edgecolor="#4D4D4D", linewidth=0.2)
        else:
            ax.plot(x.ravel(), y.ravel(), values.ravel() / scale, marker="o", color="#0072B2")
        ax.set_title(test)
        _ticks(ax, files, records, most=5)
        ax.set_zlabel(f"{unit}/s")
        ax.view_init(elev=28, azim=-128)
        ax.set_box_aspect(None, zoom=0.85)
        draw_names_as_they_are(ax)
    figure.suptitle(f"Rates, {_made_by(source)}")
    return figure


@dataclass(frozen=True)
class _Look:
    """How maps are coloured, and what is written on them."""

    title: str
    label: str
    norm: Any
    colours: str
    written: Callable[[float], str]


def _maps(grid: "Grid", panels: "dict[str, np.ndarray[Any, Any]]", look: _Look) -> "Figure":
    """Draw a panel for each test."""
    from matplotlib.figure import Figure

    files, records = _axes(grid)
    columns, rows = _shape(len(panels))
    width = max(2.4, 0.6 + 0.24 * len(records))
    height = max(2.2, 0.7 + 0.2 * len(files))
    figure = Figure(figsize=(width * columns + 1.2, height * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    image: Any = None
    for number, ax in enumerate(axes.ravel()):
        if number >= len(panels):
            ax.set_axis_off()
            continue
        test = list(panels)[number]
        values = np.ma.masked_invalid(panels[test])
        image = ax.pcolormesh(values, norm=look.norm, cmap=look.colours, edgecolors="white", linewidth=0.4)
        if values.count() <= _MOST_NUMBERED:
            _number(ax, values, image.cmap, look)
        ax.set_title(test, fontsize=10)
        _ticks(ax, files, records, most=16, at=0.5)
        draw_names_as_they_are(ax)
    for ax in axes[:, 0]:
        ax.set_ylabel("file")
    for ax in axes[-1, :]:
        ax.set_xlabel("record")
    figure.colorbar(image, ax=axes, label=look.label, shrink=0.8)
    figure.suptitle(look.title)
    return figure


def _number(ax: Any, values: Any, colours: Any, look: _Look) -> None:
    """Write each value into its cell, black or white, whatever can be read there."""
    for (row, column), value in np.ndenumerate(values.filled(np.nan)):
        if np.isfinite(value):
            red, green, blue, _ = colours(look.norm(value))
            ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
            text = look.written(value)
            ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=5.5, color=ink)


def _axes(grid: "Grid") -> tuple[list[int], list[int]]:
    """Give the sizes of files and records."""
    files = sorted({cell.file_bytes for cell in grid.cells})
    return files, sorted({cell.record_bytes for cell in grid.cells})


def _values(grid: "Grid", value: Callable[[Any], float | None]) -> "np.ndarray[Any, Any]":
    """Give a value for each file (rows) and record (columns); NaN where there is none."""
    files, records = _axes(grid)
    values = np.full((len(files), len(records)), np.nan)
    for cell in grid.cells:
        found = value(cell)
        if found is not None:
            values[files.index(cell.file_bytes), records.index(cell.record_bytes)] = found
    return values


def _ticks(ax: Any, files: list[int], records: list[int], *, most: int, at: float = 0.0) -> None:
    for axis, sizes in ((ax.xaxis, records), (ax.yaxis, files)):
        places = range(0, len(sizes), max(1, math.ceil(len(sizes) / most)))
        axis.set_ticks([place + at for place in places], [size_text(sizes[place]) for place in places])
    ax.tick_params(labelsize=6.5)
    ax.tick_params(axis="x", labelrotation=60)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _made_by(source: str) -> str:
    return source if source == "measured" or "." in source else f"forecast by {source}"


def _shape(panels: int) -> tuple[int, int]:
    """Give columns and rows of panels."""
    columns = min(5, panels)
    return columns, math.ceil(panels / columns)
