"""Figures of the study: what each write took, measured and forecast; no global style is touched."""

from typing import TYPE_CHECKING

import numpy as np

from pagecast.plot.style import MEASURED_COLOUR, model_colour, model_line
from pagecast.studies.drawing import grid, style, with_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.studies.cawl.forecast import SeriesRun
    from pagecast.studies.cawl.study import CawlOutcome

__all__ = ["draw", "write_times"]

COLUMNS = 4


def draw(outcome: "CawlOutcome", host: str) -> "Figure | None":
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
    series = [each for each in outcome.series if (each.host, each.experiment) == (host, "buffered")]
    if not series:
        return None
    rows = -(-len(series) // COLUMNS)
    with style():
        figure, axes = grid(rows, COLUMNS, size=(10, 1 + 1.9 * rows))
        for ax, each in zip(axes, series, strict=False):
            runs = [run for run in outcome.runs if run.series is each]
            write_times(ax, outcome, runs)
            ax.set_title(each.name)
        for ax in axes[len(series) :]:
            ax.set_axis_off()
        return with_legend(figure, axes)


def write_times(ax: "Axes", outcome: "CawlOutcome", runs: "list[SeriesRun]") -> "Axes":
    """Draw what each write of a series took: measured points, and a line for each model.

    Parameters
    ----------
    ax : Axes
    outcome : CawlOutcome
    runs : list of SeriesRun
        Of one series.

    Returns
    -------
    Axes
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
