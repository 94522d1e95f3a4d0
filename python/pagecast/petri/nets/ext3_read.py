"""The net of reads from ext3: application, fread, the page cache with two lists, prefetch, disk.

Source: sections 4.3 and 4.5 of the dissertation on Petri nets of ext3 and PVFS, from its text: its drawings
(Figures 19 to 25) were not seen, and no constant is printed. Times are whole nanoseconds.

Left out: metadata, other programs, an I/O scheduler that sorts (the dissertation has none either).
"""

from collections.abc import Sequence
from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets import calls as listed
from pagecast.petri.nets import shared
from pagecast.petri.nets.page_cache import TIMER, page_cache
from pagecast.petri.nets.sheet import Sheet

__all__ = ["COLOURS", "ext3_read", "file_system"]

COLOURS: Final = (
    "colset WINDOW = product INT * INT * INT timed;",
    "colset ENTRY = product INT * INT * BOOL * BOOL;",
    "colset RANGES = list RANGE;",
    "var rs : RANGES;",
)
"""Windows of prefetch, entries of the lists (slot, page, two flags), requests to the disk."""

READ: Final = (
    "val cache_pages = 1048576;",
    "val cached_pages = 0;",
    "val ageing_ns = 1000000000;",
    "val prefetch_pages = 32;",
    "val random_prefetch_pages = 4;",
    "val fread_ns = 500;",
    "val look_up_ns = 500;",
    "val disk_position_ns = 7700000;",
    "val disk_page_ns = 68840;",
    "val window_pages = if is_random then random_prefetch_pages else prefetch_pages;",
    "fun window_end p = if p + window_pages < file_pages then p + window_pages else file_pages;",
)
"""Memory, with the first pages of the file in it; prefetch; times of calls and of the disk."""


def ext3_read(calls: Sequence[listed.Call] | None = None) -> Net:
    """Build the net.

    Parameters
    ----------
    calls : sequence of Call, optional
        The program reads these, instead of blocks of one size.

    Returns
    -------
    Net
    """
    net = Net("ext3-read")
    net.declare(*shared.COLOURS, *COLOURS, *shared.PROGRAM, *shared.COPY, *READ)
    top = Sheet(net, "ext3 read")
    top.place("To read", "BLOCK", (0, 1))
    top.place("Block read", "UNIT", (1, 0), "1`()")
    if calls is None:
        application = shared.application(net, "To read", "Block read", timer=TIMER)
    else:
        net.declare(*listed.COLOURS)
        application = listed.listed_calls(net, "To read", "Block read", calls, timer=TIMER)
    top.stands("Application", (0, 0), application)
    file_system(net, top, lists_calls=calls is not None)
    return net


def file_system(net: Net, page: Sheet, *, ages: bool = True, lists_calls: bool = False) -> None:
    """Draw a local file system beside the places "To read" and "Block read" of a page.

    Parameters
    ----------
    net : Net
    page : Sheet
    ages : bool
        Draws the timer of ageing.
    lists_calls : bool
        The size of a call, and with it the time to copy a page, changes from call to call.
    """
    page.place("Page wanted", "PAGE", (2, 1))
    page.place("Page read", "PAGE", (3, 0))
    page.place("Look up", "PAGE", (4, 1))
    page.place("Found", "PAGE", (5, 0))
    page.place("Missing", "PAGE", (5, 2))
    page.place("Not cached", "INT", (6, 2), shared.numbers("file_pages - cached_pages", "cached_pages"))
    page.place("Requests", "BLOCK", (4, 3))
    page.place("Dispatched", "BLOCK", (2, 3))
    page.place("Disk idle", "UNIT", (3, 2.5), "1`()")
    page.place("Arrived", "PAGE", (4, 2))
    page.stands("fread", (1, 1), _fread(net))
    page.stands("generic_file_read", (3, 1), _generic_file_read(net))
    page.stands("Copy to user", (4, 0), _copy(net, lists_calls))
    page.stands("Page cache", (5, 1), page_cache(net, ages=ages))
    page.stands("Prefetch", (5, 3), _prefetch(net))
    page.stands("I/O scheduler", (3, 3), _scheduler(net))
    page.stands("Disk", (3, 2), _disk(net))


