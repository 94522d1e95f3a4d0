"""Draws what each disk does over time."""

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from pagecast.arguments import check_word
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
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import SEQUENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Columns, Result

__all__ = ["devices"]

_SHOWN: Final = ("utilisation", "depth", "bandwidth")
_TITLES: Final = {
    "utilisation": "Share of time that each disk is busy",
    "depth": "Requests at each disk",
    "bandwidth": "Bandwidth of each disk",
}
_LABELS: Final = {"utilisation": "busy (%)", "depth": "mean number of requests"}


def devices(
    result: "Result",
    ax: "Axes | None" = None,
    *,
    host: str | None = None,
    show: Literal["utilisation", "depth", "bandwidth"] = "utilisation",
) -> "Axes":
    """Draw what each disk does over time, as `Result.devices` has it.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    host : str, optional
        The first one if not given.
    show : {"utilisation", "depth", "bandwidth"}
        The share of time that a disk is busy, the mean number of its requests, or its bytes per second.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        There is no such host, or nothing of that name to show.
    """
    check_word("show", show, _SHOWN)
    ax = given_or_new(ax)
    table = result.devices
    host = chosen_host(result, host)
    here = [disk for of, disk in zip(table["host"], table["device"], strict=True) if of == host]
    disks = list(dict.fromkeys(here))
    lines = [
        line
        for place, disk in enumerate(disks)
        for line in _lines(table, (host, disk), SEQUENCE[place], show)
    ]
    scale, unit = size_scale(max((float(values.max()) for _, values, _ in lines), default=0.0))
    for edges, values, style in lines:
        shown = values / scale if show == "bandwidth" else values
        ax.stairs(shown, edges, baseline=None, linewidth=1.8, **style)
    ax.set_ylabel(_LABELS.get(show, f"bandwidth ({unit}/s)"))
    ax.set_ylim(0, 105 if show == "utilisation" else None)
    ax.set_title(f"{_TITLES[show]}{of_host(result, host)} over time, {result.made_by}")
    time_axis(ax, result.end_s)
    if not disks:
        say(ax, "no disk was used")
    quiet_frame(ax)
    outside_legend(ax, lines)
    draw_names_as_they_are(ax)
    return ax


def _lines(
    table: "Columns", of: tuple[str, str], colour: str, show: str
) -> "list[tuple[Any, Any, dict[str, Any]]]":
    """Give edges of windows, values and style of each line of a disk."""
    rows = np.array([key == of for key in zip(table["host"], table["device"], strict=True)], dtype=bool)
    window_s = table["window_s"][rows]
    edges = np.append(table["time_s"][rows], table["time_s"][rows][-1] + window_s[-1])
    style = {"color": colour, "label": of[1]}
    if show == "utilisation":
        return [(edges, 100 * table["utilisation"][rows], style)]
    if show == "depth":
        return [(edges, table["mean_depth"][rows], style)]
    return [
        (
            edges,
            table[f"{side}_bytes"][rows] / np.maximum(window_s, 1e-9),
            style | {"label": f"{of[1]} {side}", "linestyle": dash},
        )
        for side, dash in (("read", "-"), ("write", (0, (3, 1.5))))
    ]
