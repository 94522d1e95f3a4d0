"""Figures of the study: dirty memory over time, sampled and forecast; no global style is touched."""

from typing import TYPE_CHECKING

from pagecast.plot.style import MEASURED_COLOUR, MODEL_LINES, model_colour
from pagecast.result import is_modelled
from pagecast.studies.drawing import grid, style, with_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.studies.live_kernel.forecast import CaseRun
    from pagecast.studies.live_kernel.study import LiveKernelOutcome

__all__ = ["dirty_memory", "draw"]

COLUMNS = 2
MIB = 2**20


def draw(outcome: "LiveKernelOutcome", platform: str) -> "Figure | None":
    """Draw a panel for each case of a platform, first repetition.

    Parameters
    ----------
    outcome : LiveKernelOutcome
    platform : str

    Returns
    -------
    Figure or None
        None if no memory was recorded.
    """
    runs: dict[str, list[CaseRun]] = {}
    for run in outcome.runs:
        if run.platform == platform and run.recording.levels is not None:
            of_case = runs.setdefault(run.recording.case, [])
            if not of_case or of_case[0].recording is run.recording:
                of_case.append(run)
    if not runs:
        return None
    rows = -(-len(runs) // COLUMNS)
    with style():
        figure, axes = grid(rows, COLUMNS, size=(9, 1 + 2.4 * rows))
        for ax, (case, of_case) in zip(axes, runs.items(), strict=False):
            dirty_memory(ax, of_case)
            ax.set_title(case)
        for ax in axes[len(runs) :]:
            ax.set_axis_off()
        return with_legend(figure, axes)


def dirty_memory(ax: "Axes", runs: "list[CaseRun]") -> "Axes":
    """Draw the dirty memory of one repetition: sampled points, the limit, and a line for each model.

    Parameters
    ----------
    ax : Axes
    runs : list of CaseRun
        Of one recording that has levels.

    Returns
    -------
    Axes
    """
    recording = runs[0].recording
    levels = recording.levels
    assert levels is not None, "only recordings with levels are drawn"
    ax.plot(
        levels.time_s,
        levels.dirty_bytes / MIB,
        color=MEASURED_COLOUR,
        linestyle="none",
        marker=".",
        markersize=3,
        label="measured",
    )
    ax.plot(
        levels.time_s, levels.limit_bytes / MIB, color=MEASURED_COLOUR, linewidth=0.8, label="dirty limit"
    )
    for run in runs:
        if is_modelled(run.model, "dirty"):
            line = MODEL_LINES.get(run.model, "-")
            ax.plot(
                run.level_time_s,
                run.level_bytes / MIB,
                color=model_colour(run.model),
                linestyle=line,
                label=run.model,
            )
    ax.axvline(recording.first_mark_s, color=MEASURED_COLOUR, linewidth=0.5, linestyle=":")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("s")
    ax.set_ylabel("dirty, MiB")
    return ax
