"""Draws the memory of a host over time."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from pagecast.plot.axes import (
    chosen_host,
    given_or_new,
    of_host,
    outside_legend,
    quiet_frame,
    say,
    size_scale,
    time_axis,
)
from pagecast.plot.bands import draw_level_bands
from pagecast.plot.levels import levels_to_draw
from pagecast.plot.limits import LIMIT_LINE, LIMIT_NAMES, limits_in_reach
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import LEVEL_COLOURS, LIMIT_COLOURS, LIMIT_LINES, PART_COLOURS
from pagecast.result import is_modelled
from pagecast.spans import throttled_spans

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
_SHADE: Final[dict[str, Any]] = {"alpha": 0.3, "linewidth": 0, "zorder": 0}

_HAIR = 0.002
"""Spans with less of the axis between them are drawn as one."""

_Seconds: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
_Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"


def timeline(result: "Result", ax: "Axes | None" = None, *, host: str | None = None) -> "Axes":
    """Draw used, anonymous, cached and dirty memory over time, as far as the model knows them.

    A level that is 0 throughout has no line, nor has used memory that is all cached.

    With ``uncertain=N`` bands are the 90 % ranges of dirty and cached memory.

    Under `kernel` also the limits of dirty memory, where memory comes near them, and shaded the time in
    which writers were throttled.

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
    table = result.timeline
    host = chosen_host(result, host)
    rows = np.array([name == host for name in table["host"]], dtype=bool)
    levels = {
        level: table[f"{level}_bytes"][rows] for level in LEVEL_COLOURS if is_modelled(result.model, level)
    }
    top = max((float(values.max(initial=0)) for values in levels.values()), default=0.0)
    scale, unit = size_scale(top)
    time_s = _up_to(result.end_s, table["time_s"][rows])
    drawstyle = "default" if result.changes_evenly else "steps-post"

    def draw(values: _Bytes, **style: Any) -> None:
        ax.plot(time_s, _held(values, time_s) / scale, drawstyle=drawstyle, **style)

    for level, values in levels_to_draw(levels).items():
        draw(values, color=LEVEL_COLOURS[level], label=level, **_LINES[level])
    band_s = draw_level_bands(ax, result, host, scale=scale)
    whose = " of the host" if len(result.cgroups) else ""  # memory cgroups have limits of their own
    for limit, values in limits_in_reach(result, rows, top).items():
        draw(
            values,
            color=LIMIT_COLOURS[limit],
            label=f"{LIMIT_NAMES[limit]}{whose}",
            **LIMIT_LINE,
            linestyle=LIMIT_LINES[limit],
        )
    _shade(ax, _joined(throttled_spans(result, host), _HAIR * result.end_s))
    if missing := [level for level in LEVEL_COLOURS if level not in levels]:
        something = any(values.any() for values in levels.values())
        say(ax, f"{result.model} has no {' and no '.join(missing)} memory", aside=something)
    ax.set_ylabel(f"memory ({unit})")
    ax.set_title(f"Memory{of_host(result, host)} over time, {result.made_by}")
    time_axis(ax, max(result.end_s, band_s))
    ax.set_ylim(bottom=0)
    quiet_frame(ax)
    outside_legend(ax, levels)
    draw_names_as_they_are(ax)
    return ax


def _up_to(end_s: float, time_s: _Seconds) -> _Seconds:
    """Add the end, up to which the last level holds."""
    return np.append(time_s, end_s) if time_s.size and time_s[-1] < end_s else time_s


def _held(values: _Bytes, time_s: _Seconds) -> _Bytes:
    """Give the last value at the end as well."""
    return values if len(values) == len(time_s) else np.append(values, values[-1])


def _shade(ax: "Axes", spans: list[tuple[float, float]]) -> None:
    for number, (begin_s, end_s) in enumerate(spans):
        label = "_throttled" if number else "throttled"  # one entry in the legend
        ax.axvspan(begin_s, end_s, label=label, color=PART_COLOURS["throttled"], **_SHADE)


def _joined(spans: list[tuple[float, float]], least_s: float) -> list[tuple[float, float]]:
    """Make one span of those with less than `least_s` between them."""
    joined: list[tuple[float, float]] = []
    for begin_s, end_s in spans:
        first_s = joined.pop()[0] if joined and begin_s - joined[-1][1] < least_s else begin_s
        joined.append((first_s, end_s))
    return joined
