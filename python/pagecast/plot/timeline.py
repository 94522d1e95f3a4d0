"""What the memory of a host holds over time."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.plot.axes import new_axes, outside_legend, quiet_frame, say, size_scale
from pagecast.plot.style import LEVEL_COLOURS
from pagecast.result import is_modelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["timeline"]

_LINES: Final[dict[str, dict[str, Any]]] = {
    "used": {"linestyle": (0, (3, 3)), "linewidth": 1.4, "zorder": 3},  # over `cached`, which often equals it
    "anonymous": {"linestyle": "-.", "linewidth": 1.8},
    "cached": {"linestyle": "-", "linewidth": 3.6},
    "dirty": {"linestyle": "--", "linewidth": 1.8},
}


def timeline(result: "Result", ax: "Axes | None" = None, *, host: str | None = None) -> "Axes":
    """Draw used, anonymous, cached and dirty memory over time, as far as the model knows them.

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
    levels = {
        level: table[f"{level}_bytes"][rows] for level in LEVEL_COLOURS if is_modelled(result.model, level)
    }
    scale, unit = size_scale(max((float(values.max(initial=0)) for values in levels.values()), default=0.0))
    for level, values in levels.items():
        ax.plot(
            table["time_s"][rows],
            values / scale,
            color=LEVEL_COLOURS[level],
            label=level,
            **_LINES[level],
        )
    if missing := [level for level in LEVEL_COLOURS if level not in levels]:
        something = any(values.any() for values in levels.values())
        say(ax, f"{result.model} has no {' and no '.join(missing)} memory", aside=something)
    ax.set(xlabel="time (s)", ylabel=f"memory ({unit})", title=_title(result, host, hosts))
    ax.set_xlim(0, max(result.end_s, 1e-9))
    ax.set_ylim(bottom=0)
    quiet_frame(ax)
    outside_legend(ax, levels)
    return ax


def _title(result: "Result", host: str, hosts: list[str]) -> str:
    of_host = f" of {host}" if len(hosts) > 1 else ""
    return f"Memory{of_host} over time, forecast by {result.model}"
