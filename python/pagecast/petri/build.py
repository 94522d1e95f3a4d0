"""The drawing of a net that is built in Python: pages, nodes and arcs."""

from dataclasses import dataclass, field
from typing import Any

from pagecast.errors import ArgumentError

__all__ = ["Drawing", "Node"]

_STEP = 150.0
"""Distance of two nodes that are placed by themselves, in the units of CPN Tools."""
_ACROSS = 6
"""So many nodes stand in a row then."""


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

    def at(self, page: str, where: tuple[float, float] | None) -> dict[str, float]:
        """Give the position of a new node."""
        if where is None:
            drawn = self.pages.get(page, Page())
            number = len(drawn.places) + len(drawn.transitions)
            where = (number % _ACROSS * _STEP, -(number // _ACROSS) * _STEP)
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
