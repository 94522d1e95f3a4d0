"""Which key matters most: how far each one moves a measure."""

from typing import TYPE_CHECKING

import numpy as np

from pagecast.plot.axes import given_or_new, quiet_frame, say
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import BLACK, BLUE, ORANGE
from pagecast.sweeps.figures.common import chosen_measure, measure_axis
from pagecast.sweeps.figures.effects import Effect, effects
from pagecast.sweeps.table import SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tornado"]

_LETTER = 0.013
"""About the width of a letter beside a bar, as a part of the width of the axes."""


def tornado(table: SweepTable, ax: "Axes | None" = None, *, value: str | None = None) -> "Axes":
    """Draw a bar for each key, from the lowest to the highest value of a measure that it brings.

    The key that moves the measure most is on top. The line is the median of all points; beside the ends are
    the values of the key there. `effects` says what is computed.

    Parameters
    ----------
    table : SweepTable
    ax : matplotlib.axes.Axes, optional
    value : str, optional
        A measure; by default the first one.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        No such measure.
    """
    measure = chosen_measure(table, value)
    ax = given_or_new(ax)
    values = np.asarray(table.columns[measure.column], dtype=float)
    ax.set_title(f"What moves {measure.text}, forecast by {table.model}")
    if not np.isfinite(values).any():
        say(ax, "no point has this measure")
        return ax
    middle = float(np.nanmedian(values))
    bars = effects(table, values)
    for place, bar in enumerate(bars):
        _draw(ax, place, bar, middle)
    measure_axis(ax, "x", measure, np.array([middle, *(end for bar in bars for end in (bar.low, bar.high))]))
    ax.axvline(middle, color=BLACK, linewidth=0.9)
    _make_room(ax, bars, middle)
    ax.set_yticks(range(len(bars)), [bar.key.key for bar in bars])
    ax.set_ylim(-0.6, len(bars) - 0.4)
    quiet_frame(ax)
    ax.grid(axis="y", visible=False)
    what = "fitted" if table.is_sample else "median of"
    ax.set_xlabel(f"{what} {measure.text}, by one key; the line is the median of all points")
    draw_names_as_they_are(ax)
    return ax


def _draw(ax: "Axes", place: int, bar: Effect, middle: float) -> None:
    """Draw one bar, and the values of its key at its ends."""
    texts = [(bar.low, bar.at_low, "right", -5), (bar.high, bar.at_high, "left", 5)]
    if bar.is_none:
        texts = [(middle, "no effect", "left", 5)]
    else:
        for left, right, colour in (
            (bar.low, min(middle, bar.high), BLUE),
            (max(middle, bar.low), bar.high, ORANGE),
        ):
            if right > left:
                ax.barh(place, right - left, left=left, height=0.55, color=colour)
    for at, text, side, shift in texts:
        ax.annotate(
            text, (at, place), (shift, 0), textcoords="offset points", ha=side, va="center", fontsize=8,
            parse_math=False,
        )  # fmt: skip


def _make_room(ax: "Axes", bars: list[Effect], middle: float) -> None:
    """Leave room for the texts beside the bars."""
    low, high = min(middle, *(bar.low for bar in bars)), max(middle, *(bar.high for bar in bars))
    left = 0.03 + _LETTER * max(len(bar.at_low) for bar in bars)
    right = 0.03 + _LETTER * max(len("no effect"), *(len(bar.at_high) for bar in bars))
    if ax.get_xscale() == "log":
        span = float(np.log(high / low)) / (1 - left - right)
        ax.set_xlim(low * np.exp(-left * span), high * np.exp(right * span))
        return
    span = ((high - low) or 0.2 * abs(high) or 1.0) / (1 - left - right)
    ax.set_xlim(low - left * span, high + right * span)
