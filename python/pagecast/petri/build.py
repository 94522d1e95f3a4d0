"""The drawing of a net that is built in Python: pages, nodes and arcs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pagecast.errors import ArgumentError

__all__ = ["MONITOR_KINDS", "Drawing", "Node"]

_STEP = 150.0
"""Distance of two nodes that are placed by themselves, in the units of CPN Tools."""
_ACROSS = 6
"""So many nodes stand in a row then."""
MONITOR_KINDS: Final = {
    "marking size": (0, {}),
    "list length": (5, {}),
    "count": (6, {}),
    "data": (3, {}),
    "timed data": (3, {"timed": "true"}),
    "write in file": (4, {}),
    "breakpoint": (1, {}),
    "empty": (7, {"empty": "true"}),
    "not empty": (7, {"empty": "false"}),
    "enabled": (8, {}),
}
"""Kinds of monitors: their numbers in a file of CPN Tools, and options."""
_FUNCTIONS: Final = {"pred": "predicate", "obs": "observer", "init": "init function", "stop": "stop"}
"""Functions of a monitor, with their names in the file."""


@dataclass(frozen=True)
class Node:
    """A place or a transition of a page.

    Attributes
    ----------
    page, name : str
    kind : str
        "place" or "transition".
    """

    page: str
    name: str
    kind: str


@dataclass
class Page:
    """What is on a page."""

    places: list[dict[str, Any]] = field(default_factory=list)
    transitions: list[dict[str, Any]] = field(default_factory=list)
    arcs: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Drawing:
    """Declarations and pages as they grow."""

    declarations: list[str] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)
    monitors: list[dict[str, Any]] = field(default_factory=list)

    def at(self, page: str, kind: str, where: tuple[float, float] | None) -> dict[str, float]:
        """Give the position of a new node: rows of places, and between them rows of transitions."""
        if where is None:
            drawn = self.pages.get(page, Page())
            is_place = kind == "place"
            row, column = divmod(len(drawn.places if is_place else drawn.transitions), _ACROSS)
            aside, below = (0, 0) if is_place else (_STEP / 2, _STEP)
            where = (column * _STEP + aside, -2 * row * _STEP - below)
        return {"x": float(where[0]), "y": float(where[1])}

    def add(self, node: Node, **what: Any) -> Node:
        """Add a node to its page."""
        page = self.pages.setdefault(node.page, Page())
        nodes = page.places if node.kind == "place" else page.transitions
        if any(known["name"] == node.name for known in nodes):
            raise ArgumentError(f"page `{node.page}` has a {node.kind} `{node.name}` already")
        nodes.append({"name": node.name, **what})
        return node

    def connect(self, kind: str, place: Node, transition: Node, inscription: str) -> None:
        """Add an arc."""
        if place.page != transition.page:
            raise ArgumentError(
                f"`{place.name}` is on page `{place.page}`, `{transition.name}` on page `{transition.page}`; "
                "connect pages with ports or fusion sets"
            )
        arc = {
            "kind": kind,
            "place": place.name,
            "transition": transition.name,
            "inscription": inscription,
        }
        self.pages[place.page].arcs.append(arc)

    def watch(self, name: str, kind: str, nodes: Sequence[Node], functions: Mapping[str, str]) -> None:
        """Add a monitor."""
        if kind not in MONITOR_KINDS:
            raise ArgumentError(f"kind={kind!r} is none of {', '.join(MONITOR_KINDS)}")
        number, options = MONITOR_KINDS[kind]
        self.monitors.append(
            {
                "name": name,
                "kind": number,
                "nodes": [(node.page, node.kind, node.name) for node in nodes],
                "functions": [(_FUNCTIONS[of], text) for of, text in functions.items() if text],
                "options": list(options.items()),
            }
        )

    def described(self) -> list[dict[str, Any]]:
        """Give the pages as the core takes them; pages that stand for a transition are not at the top."""
        inner = {transition["page"] for page in self.pages.values() for transition in page.transitions}
        return [
            {
                "name": name,
                "places": page.places,
                "transitions": page.transitions,
                "arcs": page.arcs,
                "prime": name not in inner,
            }
            for name, page in self.pages.items()
        ]
