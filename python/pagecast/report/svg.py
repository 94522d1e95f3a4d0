"""A matplotlib figure as an SVG element to put into HTML.

Text stays text, so that it can be searched and takes the page's font; black and white become the page's own
colours.
"""

import io
import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Final

from pagecast.plot.saving import not_drawn, save_figure
from pagecast.report.document import Figure

if TYPE_CHECKING:
    from matplotlib import figure as drawing

__all__ = ["drawn", "to_svg"]

_PAGE_COLOURS: Final = {
    "#000000": "var(--ink)",
    "black": "var(--ink)",
    "#4d4d4d": "var(--soft-ink)",
    "#ffffff": "var(--paper)",
}
_COLOUR: Final = re.compile(r"(?<=: )(" + "|".join(_PAGE_COLOURS) + r")\b")
_ID: Final = re.compile(r' id="([^"]+)"')
_REFERENCE: Final = re.compile(r'(?:url\(#|href="#)([^")]+)')


def drawn(
    title: str, draw: "Callable[[], drawing.Figure | None]", caption: str, *, name: str
) -> list[Figure]:
    """Draw a figure of a report; if that fails a sentence is in its place, and a warning names it.

    Parameters
    ----------
    title : str
    draw : callable
        Gives the figure, or None where there is nothing to draw.
    caption : str
    name : str
        As for `to_svg`.

    Returns
    -------
    list of Figure
        One, or none where there is nothing to draw.
    """
    try:
        figure = draw()
        if figure is None:
            return []
        svg = to_svg(figure, name=name)
    except Exception as error:
        svg = f"<p>{escape(not_drawn(f'{title} ({name})', error))}</p>"
    return [Figure(title, svg, caption)]


def to_svg(figure: "drawing.Figure", *, name: str) -> str:
    """Draw a figure.

    Parameters
    ----------
    figure : Figure
    name : str
        Unique on the page: the ids inside are made from it, so that figures do not mix theirs up.

    Returns
    -------
    str
        The SVG element, the same for the same figure.
    """
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        save_figure(figure, text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    return _without_idle_ids(_in_page_colours(svg[svg.index("<svg") :]))


def _in_page_colours(svg: str) -> str:
    return _COLOUR.sub(lambda match: _PAGE_COLOURS[match.group()], svg)


def _without_idle_ids(svg: str) -> str:
    """Drop the ids that nothing refers to; matplotlib gives the same ones to every figure."""
    used = set(_REFERENCE.findall(svg))
    return _ID.sub(lambda match: match.group() if match.group(1) in used else "", svg)
