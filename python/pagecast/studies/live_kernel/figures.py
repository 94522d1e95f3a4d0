"""Figures of the study, measured and forecast over time: dirty memory, its limits, the rates of writers."""

from typing import TYPE_CHECKING

from pagecast.plot.overlay import draw_forecast, draw_limit, draw_measured
from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import MEASURED_COLOUR, model_colour
from pagecast.result import is_modelled
from pagecast.studies.live_kernel.outcome import LiveKernelOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.studies.live_kernel.forecast import CaseRun

__all__ = ["dirty_memory", "draw", "writer_rate"]

COLUMNS = 2
MIB = 2**20


def draw(outcome: LiveKernelOutcome, platform: str) -> "Figure | None":
    """Draw a panel for each case of a platform, first repetition, and one more where throttling was traced.

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
    panels = [(case, dirty_memory, of_case) for case, of_case in runs.items()]
    panels += [
        (f"{case}: rate of a throttled writer", writer_rate, of_case)
        for case, of_case in runs.items()
        if of_case[0].recording.throttling is not None
    ]
    rows = -(-len(panels) // COLUMNS)
    with style():
        figure, axes = grid(rows, COLUMNS, size=(9, 1 + 2.4 * rows))
        for ax, (title, panel, of_case) in zip(axes, panels, strict=False):
            panel(ax, of_case)
            ax.set_title(title)
        for ax in axes[len(panels) :]:
            ax.set_axis_off()
        return with_legend(figure, axes)


def dirty_memory(ax: "Axes", runs: "list[CaseRun]") -> "Axes":
    """Draw the dirty memory of one repetition: sampled points, a line for each model, limit and set point.

    Parameters
    ----------
    ax : Axes
    runs : list of CaseRun
        Of one recording that has levels.
    """
    recording = runs[0].recording
    levels, traced = recording.levels, recording.throttling
    assert levels is not None, "only recordings with levels are drawn"
    draw_measured(ax, levels.time_s, levels.dirty_bytes / MIB)
    draw_limit(ax, levels.time_s, levels.limit_bytes / MIB, "dirty_limit", label="dirty limit")
    if traced is not None:
        draw_limit(ax, traced.time_s, traced.setpoint_bytes / MIB, "setpoint", label="set point")
    for run in runs:
        if is_modelled(run.model, "dirty"):
            draw_forecast(ax, run.level_time_s, run.level_bytes / MIB, run.model)
        if run.limits is not None:
            of = {"color": model_colour(run.model)}
            name = f"limit and set point, {run.model}"
            time_s, limits = run.level_time_s, run.limits
            draw_limit(ax, time_s, limits.dirty_limit_bytes / MIB, "dirty_limit", label=name, **of)
            draw_limit(ax, time_s, limits.setpoint_bytes / MIB, "setpoint", **of)
    ax.axvline(recording.first_mark_s, color=MEASURED_COLOUR, linewidth=0.5, linestyle=":")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("dirty (MiB)")
    return ax


def writer_rate(ax: "Axes", runs: "list[CaseRun]") -> "Axes":
    """Draw the rate at which throttled writers were let go on, at each check as it was traced, and forecast.

    Parameters
    ----------
    ax : Axes
    runs : list of CaseRun
        Of one recording whose throttling was traced.
    """
    traced = runs[0].recording.throttling
    assert traced is not None, "only recordings with a trace are drawn"
    draw_measured(ax, traced.time_s, traced.task_rate_bytes_per_s / MIB)
    for run in runs:
        if run.limits is not None:
            draw_forecast(ax, run.level_time_s, run.limits.task_rate_bytes_per_s / MIB, run.model)
    ax.set_ylim(0, 1.05 * float(traced.task_rate_bytes_per_s.max()) / MIB)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("rate (MiB/s)")
    return ax
