"""A figure of a host, for each host: one above the other in one picture."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pagecast.arguments import named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.result import Result

__all__ = ["MOST_HOSTS", "hosts_figure"]

MOST_HOSTS: Final = 8
"""So many hosts are drawn; of more, the first."""

_MOST_NAMED: Final = 6
_ALONE: Final = (8.0, 4.5)
_ONE_OF_SEVERAL: Final = (8.0, 3.2)
"""Inches."""


def hosts_figure(draw: "Callable[..., Axes]", result: "Result", hosts: Sequence[str]) -> "Figure":
    """Draw something of each host, and name those for which there is no room.

    Parameters
    ----------
    draw : callable
        Like `pagecast.plot.timeline`.
    result : Result
    hosts : sequence of str
        At most `MOST_HOSTS` are drawn; with none the function itself says what there is to say.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    shown, rest = hosts[:MOST_HOSTS], hosts[MOST_HOSTS:]
    width, height = _ONE_OF_SEVERAL if len(shown) > 1 else _ALONE
    figure = Figure(figsize=(width, height * max(len(shown), 1)), layout="constrained")
    axes = figure.subplots(max(len(shown), 1), squeeze=False)[:, 0]
    of_whom: Sequence[str | None] = shown or [None]
    for ax, host in zip(axes, of_whom, strict=True):
        draw(result, ax=ax, host=host)
    if rest:
        figure.supxlabel(f"Not drawn: {named(rest, _MOST_NAMED)}.", x=0.02, ha="left", fontsize=9)
    return figure
