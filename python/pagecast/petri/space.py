"""State spaces of a net, and their report."""

import re
from collections.abc import Mapping
from typing import Any

from pagecast._core import PetriSpace
from pagecast.errors import PetriNetError
from pagecast.result import Columns

__all__ = ["StateSpace"]


class StateSpace:
    """Every marking that a net can reach, or the part of it that was explored; `Net.state_space` makes it.

    Attributes
    ----------
    nodes, arcs : int
    is_complete : bool
        False if `max_nodes` was reached; what is said then is of the explored part.
    components : int
        Strongly connected components.
    dead_markings : list of int
        Nodes without an enabled transition.
    home_markings : list of int
        Nodes that can be reached from every node.
    dead_transitions, live_transitions : list of str
        Transitions that never occur, and those that can always occur again.
    """

    def __init__(self, space: PetriSpace) -> None:
        self._ll_space = space
        report: dict[str, Any] = space.report()
        self.nodes: int = report["nodes"]
        self.arcs: int = report["arcs"]
        self.is_complete: bool = report["is_complete"]
        self.components: int = report["components"]
        self.component_arcs: int = report["component_arcs"]
        self.dead_markings: list[int] = report["dead_markings"]
        self.home_markings: list[int] = report["home_markings"]
        self.dead_transitions: list[str] = report["dead_transitions"]
        self.live_transitions: list[str] = report["live_transitions"]
        self._bounds: list[tuple[str, int, int, str, str]] = report["bounds"]

    def __repr__(self) -> str:
        part = "" if self.is_complete else ", not complete"
        return f"<StateSpace: {self.nodes} nodes, {self.arcs} arcs{part}>"

    @property
    def bounds(self) -> Columns:
        """Columns `place`, `upper`, `lower`, `upper_multiset` and `lower_multiset`."""
        names = ("place", "upper", "lower", "upper_multiset", "lower_multiset")
        return Columns({name: [row[at] for row in self._bounds] for at, name in enumerate(names)})

    def marking(self, node: int) -> dict[str, str]:
        """Give the marking of each place in a node, in CPN ML.

        Parameters
        ----------
        node : int

        Returns
        -------
        dict of str to str

        Raises
        ------
        PetriNetError
            There is no such node.
        """
        return self._ll_space.marking(node)[1]

    def time(self, node: int) -> float:
        """Give the model time of a node.

        Parameters
        ----------
        node : int

        Returns
        -------
        int or float
        """
        return self._ll_space.marking(node)[0]

    def find(self, marking: Mapping[str, str]) -> int | None:
        """Give the first node in which places have these tokens, whatever the others have.

        Parameters
        ----------
        marking : mapping of str to str
            Tokens in CPN ML, by ``Page'Place``, as `marking` gives them but without time stamps; ``"empty"``
            is no token.

        Returns
        -------
        int or None
            The node that fewest occurrences lead to; None if there is none.

        Raises
        ------
        PetriNetError
            There is no such place.

        Examples
        --------
        >>> from pagecast import petri
        >>> net = petri.Net("one")
        >>> place, end = net.place("A", "UNIT", "1`()"), net.place("B", "UNIT")
        >>> step = net.transition("Step")
        >>> net.arc(place, step)
        >>> net.arc(step, end)
        >>> space = net.state_space()
        >>> space.path(space.find({"Page'B": "1`()"}))
        [("Page'Step", '')]
        """
        wanted = {place: _plain(tokens) for place, tokens in marking.items()}
        for node in range(self.nodes):
            found = self.marking(node)
            if unknown := wanted.keys() - found.keys():
                raise PetriNetError(
                    f"there is no place {', '.join(sorted(unknown))}; there are {', '.join(found)}"
                )
            if all(_plain(found[place]) == tokens for place, tokens in wanted.items()):
                return node
        return None

    def path(self, node: int) -> list[tuple[str, str]]:
        """Give the shortest sequence of occurrences to a node: transitions and bindings.

        Parameters
        ----------
        node : int

        Returns
        -------
        list of tuple of str and str
        """
        return self._ll_space.path(node)

    def successors(self, node: int) -> list[tuple[str, str, int]]:
        """Give the arcs from a node: transition, binding, and the next node.

        Parameters
        ----------
        node : int

        Returns
        -------
        list of tuple of str, str and int
        """
        return self._ll_space.successors(node)

    def to_dict(self) -> dict[str, Any]:
        """Give all of the report as plain lists, as in the JSON output.

        Returns
        -------
        dict
        """
        names = ("nodes", "arcs", "is_complete", "components", "component_arcs", "dead_markings")
        found = {name: getattr(self, name) for name in names}
        found["home_markings"] = self.home_markings
        found["dead_transitions"], found["live_transitions"] = self.dead_transitions, self.live_transitions
        return {**found, "bounds": self.bounds.to_dict()}


def _plain(tokens: str) -> str:
    """Leave out time stamps and what stands between words."""
    return re.sub(r"@\d[\d.]*|\s", "", tokens)
