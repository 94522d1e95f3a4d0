"""Draws a page of a net on a grid: each transition is written with the tokens that it takes and gives."""

from collections.abc import Mapping, Sequence
from typing import Final

from pagecast.petri.build import Node
from pagecast.petri.net import Net

__all__ = ["Sheet"]

COLUMN: Final = 270.0
"""Distance of two columns, in the units of CPN Tools."""
ROW: Final = 130.0
"""Distance of two rows, likewise."""

Cell = tuple[float, float]
"""Column from the left and row from the top."""
Arcs = Mapping[str, str]
"""Inscriptions by place."""


class Sheet:
    """A page of a net that grows by places and transitions.

    Parameters
    ----------
    net : Net
    name : str
        Of the page.
    """

    def __init__(self, net: Net, name: str) -> None:
        self.net, self.name = net, name
        self.places: dict[str, Node] = {}
        self.ports: dict[str, str] = {}

    def place(
        self,
        name: str,
        colset: str,
        at: Cell,
        initial: str = "",
        *,
        port: str | None = None,
        fusion: str | None = None,
    ) -> None:
        """Add a place.

        Parameters
        ----------
        name, colset : str
        at : tuple of float
            Column and row.
        initial : str
        port : {"in", "out", "in/out"}, optional
        fusion : str, optional
        """
        self.places[name] = self.net.place(
            name, colset, initial, page=self.name, port=port, fusion=fusion, at=_at(at)
        )
        if port is not None:
            self.ports[name] = port

    def transition(
        self,
        name: str,
        at: Cell,
        *,
        takes: Arcs | None = None,
        gives: Arcs | None = None,
        keeps: Arcs | None = None,
        unless: Sequence[str] = (),
        clears: Sequence[str] = (),
        guard: str = "",
        delay: str = "",
        priority: str = "",
    ) -> None:
        """Add a transition with its arcs.

        Parameters
        ----------
        name : str
        at : tuple of float
            Column and row.
        takes, gives, keeps : mapping of str to str, optional
            Inscriptions by place: of input arcs, output arcs, and arcs in both directions.
        unless, clears : sequence of str
            Places with an inhibitor arc, and with a reset arc.
        guard, delay, priority : str
        """
        node = self.net.transition(
            name, guard=guard, delay=delay, priority=priority, page=self.name, at=_at(at)
        )
        for place, inscription in (takes or {}).items():
            self.net.arc(self.places[place], node, inscription)
        for place, inscription in (keeps or {}).items():
            self.net.arc(self.places[place], node, inscription, both=True)
        for place, inscription in (gives or {}).items():
            self.net.arc(node, self.places[place], inscription)
        for place in unless:
            self.net.inhibit(self.places[place], node)
        for place in clears:
            self.net.reset(self.places[place], node)

    def stands(self, name: str, at: Cell, page: "Sheet", sockets: Mapping[str, str] | None = None) -> None:
        """Add a substitution transition; its arcs follow from the ports of the page.

        Parameters
        ----------
        name : str
        at : tuple of float
            Column and row.
        page : Sheet
            What stands for the transition.
        sockets : mapping of str to str, optional
            Places of this page by port; a port that is not named is the place of the same name.
        """
        of = {port: self.places[(sockets or {}).get(port, port)] for port in page.ports}
        node = self.net.transition(name, page=self.name, subpage=page.name, sockets=of, at=_at(at))
        for port, kind in page.ports.items():
            place = of[port]
            match kind:
                case "in":
                    self.net.arc(place, node, "")
                case "out":
                    self.net.arc(node, place, "")
                case _:
                    self.net.arc(place, node, "", both=True)


def _at(cell: Cell) -> tuple[float, float]:
    column, row = cell
    return column * COLUMN, -row * ROW
