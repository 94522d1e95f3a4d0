"""What the memory of a host holds over time."""

from typing import TYPE_CHECKING

import numpy as np

from pagecast.plot.axes import new_axes, outside_legend, quiet_frame, size_scale
from pagecast.plot.style import LEVEL_COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["timeline"]

_LINES = {"used": "-", "anonymous": "-.", "cached": "-", "dirty": "--"}


def timeline(result: "Result", ax: "Axes | None" = None, *, host: str | None = None) -> "Axes":
    """Draw used, anonymous, cached and dirty memory over time.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    host : str, optional
        The first one if not given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = new_axes() if ax is None else ax
    table = result.timeline
    hosts = list(dict.fromkeys(table["host"]))
    host = host if host is not None else next(iter(hosts), "")
    rows = np.array([name == host for name in table["host"]], dtype=bool)
    levels = {level: table[f"{level}_bytes"][rows] for level in LEVEL_COLOURS}
    scale, unit = size_scale(max((float(values.max(initial=0)) for values in levels.values()), default=0.0))
    for level, values in levels.items():
        ax.plot(
            table["time_s"][rows],
            values / scale,
            color=LEVEL_COLOURS[level],
            linestyle=_LINES[level],
            linewidth=1.8,
            label=level,
        )
    ax.set(xlabel="time (s)", ylabel=f"memory ({unit})", title=_title(result, host, hosts))
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    quiet_frame(ax)
    outside_legend(ax, levels)
    return ax


def _title(result: "Result", host: str, hosts: list[str]) -> str:
    of_host = f" of {host}" if len(hosts) > 1 else ""
    return f"Memory{of_host} over time, forecast by {result.model}"
