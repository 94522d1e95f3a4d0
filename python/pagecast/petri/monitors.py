"""Adds a monitor to a net that was loaded: as text, to its file."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from pagecast.errors import ArgumentError
from pagecast.petri.build import Node

__all__ = ["node_of", "with_monitor"]

_DESCRIPTIONS: Final = {
    0: "Marking size",
    1: "Breakpoint",
    3: "Data collection",
    4: "Write in file",
    5: "List length data collection",
    6: "Count transition occurence data collector",
    7: "Place content break point",
    8: "Transition enabled break point",
}
"""As CPN Tools writes them, by the number of a kind."""

_NAMES: Final = {"place": "place", "transition": "trans"}


def node_of(pages: Sequence[Mapping[str, Any]], text: str, kind: str | None) -> Node:
    """Find a node of a net.

    Parameters
    ----------
    pages : sequence of dict
        As `Net.pages` gives them.
    text : str
        ``Page'Node``, or the name alone where one node has it.
    kind : {"place", "transition"} or None
        None finds both.

    Returns
    -------
    Node

    Raises
    ------
    ArgumentError
        There is no such node, or more than one.
    """
    page, _, name = text.rpartition("'")
    found = [
        Node(of["name"], node["name"], each)
        for of in pages
        for each in _NAMES
        for node in of[f"{each}s"]
        if node["name"] == name and page in ("", of["name"]) and kind in (None, each)
    ]
    if len(found) == 1:
        return found[0]
    what = kind or "node"
    if not found:
        raise ArgumentError(f"the net has no {what} `{text}`; pagecast petri show lists its nodes")
    several = ", ".join(f"{node.page}'{node.name} ({node.kind})" for node in found)
    raise ArgumentError(f"the net has several nodes `{text}`: {several}; name the page, too")


def with_monitor(text: str, monitor: Mapping[str, Any]) -> str:
    """Add a monitor to the text of a net.

    Parameters
    ----------
    text : str
        A file of CPN Tools.
    monitor : mapping
        As `Drawing.watch` describes it.

    Returns
    -------
    str
    """
    # The text is one that the core has written: it declares no entities.
    root = ET.fromstring(text)  # noqa: S314
    number = f"IDpagecast{1 + sum(1 for _ in root.iter('monitor'))}"
    nodes = "".join(
        f'<node idref={quoteattr(each)} pageinstanceidref=""/>' for each in _ids(root, monitor["nodes"])
    )
    functions = "".join(
        f"<declaration name={quoteattr(name.capitalize())}><ml id={quoteattr(f'{number}ml{at}')}>"
        f"{escape(code)}</ml><layout>{escape(code)}</layout></declaration>"
        for at, (name, code) in enumerate(monitor["functions"])
    )
    options = "".join(
        f"<option name={quoteattr(name.capitalize())} value={quoteattr(value)}/>"
        for name, value in monitor["options"]
    )
    kind = monitor["kind"]
    block = (
        f'<monitorblock name="Monitors"><monitor id={quoteattr(number)} name={quoteattr(monitor["name"])} '
        f'type="{kind}" typedescription={quoteattr(_DESCRIPTIONS[kind])} disabled="false">'
        f"{nodes}{functions}{options}</monitor></monitorblock>"
    )
    at = re.search(r"<IndexNode\b|</cpnet>", text)
    assert at is not None, "the core writes a net with its end"
    return f"{text[: at.start()]}{block}\n    {text[at.start() :]}"


def _ids(root: ET.Element, nodes: Iterable[tuple[str, str, str]]) -> Iterable[str]:
    """Give the numbers of nodes in the file."""
    for page, kind, name in nodes:
        found = [
            node.get("id", "")
            for of in root.iter("page")
            if _name(of.find("pageattr")) == page
            for node in of.findall(_NAMES[kind])
            if (node.findtext("text") or "").strip() == name
        ]
        if not found:
            raise ArgumentError(f"page `{page}` has no {kind} `{name}`; pagecast petri show lists its nodes")
        yield found[0]


def _name(element: ET.Element | None) -> str:
    return "" if element is None else element.get("name", "").strip()
