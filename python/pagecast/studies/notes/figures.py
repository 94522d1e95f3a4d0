"""The figure of a note; no global style is touched."""

from typing import TYPE_CHECKING, Final

from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import MEASURED_COLOUR, model_colour
from pagecast.studies.notes.outcome import NoteOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["draw"]

MARKERS: Final = "D^vsP*"
"""One for each model, in the order in which they were asked."""


def draw(outcome: NoteOutcome) -> "Figure":
    """Draw a panel for each experiment: the time of each operation, measured and forecast."""
    with style():
        figure, axes = grid(1, len(outcome.experiments), size=(9, 3.2))
        for ax, experiment in zip(axes, outcome.experiments, strict=True):
            cases = [case for case in outcome.cases if case.experiment == experiment]
            points = [(case, point) for case in cases for point in case.points]
            at = range(len(points))
            measured = [point.measured_s for _, point in points]
            ax.plot(
                at,
                measured,
                "o",
                color=MEASURED_COLOUR,
                markersize=8,
                fillstyle="none",
                label="measured",
            )
            for k, model in enumerate(outcome.models):
                seconds = [
                    row.forecast_s
                    for row in outcome.rows
                    if (row.experiment, row.model) == (experiment, model)
                ]
                ax.plot(at, seconds, MARKERS[k % len(MARKERS)], color=model_colour(model), label=model)
            names = [f"{case.name},\n{point.operation}" for case, point in points]
            ax.set_xticks(list(at), names)
            ax.set_xlim(-0.5, len(points) - 0.5)
            ax.set_ylim(bottom=0)
            ax.set_ylabel("time (s)")
            ax.set_title(experiment)
        return with_legend(figure, axes)
