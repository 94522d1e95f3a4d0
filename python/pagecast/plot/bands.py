"""Draws the 90 % ranges of a forecast as bands behind its lines."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.plot.style import LEVEL_COLOURS, SEQUENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["draw_latency_bands", "draw_level_bands"]

_BAND: Final[dict[str, Any]] = {"alpha": 0.22, "linewidth": 0, "zorder": 0.5}


def draw_level_bands(ax: "Axes", result: "Result", host: str, *, scale: float) -> float:
    """Draw the ranges of dirty and cached memory of a host.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    result : Result
    host : str
    scale : float
        Bytes of a unit of the axis.

    Returns
    -------
    float
        When the last band ends; 0 without any.
    """
    table = result.level_bands
    if not len(table):
        return 0.0
    rows = np.array([name == host for name in table["host"]], dtype=bool)
    time_s = table["time_s"][rows]
    for level in ("cached", "dirty"):
        if f"{level}_low_bytes" in table:
            low, high = (table[f"{level}_{end}_bytes"][rows] / scale for end in ("low", "high"))
            label = f"{level}, 90 % range"
            ax.fill_between(time_s, low, high, color=LEVEL_COLOURS[level], label=label, **_BAND)
    return float(time_s.max(initial=0.0))


def draw_latency_bands(ax: "Axes", result: "Result", labels: tuple[str, ...]) -> None:
    """Draw the ranges of percentiles of durations, in the colours of their lines.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With an axis of percentiles.
    result : Result
    labels : tuple of str
        Of the lines.
    """
    table = result.latency_bands
    if not len(table):
        return
    names = np.array(table["operations"], dtype=object)
    for place, label in enumerate(labels):
        rows = names == label
        low, high = (
            np.where(table[name][rows] > 0, table[name][rows], np.nan) for name in ("low_s", "high_s")
        )
        ax.fill_between(table["position"][rows], low, high, color=SEQUENCE[place], step="post", **_BAND)
