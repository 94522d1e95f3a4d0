"""Shares what the nets of a local file system have: colours, the program, the copy time with L2.

Source: sections 4.3 and 4.5 of the dissertation. Ours: the random numbers, x' = 75 x mod 65537, the same in
every run.
"""

from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets.sheet import Sheet

__all__ = ["COLOURS", "COPY", "PROGRAM", "application", "numbers"]

COLOURS: Final = (
    "val P_HIGH = 100;",
    "val P_NORMAL = 1000;",
    "val P_LOW = 10000;",
    "colset UNIT = unit timed;",
    "colset INT = int;",
    "colset BOOL = bool;",
    "colset PAGE = int timed;",
    "colset RANGE = product INT * INT;",
    "colset BLOCK = product INT * INT timed;",
    "var p, q, e, h, t, k, m, n, i, x, w, j, f, z : INT;",
    "var a, b : BOOL;",
)
"""The priorities that every net of CPN Tools declares.

A page by its number in the file; pages from one to before another, with and without a time stamp.
"""

PROGRAM: Final = (
    "val page_bytes = 4096;",
    "val file_pages = 4096;",
    "val block_pages = 1;",
    "val blocks = file_pages div block_pages;",
    "val requests = blocks;",
    "val is_random = false;",
    "val first_random = 1;",
    "fun first_of (i, x) = (if is_random then x mod blocks else i mod blocks) * block_pages;",
    "fun next_random x = if is_random then 75 * x mod 65537 else x;",
)
"""The file, and the blocks that the program reads or writes: one behind the other, or at random."""

COPY: Final = (
    "val l2_bytes = 524288;",
    "val copy_l2_ns = 5300;",
    "val copy_memory_ns = 8200;",
    "val fitting_pages = l2_bytes div 8 div page_bytes;",
    "fun copy_of n = if n <= fitting_pages then copy_l2_ns else "
    "(fitting_pages * copy_l2_ns + (n - fitting_pages) * copy_memory_ns) div n;",
    "val copy_ns = copy_of block_pages;",
)
"""The time to copy a page, by the size of the block (section 4.5); copies have an eighth of L2 (Table 2)."""


def numbers(count: str, first: str = "0") -> str:
    """Give the marking with so many numbers from a first one on.

    Parameters
    ----------
    count, first : str
        Expressions in CPN ML.

    Returns
    -------
    str
    """
    return f"List.tabulate ({count}, fn i => i + {first})"


def application(net: Net, begun: str, done: str, *, timer: str, closes: bool = False) -> Sheet:
    """Draw the program: a block after the other.

    Parameters
    ----------
    net : Net
    begun, done : str
        Ports: the block that is read or written, and that this is done. A token in the second one at the
        start lets the program begin.
    timer : str
        Initial marking of the fusion set "Timer", which is cleared at the end.
    closes : bool
        Ends with an fsync, by the ports "To sync" and "Synced".

    Returns
    -------
    Sheet
    """
    page = Sheet(net, "Application")
    page.place(done, "UNIT", (0, 0), port="in")
    page.place("Next", "RANGE", (1, 1), "1`(0, first_random)")
    page.place(begun, "BLOCK", (2, 0), port="out")
    page.place("Finished", "UNIT", (2, 2))
    page.place("Timer", "UNIT", (3, 1), timer, fusion="Timer")
    page.transition(
        "Next block",
        (1, 0),
        takes={done: "()", "Next": "(i, x)"},
        gives={begun: "(first_of (i, x), first_of (i, x) + block_pages)", "Next": "(i + 1, next_random x)"},
        guard="i < requests",
    )
    last = {done: "()", "Next": "(i, x)"}
    if closes:
        page.place("To sync", "UNIT", (-1, 1), port="out")
        page.place("Closing", "UNIT", (0, 2))
        page.place("Synced", "UNIT", (1, 3), port="in")
        page.transition(
            "Close", (0, 1), takes=last, gives={"To sync": "()", "Closing": "()"}, guard="i >= requests"
        )
        last = {"Synced": "()", "Closing": "()"}
    page.transition(
        "Finish",
        (1, 2),
        takes=last,
        gives={"Finished": "()"},
        clears=["Timer"],
        guard="" if closes else "i >= requests",
    )
    return page
