"""Lays a written net out: nodes as wide as their names, two arcs between the same nodes beside each other.

Source: the document type of CPN Tools, format 6. Only positions and sizes change.
"""

from collections import defaultdict
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

__all__ = ["laid_out"]

NARROWEST: Final = 70.0
LETTER: Final = 7.0
"""Width of a letter of a name, in the units of CPN Tools."""
APART: Final = 14.0
"""How far each of two arcs is from the line between its nodes; its inscription is twice as far."""

Point = tuple[float, float]


def laid_out(text: str) -> str:
    """Lay a net out.

    Parameters
    ----------
    text : str
        A file as `Net.save` writes it.

    Returns
    -------
    str
    """
    head, mark, body = text.partition("<workspaceElements>")
    root = ElementTree.fromstring(mark + body)  # noqa: S314 - written a moment ago, no DOCTYPE
    for page in root.iter("page"):
        nodes = [*page.iter("place"), *page.iter("trans")]
        for node in nodes:
            _widen(node)
        _part(page, {node.attrib["id"]: _at(node) for node in nodes})
    ElementTree.indent(root)
    return f"{head}{ElementTree.tostring(root, encoding='unicode').replace(' />', '/>')}\n"


def _at(of: Element) -> Point:
    position = of.find("posattr")
    assert position is not None, "every object that is drawn has a position"
    return float(position.attrib["x"]), float(position.attrib["y"])


def _put(of: Element, at: Point) -> None:
    position = of.find("posattr")
    assert position is not None, "every object that is drawn has a position"
    position.attrib["x"], position.attrib["y"] = (f"{part:.6f}" for part in at)


def _widen(node: Element) -> None:
    """Make a node as wide as its name, and move the inscriptions at its sides."""
    shape = node.find("ellipse") if node.tag == "place" else node.find("box")
    assert shape is not None, "a place has an ellipse, a transition a box"
    before = float(shape.attrib["w"])
    width = max(NARROWEST, LETTER * len(node.findtext("text", "")) + 16)
    shape.attrib["w"] = f"{width:.6f}"
    middle, _ = _at(node)
    for inscription in ("type", "initmark", "cond", "time", "code", "priority"):
        for element in node.iter(inscription):
            x, y = _at(element)
            _put(element, (x + (width - before) / 2 * (1 if x > middle else -1), y))


def _part(page: Element, nodes: dict[str, Point]) -> None:
    """Bend the arcs that go between the same two nodes, to either side."""
    between: dict[tuple[str, str], list[Element]] = defaultdict(list)
    for arc in page.iter("arc"):
        ends = [arc.find(end) for end in ("placeend", "transend")]
        place, transition = (end.attrib["idref"] for end in ends if end is not None)
        between[place, transition].append(arc)
    for (place, transition), arcs in between.items():
        if len(arcs) == 2:
            for arc, side in zip(arcs, (1, -1), strict=True):
                _bend(arc, nodes[place], nodes[transition], side)


def _bend(arc: Element, place: Point, transition: Point, side: int) -> None:
    across, up = transition[0] - place[0], transition[1] - place[1]
    length = (across**2 + up**2) ** 0.5
    middle = ((place[0] + transition[0]) / 2, (place[1] + transition[1]) / 2)

    def beside(distance: float) -> Point:
        return middle[0] - side * distance * up / length, middle[1] + side * distance * across / length

    annotation = arc.find("annot")
    assert annotation is not None, "every arc has an inscription, if only an empty one"
    _put(annotation, beside(2 * APART))
    bend = Element("bendpoint", {"id": f"{arc.attrib['id']}bend0", "serial": "1"})
    for drawn in arc[:4]:  # posattr, fillattr, lineattr, textattr
        bend.append(Element(drawn.tag, dict(drawn.attrib)))
    _put(bend, beside(APART))
    arc.insert(list(arc).index(annotation), bend)
