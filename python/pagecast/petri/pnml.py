"""Place/transition nets in the Petri Net Markup Language (ISO/IEC 15909-2)."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pagecast.errors import PetriNetError
from pagecast.petri.build import Node

if TYPE_CHECKING:
    from pagecast.petri.net import Net

__all__ = ["fill", "text"]

_GRAMMAR: Final = "http://www.pnml.org/version-2009/grammar"
_DOCTYPE = re.compile(
    rb"""<!DOCTYPE\s+\w+(?:\s+(?:SYSTEM|PUBLIC\s+(?:"[^"<]*"|'[^'<]*'))\s+(?:"[^"<]*"|'[^'<]*'))?\s*>"""
)
"""A document type without declarations of its own; that of another file is never fetched."""
_TOKENS = re.compile(r"(?:(\d+)\s*`\s*)?\(\)")
"""Some tokens without colour in CPN ML."""


def text(net: "Net") -> str:
    """Write a net as a place/transition net.

    Parameters
    ----------
    net : Net
        With one page and the colour set `unit` alone, without guards, time, priorities, code and fusion sets.

    Returns
    -------
    str

    Raises
    ------
    PetriNetError
        The net has what a place/transition net has not, or cannot be understood.
    """
    net.check()
    pages = net.pages()
    if len(pages) != 1:
        raise PetriNetError(f"{net.name}: a place/transition net has one page, and this one has {len(pages)}")
    page = pages[0]
    root = ET.Element("pnml", xmlns=f"{_GRAMMAR}/pnml")
    top = ET.SubElement(root, "net", id="net", type=f"{_GRAMMAR}/ptnet")
    _labelled(top, "name", net.name)
    inside = ET.SubElement(top, "page", id="page")
    for number, place in enumerate(page["places"]):
        if place["fusion"]:
            raise PetriNetError(f"{net.name}: place `{place['name']}` is in a fusion set")
        element = ET.SubElement(inside, "place", id=f"p{number}")
        _labelled(element, "name", place["name"])
        count = _count(net.name, f"the initial marking of `{place['name']}`", place["initial"] or "0`()")
        if count:
            _labelled(element, "initialMarking", str(count))
        _at(element, place)
    for number, transition in enumerate(page["transitions"]):
        for what in ("guard", "delay", "priority", "code"):
            if transition[what]:
                raise PetriNetError(f"{net.name}: transition `{transition['name']}` has a {what}")
        element = ET.SubElement(inside, "transition", id=f"t{number}")
        _labelled(element, "name", transition["name"])
        _at(element, transition)
    for number, arc in enumerate(page["arcs"]):
        ends = (f"p{arc['place']}", f"t{arc['transition']}")
        names = (
            f"`{page['places'][arc['place']]['name']}` and `{page['transitions'][arc['transition']]['name']}`"
        )
        if arc["kind"] in ("inhibitor", "reset"):
            raise PetriNetError(f"{net.name}: between {names} is an arc of the kind {arc['kind']}")
        count = _count(net.name, f"the arc between {names}", arc["inscription"])
        for direction in ("in", "out") if arc["kind"] == "both" else (arc["kind"],):
            source, target = ends if direction == "in" else ends[::-1]
            more = "" if direction == arc["kind"] else f"_{direction}"
            element = ET.SubElement(inside, "arc", id=f"a{number}{more}", source=source, target=target)
            if count != 1:
                _labelled(element, "inscription", str(count))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def fill(net: "Net", content: bytes) -> None:
    """Build a place/transition net from PNML: one page with the colour set UNIT.

    Parameters
    ----------
    net : Net
        Takes what the file has.
    content : bytes

    Raises
    ------
    PetriNetError
        The file is no PNML, or of another kind of nets.
    """
    plain = content.replace(b"\0", b"").replace(b"<!--", b"").replace(b"<![CDATA[", b"")
    if b"<!" in _DOCTYPE.sub(b"", plain, count=1):
        raise PetriNetError(f"{net.name}: a document type with declarations is not read; remove it")
    try:
        root = ET.fromstring(content)  # noqa: S314 - it has no document type, and so no entities
    except (ET.ParseError, ValueError, LookupError) as error:
        raise PetriNetError(f"{net.name}: this is no XML: {error}") from None
    if _tag(root) != "pnml":
        raise PetriNetError(f"{net.name}: PNML begins with <pnml>, and not with <{_tag(root)}>")
    found = [child for child in root if _tag(child) == "net"]
    if len(found) != 1:
        raise PetriNetError(f"{net.name}: it has {len(found)} nets; a file of one is read")
    kind = found[0].get("type", "")
    if not re.search(r"ptnet|PTNet|P/T", kind):
        raise PetriNetError(f"{net.name}: its net is of the kind `{kind}`; place/transition nets are read")
    _Reader(net, found[0]).read()


class _Reader:
    """Builds a net from its element."""

    def __init__(self, net: "Net", root: ET.Element) -> None:
        self.net = net
        self.elements = list(_elements(root))
        self.nodes: dict[str, Node] = {}
        self.names: set[tuple[str, str]] = set()

    def read(self) -> None:
        self.net.declare("colset UNIT = unit;")
        for element in self.elements:
            kind = _tag(element)
            if kind == "place":
                count = self._number(element, "initialMarking", 0)
                initial = f"{count}`()" if count else ""
                name = self._name(element, kind)
                self.nodes[self._id(element)] = self.net.place(name, "UNIT", initial, at=_position(element))
            elif kind == "transition":
                name = self._name(element, kind)
                self.nodes[self._id(element)] = self.net.transition(name, at=_position(element))
        references = {
            self._id(of): of.get("ref", "") for of in self.elements if _tag(of).startswith("reference")
        }
        for element in self.elements:
            if _tag(element) == "arc":
                ends = [self._node(element.get(end, ""), references) for end in ("source", "target")]
                count = self._number(element, "inscription", 1)
                if ends[0].kind == ends[1].kind:
                    what = f"arc `{element.get('id')}` joins two nodes of the kind {ends[0].kind}"
                    raise PetriNetError(f"{self.net.name}: {what}")
                self._arc(element, ends, count)

    def _arc(self, element: ET.Element, ends: list[Node], count: int) -> None:
        """Add an arc. Inhibitor and reset arcs are no part of the standard, but written by many tools."""
        kind = _kind(element)
        if kind in ("", "normal"):
            self.net.arc(ends[0], ends[1], f"{count}`()")
        elif kind in ("inhibitor", "reset") and count == 1 and ends[0].kind == "place":
            add = self.net.inhibit if kind == "inhibitor" else self.net.reset
            add(ends[0], ends[1])
        else:
            what = f"arc `{element.get('id')}` of the kind `{kind}` and weight {count} from a {ends[0].kind}"
            raise PetriNetError(f"{self.net.name}: {what} is not read")

    def _id(self, element: ET.Element) -> str:
        found = element.get("id")
        if not found or found in self.nodes:
            raise PetriNetError(f"{self.net.name}: a <{_tag(element)}> has no id, or that of another node")
        return found

    def _name(self, element: ET.Element, kind: str) -> str:
        name = _label(element, "name") or element.get("id", "")
        if (kind, name) in self.names:
            name = f"{name} ({element.get('id')})"
        self.names.add((kind, name))
        return name

    def _node(self, name: str, references: dict[str, str]) -> Node:
        seen = set()
        while name in references and name not in seen:
            seen.add(name)
            name = references[name]
        if name not in self.nodes:
            raise PetriNetError(f"{self.net.name}: an arc names the node `{name}`, which is not there")
        return self.nodes[name]

    def _number(self, element: ET.Element, label: str, otherwise: int) -> int:
        found = _label(element, label)
        if not found:
            return otherwise
        # Older tools write the name of the only colour in front: `Default,1`.
        digits = found.rpartition(",")[2].strip()
        if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
            raise PetriNetError(
                f"{self.net.name}: <{label}> of `{element.get('id')}` is no number: `{found[:40]}`"
            )
        return int(digits)


def _elements(element: ET.Element) -> Iterator[ET.Element]:
    """Give an element and all inside of it but what belongs to a single tool."""
    yield element
    for child in element:
        if _tag(child) != "toolspecific":
            yield from _elements(child)


def _kind(arc: ET.Element) -> str:
    """Give the kind of an arc, from a child or an attribute; "" if none is given."""
    for child in (child for child in arc if _tag(child) in ("type", "arctype")):
        return (child.get("value") or "".join(child.itertext())).strip()
    return arc.get("type", "")


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _label(element: ET.Element, name: str) -> str:
    for child in element:
        if _tag(child) == name:
            found = [of for of in child if _tag(of) in ("text", "value")]
            return "".join(found[0].itertext()).strip() if found else ""
    return ""


def _position(element: ET.Element) -> tuple[float, float] | None:
    for graphics in (child for child in element if _tag(child) == "graphics"):
        for position in (child for child in graphics if _tag(child) == "position"):
            try:
                # PNML counts downwards, CPN Tools upwards.
                return float(position.get("x", "")), -float(position.get("y", ""))
            except ValueError:
                return None
    return None


def _labelled(parent: ET.Element, name: str, value: str) -> None:
    ET.SubElement(ET.SubElement(parent, name), "text").text = value


def _at(parent: ET.Element, node: dict[str, object]) -> None:
    graphics = ET.SubElement(parent, "graphics")
    ET.SubElement(graphics, "position", x=f"{node['x']}", y=f"{-float(str(node['y']))}")


def _count(name: str, what: str, inscription: str) -> int:
    match = _TOKENS.fullmatch(inscription.strip())
    if not match:
        raise PetriNetError(
            f"{name}: {what} is `{inscription}`; a place/transition net has tokens `()` alone"
        )
    return int(match[1] or 1)
