"""Nets: loaded from a file of CPN Tools, or built."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pagecast._core import PetriNet
from pagecast.arguments import shown, written
from pagecast.errors import ArgumentError, PetriNetError
from pagecast.export import write_file
from pagecast.petri import animation, drawing, monitors, pnml
from pagecast.petri.build import Drawing, Node
from pagecast.petri.replications import Replications, replicated
from pagecast.petri.run import Run, Stepper
from pagecast.petri.space import StateSpace

__all__ = ["Net", "load"]


class Net:
    """A coloured Petri net.

    Inscriptions are CPN ML, as in CPN Tools. A net that was loaded takes monitors, but no more nodes.

    Parameters
    ----------
    name : str
        For messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._drawing: Drawing | None = Drawing()
        self._ll_net: PetriNet | None = None

    @classmethod
    def _of(cls, name: str, net: PetriNet) -> "Net":
        found = cls(name)
        found._drawing, found._ll_net = None, net
        return found

    def __repr__(self) -> str:
        return f"<Net: {self.name}>"

    def _grows(self) -> Drawing:
        if self._drawing is None:
            raise ArgumentError(f"{self.name} was loaded and takes no more nodes; build a new net")
        self._ll_net = None
        return self._drawing

    def _made(self) -> PetriNet:
        if self._ll_net is None:
            assert self._drawing is not None
            built = self._drawing
            self._ll_net = PetriNet.build(self.name, built.declarations, built.described(), built.monitors)
        return self._ll_net

    def declare(self, *declarations: str) -> None:
        """Add declarations: ``colset``, ``var``, ``val``, ``fun``, ``globref``.

        Parameters
        ----------
        *declarations : str
            Each is one declaration of CPN ML.
        """
        self._grows().declarations.extend(declarations)

    def place(
        self,
        name: str,
        colset: str,
        initial: str = "",
        *,
        page: str = "Page",
        port: str | None = None,
        fusion: str | None = None,
        at: tuple[float, float] | None = None,
    ) -> Node:
        """Add a place.

        Parameters
        ----------
        name, colset : str
        initial : str
            Initial marking.
        page : str
        port : {"in", "out", "in/out"}, optional
            Makes it a port of its page.
        fusion : str, optional
            Name of the fusion set that it is in.
        at : tuple of float, optional
            Where it is drawn, in the units of CPN Tools.

        Returns
        -------
        Node
        """
        built = self._grows()
        where = built.at(page, "place", at)
        node = Node(page, name, "place")
        return built.add(node, colset=colset, initial=initial, port=port, fusion=fusion, **where)

    def transition(
        self,
        name: str,
        *,
        guard: str = "",
        delay: str = "",
        code: str = "",
        priority: str = "",
        page: str = "Page",
        subpage: str | None = None,
        sockets: Mapping[str, Node] | None = None,
        at: tuple[float, float] | None = None,
    ) -> Node:
        """Add a transition, or a substitution transition with `subpage`.

        Parameters
        ----------
        name : str
        guard, delay, code, priority : str
            Inscriptions; a delay begins with ``@+``.
        page : str
        subpage : str, optional
            The page that stands for it.
        sockets : mapping of str to Node, optional
            The place of this page that each port of the subpage is.
        at : tuple of float, optional

        Returns
        -------
        Node
        """
        built = self._grows()
        where = built.at(page, "transition", at)
        pairs = [(port, place.name) for port, place in (sockets or {}).items()]
        texts = {"guard": guard, "delay": delay, "code": code, "priority": priority}
        return built.add(Node(page, name, "transition"), page=subpage, sockets=pairs, **texts, **where)

    def arc(self, source: Node, target: Node, inscription: str = "()", *, both: bool = False) -> None:
        """Add an arc.

        Parameters
        ----------
        source, target : Node
            A place and a transition, in the direction of the arc.
        inscription : str
        both : bool
            The tokens are taken and put back.
        """
        if source.kind == target.kind:
            raise ArgumentError(f"`{source.name}` and `{target.name}` are both a {source.kind}")
        place, transition = (source, target) if source.kind == "place" else (target, source)
        kind = "both" if both else "in" if source.kind == "place" else "out"
        self._grows().connect(kind, place, transition, inscription)

    def inhibit(self, place: Node, transition: Node) -> None:
        """Let a transition occur only while a place is empty.

        Parameters
        ----------
        place, transition : Node
        """
        self._grows().connect("inhibitor", place, transition, "empty")

    def reset(self, place: Node, transition: Node) -> None:
        """Let a transition take all tokens of a place.

        Parameters
        ----------
        place, transition : Node
        """
        self._grows().connect("reset", place, transition, "empty")

    def monitor(
        self,
        name: str,
        kind: str,
        *nodes: Node,
        pred: str = "",
        obs: str = "",
        init: str = "",
        stop: str = "",
    ) -> None:
        """Add a monitor, which measures, writes or ends a run and changes nothing else.

        Parameters
        ----------
        name : str
        kind : str
            "marking size" or "list length" of a place, "count" of a transition; "data", "timed data" (a
            value weighs as long as it lasts), "write in file" and "breakpoint" with functions; "empty" or
            "not empty" ends a run for a place, "enabled" for a transition.
        *nodes : Node
            The places and transitions that it watches.
        pred, obs, init, stop : str
            Declarations of these functions in CPN ML, with the arguments of CPN Tools.
        """
        functions = {"pred": pred, "obs": obs, "init": init, "stop": stop}
        if self._drawing is not None:
            self._grows().watch(name, kind, nodes, functions)
            return
        watched = Drawing()
        watched.watch(name, kind, nodes, functions)
        text = monitors.with_monitor(self._made().write(), watched.monitors[0])
        self._ll_net = PetriNet.read(self.name, text.encode())

    def node(self, name: str, kind: str | None = None) -> Node:
        """Give a node by its name, as `monitor` takes it.

        Parameters
        ----------
        name : str
            ``Page'Node``, or the name alone where one node has it.
        kind : {"place", "transition"}, optional

        Returns
        -------
        Node

        Raises
        ------
        ArgumentError
            There is no such node, or more than one.
        """
        return monitors.node_of(self.pages(), name, kind)

    @property
    def values(self) -> dict[str, str]:
        """Values that the net declares with ``val``, with their expressions."""
        return dict(self._made().values())

    def with_values(self, **values: object) -> "Net":
        """Give the net with other values.

        Parameters
        ----------
        **values : int, float, bool, or str in CPN ML

        Returns
        -------
        Net

        Raises
        ------
        PetriNetError
            The net declares no such value.
        """
        texts = [(name, _in_ml(value)) for name, value in values.items()]
        return Net._of(self.name, self._made().with_values(texts))

    def pages(self) -> list[dict[str, Any]]:
        """Give what is drawn: pages with places, transitions and arcs.

        Returns
        -------
        list of dict
            Each has `name`, `prime` (at the top), `places`, `transitions` and `arcs`; an arc names its
            ends by their numbers in these lists.
        """
        return self._made().pages()

    def check(self) -> tuple[int, int, int]:
        """Compile the net.

        Returns
        -------
        tuple of int, int and int
            Numbers of places and transitions, with ports and fusion sets resolved, and of page instances.

        Raises
        ------
        PetriNetError
            An inscription cannot be understood, or pages do not fit each other.
        """
        return self._made().check()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the net as the name says: `.cpn`, `.pnml`, or a picture of its first marking, `.svg`, `.dot`.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        ArgumentError
            The name has another ending.
        PetriNetError
            The net has what a place/transition net has not (`.pnml`).
        """
        write_file(path, self._written(Path(path).suffix).encode(), replace=True)

    def animate(
        self, path: str | os.PathLike[str], *, steps: int = 200, seed: int = 0, until: float | None = None
    ) -> Run:
        """Run the net, and write its first occurrences as a page that a browser plays.

        Parameters
        ----------
        path : path-like
            Name of the HTML page.
        steps : int
            So many occurrences.
        seed : int
        until : float, optional
            No occurrence after this model time.

        Returns
        -------
        Run

        Raises
        ------
        PetriNetError, SimulationError
            As for `run`.
        """
        steppers = self.stepper(seed=seed), self.stepper(seed=seed)
        page, run = animation.page(self.name, self.draw(), steppers, steps, until)
        write_file(path, page.encode(), replace=True)
        return run

    def draw(self, page: str | None = None) -> str:
        """Draw the net with its initial marking.

        Parameters
        ----------
        page : str, optional
            The first instance of this page alone.

        Returns
        -------
        str
            SVG.

        Raises
        ------
        ArgumentError
            The net has no such page.
        PetriNetError
            The net cannot be understood.
        """
        pages, instances = self.pages(), self._made().instances()
        if page is not None:
            instances = [of for of in instances if pages[of[0]]["name"] == page and of[1] == 1]
            if not instances:
                known = ", ".join(of["name"] for of in pages)
                raise ArgumentError(f"{self.name} has no page `{page}` in use; its pages: {known}")
        return drawing.svg(pages, instances, self.stepper().now().marking)

    def _written(self, suffix: str) -> str:
        match suffix:
            case ".cpn":
                return self._made().write()
            case ".pnml":
                return pnml.text(self)
            case ".svg":
                return self.draw()
            case ".dot":
                return drawing.dot(self.pages(), self._made().instances(), self.stepper().now().marking)
        raise ArgumentError(f"`{suffix}` is no kind of a net or a picture; use .cpn, .pnml, .svg or .dot")

    def run(
        self,
        *,
        seed: int = 0,
        until: float | None = None,
        steps: int | None = None,
        when: Mapping[str, int] | None = None,
        breakpoints: Sequence[str] = (),
        steps_at_one_time: int | None = None,
        log: int = 0,
    ) -> Run:
        """Run the net from its initial marking.

        Parameters
        ----------
        seed : int
        until : float, optional
            No occurrence after this model time.
        steps : int, optional
            At most so many occurrences.
        when : mapping of str to int, optional
            Ends when a place has at least so many tokens.
        breakpoints : sequence of str
            Ends before one of these transitions occurs.
        steps_at_one_time : int, optional
            So many occurrences at one model time are an endless loop (10 million).
        log : int
            So many occurrences are kept in `Run.occurrences`.

        Returns
        -------
        Run

        Raises
        ------
        PetriNetError
            The net cannot be understood, or a name of a limit means nothing.
        SimulationError
            An inscription fails, or a loop never lets time go on.
        """
        stepper = self.stepper(seed=seed)
        return stepper.run(
            until=until,
            steps=steps,
            when=when,
            breakpoints=breakpoints,
            steps_at_one_time=steps_at_one_time,
            log=log,
        )

    def replicate(
        self,
        runs: int,
        *,
        seed: int = 0,
        until: float | None = None,
        steps: int | None = None,
        steps_at_one_time: int | None = None,
    ) -> Replications:
        """Run the net several times, each with a seed of its own, on all processors.

        Parameters
        ----------
        runs : int
        seed : int
            Of the first run; the others have the next ones.
        until, steps, steps_at_one_time
            As for `run`.

        Returns
        -------
        Replications

        Raises
        ------
        PetriNetError, SimulationError
            As for `run`.
        """
        if runs < 1:
            raise ArgumentError(f"runs={runs} is less than 1")
        begin = (self.stepper(seed=seed + number) for number in range(runs))
        return replicated(list(begin), until=until, steps=steps, steps_at_one_time=steps_at_one_time)

    def state_space(self, *, max_nodes: int = 100_000) -> StateSpace:
        """Explore every marking that can be reached, up to so many.

        Parameters
        ----------
        max_nodes : int

        Returns
        -------
        StateSpace

        Raises
        ------
        PetriNetError
            The net cannot be understood, draws random numbers, or has references.
        SimulationError
            An inscription fails.
        """
        return StateSpace(self._made().state_space(max_nodes))

    def stepper(self, *, seed: int = 0) -> Stepper:
        """Begin a run that goes on step by step.

        Parameters
        ----------
        seed : int

        Returns
        -------
        Stepper
        """
        return Stepper(self._made().simulator(seed))


def load(path: str | os.PathLike[str]) -> Net:
    """Load a file of CPN Tools, or a place/transition net in PNML (`.pnml`).

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Net

    Raises
    ------
    PetriNetError
        The file cannot be read, is no XML, or not of CPN Tools or PNML.
    """
    name = shown(Path(path))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise PetriNetError(f"{name}: {error.strerror}") from None
    if Path(path).suffix == ".pnml":
        net = Net(name)
        pnml.fill(net, content)
        return net
    return Net._of(name, PetriNet.read(name, content))


def _in_ml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value).replace("-", "~").replace("e", "E")
        case str():
            return value
    raise ArgumentError(f"{written(value)} is no number, truth value or text of CPN ML")
