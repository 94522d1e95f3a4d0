"""Several figures of a result in one picture: one above the other, with one legend."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pagecast.plot.latency import latency
from pagecast.plot.rates import rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.result import Result

__all__ = ["latency_figure", "rates_figure"]

_WIDTH = 8.0
_HEIGHT = 3.4
"""Inches; that of each figure."""


def latency_figure(result: "Result") -> "Figure":
    """Draw all that `pagecast.plot.latency` shows.

    Parameters
    ----------
    result : Result

    Returns
    -------
    matplotlib.figure.Figure
    """
    return _stacked(
        [
            partial(latency, result, show="percentiles"),
            partial(latency, result, show="histogram"),
            partial(latency, result, show="time"),
        ]
    )


def rates_figure(result: "Result") -> "Figure":
    """Draw all that `pagecast.plot.rates` shows.

    Parameters
    ----------
    result : Result

    Returns
    -------
    matplotlib.figure.Figure
    """
    return _stacked([partial(rates, result, show="iops"), partial(rates, result)])


def _stacked(draws: "Sequence[Callable[..., Axes]]") -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT * len(draws)), layout="constrained")
    first, *others = figure.subplots(len(draws), 1, squeeze=False)[:, 0]
    for ax, draw in zip((first, *others), draws, strict=True):
        draw(ax=ax)
    for ax in others:
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    return figure
