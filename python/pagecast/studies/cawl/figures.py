"""Figures of the study: the time of each write, measured and forecast; no global style is touched."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import MEASURED_COLOUR, model_colour, model_line
from pagecast.studies.cawl.outcome import CawlOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.studies.cawl.forecast import SeriesRun
    from pagecast.studies.cawl.series import Series

__all__ = ["draw", "main_series", "panels", "write_times"]

COLUMNS = 4
HEIGHT_IN = 1.9


def draw(outcome: CawlOutcome, host: str) -> "Figure | None":
    """Draw a panel for each main series of a machine.

    Parameters
    ----------
    outcome : CawlOutcome
    host : str
        "host1" or "nvram1".

    Returns
    -------
    Figure or None
        None if nothing was forecast for it.
    """

    def panel(ax: "Axes", series: "Series") -> None:
        write_times(ax, outcome, [run for run in outcome.runs if run.series is series])

    return panels(main_series(outcome, host), panel, columns=COLUMNS, height_in=HEIGHT_IN)


def main_series(outcome: CawlOutcome, host: str) -> "list[Series]":
    """Give the main series of a machine that were forecast."""
    return [each for each in outcome.series if (each.host, each.experiment) == (host, "buffered")]


def panels(
    series: "Sequence[Series]", panel: "Callable[[Axes, Series], None]", *, columns: int, height_in: float
) -> "Figure | None":
    """Draw a panel for each series, with their names; None if there are none."""
    if not series:
        return None
    rows = -(-len(series) // columns)
    with style():
        figure, axes = grid(rows, columns, size=(10, 1 + height_in * rows))
        for ax, each in zip(axes, series, strict=False):
            panel(ax, each)
            ax.set_title(each.name)
        for ax in axes[len(series) :]:
            ax.set_axis_off()
        return with_legend(figure, axes)


def write_times(ax: "Axes", outcome: CawlOutcome, runs: "list[SeriesRun]") -> "Axes":
    """Draw the time of each write of a series: measured points, and a line for each model.

    Parameters
    ----------
    ax : Axes
    outcome : CawlOutcome
    runs : list of SeriesRun
        Of one series.
    """
    points = outcome.points[runs[0].series.name]
    ax.plot(
        [point.middle for point in points],
        [point.measured_s for point in points],
        color=MEASURED_COLOUR,
        linestyle="none",
        marker=".",
        markersize=2 if outcome.is_full else 4,
        label="measured",
    )
    for run in runs:
        writes = np.arange(1, len(run.seconds) + 1)
        colour, line = model_colour(run.model), model_line(run.model)
        ax.plot(writes, run.seconds, color=colour, linestyle=line, label=run.model)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("number of the write")
    ax.set_ylabel("time (s)")
    return ax
