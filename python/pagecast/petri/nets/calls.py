"""A program that does a list of calls, for the nets of ext3: reads or writes at any places, and fsyncs.

Ours; it plays the program of a scenario. The shipped nets have the program of `shared.application`, whose
blocks have one size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets.sheet import Sheet

__all__ = ["COLOURS", "COPY_NS", "Call", "call_pages", "listed_calls"]

COLOURS: Final = ("colset CALL = product INT * INT * INT * INT;",)
"""A call by its number: first page, the page behind its last one, the time before it in nanoseconds."""

COPY_NS: Final = "copy_of n"
"""The time to copy a page of the call that is going on."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call on the file of a net.

    Attributes
    ----------
    first, end : int
        Its pages, from the first to before the end; equal for an fsync.
    before_ns : int
        The time from the end of the call before it to its start.
    """

    first: int
    end: int
    before_ns: int = 0


def call_pages(page: Sheet) -> None:
    """Draw the place with the number of pages of the call that is going on; one for all pages of a net."""
    page.place("Call pages", "INT", (0, -1), "1`1", fusion="Call pages")


def listed_calls(
    net: Net, begun: str, done: str, calls: Sequence[Call], *, timer: str, syncs: bool = False
) -> Sheet:
    """Draw the program. "Ended" gets a token for each call that has ended, with the time of that.

    Parameters
    ----------
    net : Net
    begun, done : str
        Ports, as for `shared.application`.
    calls : sequence of Call
    timer : str
        Initial marking of the fusion set "Timer", which is cleared at the end.
    syncs : bool
        The net has the ports "To sync" and "Synced".

    Returns
    -------
    Sheet
    """
    page = Sheet(net, "Application")
    page.place(done, "UNIT", (0, 0), port="in/out")
    page.place("Next", "INT", (1, 1), "1`0")
    page.place("Calls", "CALL", (2, 1), _marking(calls))
    page.place(begun, "BLOCK", (2, 0), port="out")
    page.place("Ended", "PAGE", (0, 2))
    page.place("Finished", "UNIT", (2, 2))
    page.place("Timer", "UNIT", (3, 1), timer, fusion="Timer")
    call_pages(page)
    takes = {done: "()", "Next": "i", "Calls": "(i, p, e, w)"}
    gives = {"Next": "i + 1", "Ended": "i - 1"}
    page.transition(
        "Next call",
        (1, 0),
        takes={**takes, "Call pages": "n"},
        gives={**gives, begun: "(p, e)@+w", "Call pages": "e - p"},
        guard="p < e",
    )
    if syncs:
        page.place("To sync", "UNIT", (-1, 1), port="out")
        page.place("Closing", "UNIT", (-1, 2))
        page.place("Synced", "UNIT", (-1, 3), port="in")
        page.transition(
            "Sync",
            (0, 1),
            takes=takes,
            gives={**gives, "To sync": "()@+w", "Closing": "()"},
            guard="p >= e",
        )
        page.transition("Sync done", (0, 3), takes={"Closing": "()", "Synced": "()"}, gives={done: "()"})
    page.transition(
        "Finish",
        (1, 2),
        takes={done: "()", "Next": "i"},
        gives={"Finished": "()", "Ended": "i - 1"},
        clears=["Timer"],
        guard=f"i >= {len(calls)}",
    )
    return page


def _marking(calls: Sequence[Call]) -> str:
    tokens = (f"({at}, {call.first}, {call.end}, {call.before_ns})" for at, call in enumerate(calls))
    return f"[{', '.join(tokens)}]"
