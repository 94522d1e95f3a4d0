"""What the figures of all studies share: sizes and lines, panels in a grid, one legend above them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.plot.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["grid", "style", "with_legend"]


@contextmanager
def style() -> Iterator[None]:
    """Set sizes and lines for the figures made inside, and for nothing else."""
    import matplotlib

    settings: Any = {
        "font.size": 9,
        "axes.titlesize": 9,
        "axes.labelsize": 9,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "lines.markersize": 4,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": GREY,
        "grid.alpha": 0.25,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
    }
    with matplotlib.rc_context(settings):
        yield


def grid(rows: int, columns: int, *, size: tuple[float, float]) -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def with_legend(figure: "Figure", axes: Sequence["Axes"], *, columns: int = 6) -> "Figure":
    """Put one legend above all panels, of so many columns at most.

    What is a line in one panel and a marker in another shows both.
    """
    from matplotlib.legend_handler import HandlerTuple

    entries: dict[str, dict[type, Any]] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, {}).setdefault(type(handle), handle)
    rows = -(-len(entries) // columns)
    handles: list[Any] = [tuple(kinds.values()) for kinds in entries.values()]
    figure.legend(
        handles,
        list(entries),
        loc="outside upper center",
        ncols=-(-len(entries) // rows),
        handler_map={tuple: HandlerTuple(ndivide=None)},
    )
    return figure
