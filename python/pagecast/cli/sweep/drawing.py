"""Figures of a sweep as files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagecast.arguments import shown
from pagecast.errors import ArgumentError, OutputError
from pagecast.extras import require

if TYPE_CHECKING:
    from pagecast.sweeps.table import SweepTable

__all__ = ["KINDS", "check_picture", "default_kind", "save_picture"]

KINDS = ("lines", "heatmap", "tornado", "pareto")
"""As the functions of `pagecast.sweeps.figures`, which is slow to import."""

_ENDINGS = (".png", ".svg", ".pdf")


def check_picture(path: Path) -> None:
    """Check that a picture can be drawn, before any work is done.

    Raises
    ------
    ArgumentError
        Its name has another ending.
    MissingPackageError
        matplotlib is not installed.
    """
    if path.suffix.lower() not in _ENDINGS:
        raise ArgumentError(f"{shown(path)}: a picture ends in {', '.join(_ENDINGS)}; choose another name")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError(f"{shown(path)}: {shown(path.parent)} cannot be written; choose another place")
    require("matplotlib", "plot", "a picture")


def default_kind(table: "SweepTable") -> str:
    """Give lines; a tornado of three keys and more, and where no key has numbers."""
    is_tornado = len(table.keys) > 2 or not any(map(table.is_numeric, table.keys))
    return "tornado" if is_tornado else "lines"


def save_picture(table: "SweepTable", path: Path, *, kind: str, **chosen: Any) -> None:
    """Draw a figure into a file.

    Parameters
    ----------
    table : SweepTable
    path : Path
    kind : str
        One of `KINDS`.
    **chosen
        As for the function.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    from matplotlib.figure import Figure

    from pagecast.plot.saving import save_figure
    from pagecast.sweeps import figures

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    getattr(figures, kind)(table, figure.subplots(), **chosen)
    try:
        if path.suffix.lower() == ".png":
            save_figure(figure, path, dpi=150)
        else:
            save_figure(figure, path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
    except OSError as error:
        raise OutputError(f"{shown(path)}: cannot be written ({error.strerror})") from None