def _fread(net: Net) -> Sheet:
    page = Sheet(net, "fread")
    page.place("To read", "BLOCK", (0, 0), port="in")
    page.place("Block read", "UNIT", (2, 2), port="out")
    page.place("Page wanted", "PAGE", (2, 0), port="out")
    page.place("Page read", "PAGE", (0, 2), port="in")
    page.place("In progress", "RANGE", (1, 1))
    page.transition(
        "Begin",
        (1, 0),
        takes={"To read": "(p, e)"},
        gives={"In progress": "(p + 1, e)", "Page wanted": "p"},
        delay="@+fread_ns",
    )
    page.transition(
        "Next page",
        (2, 1),
        takes={"Page read": "q", "In progress": "(p, e)"},
        gives={"In progress": "(p + 1, e)", "Page wanted": "p"},
        guard="p < e",
    )
    page.transition(
        "End",
        (1, 2),
        takes={"Page read": "q", "In progress": "(p, e)"},
        gives={"Block read": "()"},
        guard="p >= e",
    )
    return page


def _generic_file_read(net: Net) -> Sheet:
    page = Sheet(net, "generic_file_read")
    page.place("Page wanted", "PAGE", (0, 0), port="in")
    page.place("Look up", "PAGE", (2, 0), port="out")
    page.transition(
        "Read page", (1, 0), takes={"Page wanted": "p"}, gives={"Look up": "p"}, delay="@+look_up_ns"
    )
    return page


def _copy(net: Net, lists_calls: bool) -> Sheet:
    page = Sheet(net, "Copy to user")
    page.place("Found", "PAGE", (0, 0), port="in")
    page.place("Page read", "PAGE", (2, 0), port="out")
    if lists_calls:
        listed.call_pages(page)
    page.transition(
        "Copy page",
        (1, 0),
        takes={"Found": "p"},
        keeps={"Call pages": "n"} if lists_calls else {},
        gives={"Page read": "p"},
        delay=f"@+{listed.COPY_NS}" if lists_calls else "@+copy_ns",
    )
    return page


def _prefetch(net: Net) -> Sheet:
    """Draw how a missing page becomes a request for it and the pages behind it that are not cached."""
    page = Sheet(net, "Prefetch")
    page.place("Missing", "PAGE", (0, 0), port="in")
    page.place("Window", "WINDOW", (1, 1))
    page.place("Not cached", "INT", (2, 1), port="in/out")
    page.place("Requests", "BLOCK", (1, 3), port="out")
    page.transition("Begin", (1, 0), takes={"Missing": "p"}, gives={"Window": "(p, p + 1, window_end p)"})
    page.transition(
        "Next page",
        (2, 2),
        takes={"Window": "(p, q, e)", "Not cached": "q"},
        gives={"Window": "(p, q + 1, e)"},
        guard="q < e",
    )
    page.transition(
        "Request", (1, 2), takes={"Window": "(p, q, e)"}, gives={"Requests": "(p, q)"}, priority="P_LOW"
    )
    return page


def _scheduler(net: Net) -> Sheet:
    """Draw the I/O scheduler: a queue, first come, first served."""
    page = Sheet(net, "I/O scheduler")
    page.place("Requests", "BLOCK", (0, 0), port="in")
    page.place("Queue", "RANGES", (1, 1), "1`[]")
    page.place("Disk idle", "UNIT", (3, 1), port="in")
    page.place("Dispatched", "BLOCK", (3, 0), port="out")
    page.transition(
        "Add", (0, 1), takes={"Requests": "(p, e)", "Queue": "rs"}, gives={"Queue": "rs ^^ [(p, e)]"}
    )
    page.transition(
        "Dispatch",
        (2, 1),
        takes={"Disk idle": "()", "Queue": "(p, e) :: rs"},
        gives={"Queue": "rs", "Dispatched": "(p, e)"},
    )
    return page


def _disk(net: Net) -> Sheet:
    """Draw the disk: it positions, unless a request goes on where the last one ended, and transfers pages."""
    page = Sheet(net, "Disk")
    page.place("Dispatched", "BLOCK", (0, 0), port="in")
    page.place("Head", "INT", (1, 1), "1`~1")
    page.place("Transferring", "BLOCK", (2, 0))
    page.place("Arrived", "PAGE", (3, 1), port="out")
    page.place("Disk idle", "UNIT", (2, 2), "1`()", port="out")
    page.transition(
        "Position",
        (1, 0),
        takes={"Dispatched": "(p, e)", "Head": "q"},
        gives={"Transferring": "(p, e)@+(if p = q then 0 else disk_position_ns)", "Head": "e"},
    )
    page.transition(
        "Transfer page",
        (3, 0),
        takes={"Transferring": "(p, e)"},
        gives={"Transferring": "(p + 1, e)", "Arrived": "p"},
        guard="p < e",
        delay="@+disk_page_ns",
    )
    page.transition(
        "End", (2, 1), takes={"Transferring": "(p, e)"}, gives={"Disk idle": "()"}, guard="p >= e"
    )
    return page
