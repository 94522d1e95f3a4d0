"""Figures as files: names are drawn as they are, and a figure that fails costs itself alone."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pagecast.errors import FigureWarning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_names_as_they_are", "not_drawn", "optional_files", "save_figure"]


def draw_names_as_they_are(ax: "Axes") -> None:
    """Let no name in the axes be taken for a formula: "$RUN_$ID" would be one.

    Names are in titles, legends and the ticks that were given labels. Numbers at other ticks stay what they
    are: on a logarithmic axis matplotlib writes them as formulas.
    """
    from matplotlib.ticker import FixedLocator

    texts = [ax.title, ax.xaxis.label, ax.yaxis.label]
    if (legend := ax.get_legend()) is not None:
        texts += legend.get_texts()
    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_locator(), FixedLocator):
            texts += axis.get_ticklabels()
    for text in texts:
        text.set_parse_math(False)


def save_figure(figure: "Figure", file: Path | IO[str], **how: Any) -> None:
    """Write a figure to a file.

    Parameters
    ----------
    figure : Figure
    file : Path or text file
    **how
        As for ``Figure.savefig``.
    """
    from matplotlib.text import Text

    for ax in figure.axes:
        draw_names_as_they_are(ax)
    of_all = [text for legend in figure.legends for text in legend.get_texts()]
    of_all += [child for child in figure.get_children() if isinstance(child, Text)]
    for text in of_all:
        text.set_parse_math(False)
    with warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; nobody can do anything about it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, **how)


def not_drawn(what: str, error: Exception) -> str:
    """Warn that a figure is missing, and give the sentence that says so."""
    sentence = f"{what} could not be drawn ({type(error).__name__}: {error}); all else is there"
    warnings.warn(FigureWarning(sentence), stacklevel=3)
    return sentence


@contextmanager
def optional_files(what: str, *files: Path) -> Iterator[None]:
    """Draw into files inside; if that fails there are none of them, and a warning names the figure."""
    try:
        yield
    except Exception as error:
        for file in files:
            file.unlink(missing_ok=True)
        not_drawn(what, error)
