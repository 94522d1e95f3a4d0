"""Panels of the paper's figures: the cost of a write by bytes written, and dirty bytes; or by its size.

Measured is points, models are lines. Buffered writes have a second axis with the dirty bytes, and vertical
lines where background flushing and throttling begin.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from pagecast.plot.style import LEVEL_COLOURS, MEASURED_COLOUR, model_colour, model_line
from pagecast.studies.cawl.series import GIB, KIB, MIB

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.studies.cawl.forecast import SeriesRun
    from pagecast.studies.cawl.levels import Levels
    from pagecast.studies.cawl.series import Point, Series

__all__ = ["by_bytes_written", "by_size"]

MODELS: Final = ("kernel", "cawl", "no-cache")
"""The models that are drawn, where they were asked."""

DIRTY_LINES: Final = {"kernel": (0, (1, 1)), "cawl": (0, (3, 1, 1, 1, 1, 1))}

FLUSHING: Final = (0, (2, 2))
THROTTLING: Final = (0, (6, 2))

ALONE: Final = "model alone, no public data"

MANY: Final = 200
"""From so many points on, a single slow write does not press the others flat."""


def by_bytes_written(ax: "Axes", runs: "Sequence[SeriesRun]", points: "Sequence[Point]" = ()) -> "Axes":
    """Draw the time of each write by bytes written, with dirty bytes on a second axis.

    Parameters
    ----------
    ax : Axes
    runs : sequence of SeriesRun
        Of one series.
    points : sequence of Point, optional
        What was measured; nothing if nothing was published.
    """
    series = runs[0].series
    written = np.cumsum(series.sizes())
    step, unit = _bytes_unit(written[-1])
    middles = [written[point.first - 1 : point.last].mean() / step for point in points]
    drawn = [run for run in runs if run.model in MODELS]
    scale = _costs(ax, drawn, points, middles, written / step)
    ax.set_xlabel(f"bytes written ({unit})")
    with_levels = [(run.model, run.levels) for run in drawn if run.levels]
    if with_levels:
        _dirty(ax, with_levels, step)
    _measured_marks(ax, series, written / step)
    ax.set_ylim(0, 1.25 * scale)
    if not points:
        ax.text(0.97, 0.04, ALONE, transform=ax.transAxes, ha="right", fontsize=8, fontstyle="italic")
    return ax


def by_size(ax: "Axes", runs: "Sequence[SeriesRun]", points: "Sequence[Point]") -> "Axes":
    """Draw the time of each write by its size.

    Parameters
    ----------
    ax : Axes
    runs : sequence of SeriesRun
        Of one series whose sizes grow.
    points : sequence of Point
    """
    sizes = runs[0].series.sizes()
    step, unit = _bytes_unit(sizes[-1])
    middles = [sizes[point.first - 1 : point.last].mean() / step for point in points]
    drawn = [run for run in runs if run.model in MODELS]
    scale = _costs(ax, drawn, points, middles, sizes / step)
    ax.set_xlabel(f"size of the write ({unit})")
    ax.set_ylim(0, 1.1 * scale)
    return ax


def _costs(
    ax: "Axes",
    runs: "Sequence[SeriesRun]",
    points: "Sequence[Point]",
    middles: Sequence[float],
    at: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> float:
    """Draw points and lines; give the greatest value that has to be seen, in the unit of the axis."""
    highest = max([point.measured_s for point in points] + [float(run.seconds.max()) for run in runs])
    second, unit = _seconds_unit(highest)
    if points:
        measured = [point.measured_s * second for point in points]
        size = 2.0 if len(points) > MANY else 5.0
        ax.plot(
            middles,
            measured,
            color=MEASURED_COLOUR,
            linestyle="none",
            marker=".",
            markersize=size,
            label="measured",
        )
    for run in runs:
        colour, line = model_colour(run.model), model_line(run.model)
        ax.plot(at, run.seconds * second, color=colour, linestyle=line, linewidth=1.0, label=run.model)
    ax.set_ylabel(f"time of a write ({unit})")
    if len(points) < MANY:
        return highest * second
    values = np.concatenate([[point.measured_s for point in points], *(run.seconds for run in runs)])
    return second * float(min(highest, 2.5 * np.percentile(values, 95)))


def _dirty(ax: "Axes", levels: "Sequence[tuple[str, Levels]]", step: float) -> None:
    """Draw the dirty bytes on a second axis, and where flushing and throttling begin."""
    right = ax.twinx()
    dirty_step, unit = _bytes_unit(max(float(each.dirty_bytes.max()) for _, each in levels))
    for model, each in levels:
        line = DIRTY_LINES.get(model, ":")
        colour = LEVEL_COLOURS["dirty"]
        right.plot(
            each.written_bytes / step,
            each.dirty_bytes / dirty_step,
            color=colour,
            linestyle=line,
            linewidth=1.1,
        )
        ax.plot([], [], color=colour, linestyle=line, linewidth=1.1, label=f"dirty, {model} (right)")
        marks = {
            "background flushing starts": (each.flushing_from_bytes, FLUSHING),
            "throttling starts": (each.throttled_from_bytes, THROTTLING),
        }
        for what, (at, dashes) in marks.items():
            if not np.isnan(at):
                label = f"{what}, {model}"
                ax.axvline(
                    at / step,
                    color=model_colour(model),
                    linestyle=dashes,
                    linewidth=0.9,
                    alpha=0.8,
                    label=label,
                )
    right.set_ylim(bottom=0)
    right.grid(visible=False)
    right.set_ylabel(f"dirty ({unit})")
    right.spines["right"].set_visible(True)


def _measured_marks(
    ax: "Axes", series: "Series", written: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> None:
    """Mark at the top where the measured times show that flushing and throttling began."""
    marks = {"v": (series.flush_start_write, "flushing"), "D": (series.throttled_write, "throttling")}
    for marker, (write, what) in marks.items():
        if write:
            ax.plot(
                [written[write - 1]],
                [0.985],
                transform=ax.get_xaxis_transform(),
                color=MEASURED_COLOUR,
                linestyle="none",
                marker=marker,
                markersize=5,
                clip_on=False,
                label=f"{what} starts, measured",
            )


def _bytes_unit(greatest: float) -> tuple[float, str]:
    units = {"GiB": GIB, "MiB": MIB, "KiB": KIB}
    return next(((step, name) for name, step in units.items() if greatest >= 2 * step), (KIB, "KiB"))


def _seconds_unit(greatest: float) -> tuple[float, str]:
    """Give how many of the unit a second has, and its name."""
    if greatest >= 0.05:
        return 1.0, "s"
    return (1e3, "ms") if greatest >= 1e-3 else (1e6, "us")
