"""Draws what the kernel knows of each device: its bandwidth, and the rates of its writers."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.plot.axes import (
    chosen_host,
    given_or_new,
    of_host,
    outside_legend,
    plain_log_scale,
    quiet_frame,
    say,
    size_scale,
    time_axis,
)
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import SEQUENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["bdi"]

_LINES: Final[dict[str, dict[str, Any]]] = {
    "avg_write_bandwidth": {"linestyle": "-", "linewidth": 3.0, "alpha": 0.5},
    "dirty_ratelimit": {"linestyle": (0, (5, 2)), "linewidth": 1.8},
    "task_ratelimit": {"linestyle": "-", "linewidth": 1.0},
}
"""As the kernel names them, thick to thin."""


def bdi(result: "Result", ax: "Axes | None" = None, *, host: str | None = None) -> "Axes":
    """Draw the kernel's estimates for each device over time: bandwidth, base rate, rate of a task.

    A task has a rate while writers are throttled. The axis is logarithmic: that rate may begin at many times
    the base rate.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    host : str, optional
        The first one if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        There is no such host.
    """
    ax = given_or_new(ax)
    table = result.bdi
    host = chosen_host(result, host)
    keys = list(zip(table["host"], table["device"], table["cgroup"], strict=True))
    writers = [key for key in dict.fromkeys(keys) if key[0] == host]
    values = {name: table[f"{name}_bytes_per_s"] for name in _LINES}
    here = np.array([key[0] == host for key in keys], dtype=bool)
    scale, unit = size_scale(float(values["avg_write_bandwidth"][here].max(initial=0.0)))
    for writer, colour in zip(writers, SEQUENCE * len(writers), strict=False):
        rows = np.array([key == writer for key in keys], dtype=bool)
        for name, style in _LINES.items():
            ax.plot(
                np.append(table["time_s"][rows], result.end_s),  # the last holds up to there
                np.append(values[name][rows], values[name][rows][-1]) / scale,
                drawstyle="steps-post",
                color=colour,
                label=f"{' '.join(filter(None, writer[1:]))} {name}",
                **style,
            )
    ax.set_ylabel(f"rate ({unit}/s), log scale")
    plain_log_scale(ax, "y")
    ax.set_title(f"Rates of devices and writers{of_host(result, host)} over time, {result.made_by}")
    time_axis(ax, result.end_s)
    if not writers:
        say(ax, "nothing was written" if result.model == "kernel" else f"{result.model} knows no rates")
    quiet_frame(ax)
    outside_legend(ax, writers)
    draw_names_as_they_are(ax)
    return ax
