"""Draws the pages of the nets that come with pagecast as their files place the nodes, for `figures.py`."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle

from pagecast.petri import load
from pagecast.petri.nets import path_of

SHOWN: Final = {
    "ext3-read": None,
    "ext3-write": None,
    "pvfs-read": (
        "Client",
        "Client program",
        "Striping",
        "Client stack",
        "Device",
        "Network",
        "Server",
        "Receive",
        "Chunks",
        "Release",
        "Segmentation",
    ),
    "pvfs-write": ("Client", "Striping", "Server", "Receive", "Jobs"),
}
"""The pages of each net that are shown; None for all of them."""

PER_INCH: Final = 95.0
"""Units of CPN Tools in an inch."""
TEXT: Final = 7
"""Size of text, in points."""
LONGEST: Final = 28
"""Characters in a line of an inscription."""


@cache
def pages(net: str) -> dict[str, Any]:
    """Give the pages of a net by name."""
    return {page["name"]: page for page in load(path_of(net)).pages()}


def figure_name(net: str, page: str) -> str:
    """Give the name of the figure of a page."""
    words = re.sub(r"\W+", "_", page.lower()).strip("_")
    top = net.replace("-", "_")
    return top if words == top else f"{top}_{words}"


def net_figures() -> dict[str, Callable[[], Figure]]:
    """Give what draws each page, by the name of its figure."""
    return {
        figure_name(net, page): partial(drawn, net, page)
        for net, shown in SHOWN.items()
        for page in shown or pages(net)
    }


def drawn(net: str, name: str) -> Figure:
    """Draw a page: places as ellipses, transitions as boxes, pages behind transitions with a double line."""
    page = pages(net)[name]
    nodes = [*page["places"], *page["transitions"]]
    across, up = ([node[key] for node in nodes] for key in ("x", "y"))
    width, height = max(across) - min(across) + 200, max(up) - min(up) + 130
    figure, axes = plt.subplots(figsize=(width / PER_INCH, height / PER_INCH))
    axes.set_xlim(min(across) - 100, max(across) + 100)
    axes.set_ylim(min(up) - 65, max(up) + 65)
    axes.set_aspect("equal")
    axes.set_axis_off()
    ends = Counter((arc["place"], arc["transition"]) for arc in page["arcs"])
    for arc in page["arcs"]:
        _arc(axes, page, arc, bends=ends[arc["place"], arc["transition"]] > 1)
    for place in page["places"]:
        _place(axes, place)
    for transition in page["transitions"]:
        _transition(axes, transition)
    return figure


def _size(node: dict[str, Any]) -> tuple[float, float]:
    more = 10 if node.get("page") else 0
    return max(70.0, 5.6 * len(node["name"]) + 14) + more, 34.0 + more


def _text(axes: Axes, x: float, y: float, text: str, **how: Any) -> None:
    axes.text(x, y, text, **{"ha": "center", "va": "center", "fontsize": TEXT, **how})


def _place(axes: Axes, place: dict[str, Any]) -> None:
    x, y = place["x"], place["y"]
    width, height = _size(place)
    line = 1.8 if place["port"] or place["fusion"] else 0.8
    axes.add_patch(
        Ellipse((x, y), width, height, facecolor="white", edgecolor="black", linewidth=line, zorder=3)
    )
    _text(axes, x, y, place["name"], zorder=4)
    _text(axes, x + width / 2, y - height / 2, place["colset"], ha="left", color="dimgray", zorder=4)
    if place["initial"] and not place["port"]:
        _text(axes, x, y + height / 2 + 8, _lines(place["initial"]), color="darkgreen", zorder=4)


def _transition(axes: Axes, transition: dict[str, Any]) -> None:
    x, y = transition["x"], transition["y"]
    width, height = _size(transition)
    for less in (0, 5) if transition.get("page") else (0,):
        corner = (x - width / 2 + less, y - height / 2 + less)
        box = Rectangle(corner, width - 2 * less, height - 2 * less, facecolor="white", edgecolor="black")
        box.set(linewidth=0.8, zorder=3)
        axes.add_patch(box)
    _text(axes, x, y, transition["name"], zorder=4)
    guard = f"[{transition['guard'].strip('[]')}]" if transition["guard"] else ""
    for text, up in ((guard, 8), (transition["delay"], -8), (transition["priority"], -17)):
        if text:
            edge = height / 2 if up > 0 else -height / 2
            _text(axes, x, y + edge + up, text, color="darkred", zorder=5)


def _arc(axes: Axes, page: dict[str, Any], arc: dict[str, Any], *, bends: bool) -> None:
    place, transition = page["places"][arc["place"]], page["transitions"][arc["transition"]]
    source, target = (transition, place) if arc["kind"] == "out" else (place, transition)
    style = {"both": "<|-|>", "inhibitor": "-[", "reset": "->"}.get(arc["kind"], "-|>")
    start, end = _edge(source, target), _edge(target, source)
    bend = 0.16 if bends else 0.0
    how = {"arrowstyle": style, "linewidth": 0.7, "color": "dimgray", "shrinkA": 0, "shrinkB": 0}
    how |= {"connectionstyle": f"arc3,rad={bend}", "mutation_scale": 7}
    axes.annotate("", end, start, arrowprops=how, zorder=1)
    if arc["inscription"]:
        across, up = end[0] - start[0], end[1] - start[1]
        # The middle of the curve: half of the bend, to the right of the way.
        middle = ((start[0] + end[0]) / 2 + bend / 2 * up, (start[1] + end[1]) / 2 - bend / 2 * across)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8}
        _text(axes, *middle, _lines(arc["inscription"]), color="darkblue", bbox=box, zorder=2)


def _edge(node: dict[str, Any], towards: dict[str, Any]) -> tuple[float, float]:
    """Give where the line to another node leaves a node."""
    width, height = _size(node)
    across, up = towards["x"] - node["x"], towards["y"] - node["y"]
    if "colset" in node:
        part = 1 / ((2 * across / width) ** 2 + (2 * up / height) ** 2) ** 0.5
    else:
        part = min(width / 2 / abs(across) if across else 9.0, height / 2 / abs(up) if up else 9.0)
    return node["x"] + part * across, node["y"] + part * up


def _lines(text: str) -> str:
    """Break a long inscription into lines."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) >= LONGEST:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])
