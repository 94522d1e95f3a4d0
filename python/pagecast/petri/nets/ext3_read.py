"""The net of reads from ext3: application, fread, the page cache with two lists, prefetch, disk.

Source: sections 4.3 and 4.5 of the dissertation on Petri nets of ext3 and PVFS, from its text: its drawings
(Figures 19 to 25) were not seen, and no constant is printed. Times are whole nanoseconds.

Left out: metadata, other programs, an I/O scheduler that sorts (the dissertation has none either).
"""

from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets import shared
from pagecast.petri.nets.sheet import Sheet

__all__ = ["ext3_read"]

READ: Final = (
    "val cache_pages = 1048576;",
    "val cached_pages = 0;",
    "val ageing_ns = 30000000000;",
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


TIMER: Final = "1`()@ageing_ns"
"""The timer of ageing, until it is due for the first time."""


def ext3_read() -> Net:
    """Build the net.

    Returns
    -------
    Net
    """
    net = Net("ext3-read")
    net.declare(
        *shared.COLOURS,
        "colset WINDOW = product INT * INT * INT timed;",
        "colset ENTRY = product INT * INT * BOOL * BOOL;",
        "colset RANGES = list RANGE;",
        "var rs : RANGES;",
        *shared.PROGRAM,
        *shared.COPY,
        *READ,
    )
    top = Sheet(net, "ext3 read")
    top.place("To read", "BLOCK", (0, 1))
    top.place("Block read", "UNIT", (1, 0))
    top.place("Page wanted", "PAGE", (2, 1))
    top.place("Page read", "PAGE", (3, 0))
    top.place("Look up", "PAGE", (4, 1))
    top.place("Found", "PAGE", (5, 0))
    top.place("Missing", "PAGE", (5, 2))
    top.place("Not cached", "INT", (6, 2), shared.numbers("file_pages - cached_pages", "cached_pages"))
    top.place("Requests", "BLOCK", (4, 3))
    top.place("Dispatched", "BLOCK", (2, 3))
    top.place("Disk idle", "UNIT", (3, 2.5), "1`()")
    top.place("Arrived", "PAGE", (4, 2))
    top.stands("Application", (0, 0), shared.application(net, "To read", "Block read", timer=TIMER))
    top.stands("fread", (1, 1), _fread(net))
    top.stands("generic_file_read", (3, 1), _generic_file_read(net))
    top.stands("Copy to user", (4, 0), _copy(net))
    top.stands("Page cache", (5, 1), _page_cache(net))
    top.stands("Prefetch", (5, 3), _prefetch(net))
    top.stands("I/O scheduler", (3, 3), _scheduler(net))
    top.stands("Disk", (3, 2), _disk(net))
    return net


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


def _copy(net: Net) -> Sheet:
    page = Sheet(net, "Copy to user")
    page.place("Found", "PAGE", (0, 0), port="in")
    page.place("Page read", "PAGE", (2, 0), port="out")
    page.transition("Copy page", (1, 0), takes={"Found": "p"}, gives={"Page read": "p"}, delay="@+copy_ns")
    return page


def _page_cache(net: Net) -> Sheet:
    """Draw the two lists (Figure 22) and the pages that change them.

    A list is a queue of numbered slots: the next one to leave, and the next free one.
    """
    page = Sheet(net, "Page cache")
    page.place("Look up", "PAGE", (0, 0), port="in/out")
    page.place("Found", "PAGE", (2, 0), port="out")
    page.place("Missing", "PAGE", (0, 1), port="out")
    page.place("Arrived", "PAGE", (0, 2.5), port="in/out")
    page.place("Not cached", "INT", (2, 3.5), port="in/out")
    entries = "List.tabulate (cached_pages, fn i => (i, i, false, false))"
    page.place("Inactive list", "ENTRY", (2, 1), entries)
    page.place("Active list", "ENTRY", (3, 1))
    page.place("Inactive queue", "RANGE", (2, 2), "1`(0, cached_pages)")
    page.place("Active queue", "RANGE", (3, 2), "1`(0, 0)")
    page.place("Holes", "INT", (1, 2))
    page.stands("Access", (1, 0.6), _access(net))
    page.stands("Insert and reclaim", (1, 3), _insert(net))
    page.stands("Ageing", (3, 3), _ageing(net))
    return page


def _access(net: Net) -> Sheet:
    """Draw the accesses to a page: the first sets a flag, the second moves it to the active list."""
    page = Sheet(net, "Access")
    page.place("Look up", "PAGE", (0, 1), port="in/out")
    page.place("Found", "PAGE", (2, 1), port="out")
    page.place("Missing", "PAGE", (2, 3), port="out")
    page.place("Not cached", "INT", (0, 3), port="in/out")
    page.place("Inactive list", "ENTRY", (0, 0), port="in/out")
    page.place("Active list", "ENTRY", (2, 2), port="in/out")
    page.place("Active queue", "RANGE", (0, 2), port="in/out")
    page.place("Holes", "INT", (2, 0), port="out")
    page.transition(
        "First access",
        (1, 0),
        takes={"Look up": "p", "Inactive list": "(h, p, a, b)"},
        gives={"Found": "p", "Inactive list": "(h, p, true, b)"},
        guard="not a",
    )
    page.transition(
        "Second access",
        (1, 1),
        takes={"Look up": "p", "Inactive list": "(h, p, a, b)", "Active queue": "(k, m)"},
        gives={"Found": "p", "Active list": "(m, p, true, true)", "Active queue": "(k, m + 1)", "Holes": "h"},
        guard="a",
    )
    page.transition(
        "Later access",
        (1, 2),
        takes={"Look up": "p", "Active list": "(k, p, a, b)"},
        gives={"Found": "p", "Active list": "(k, p, true, b)"},
    )
    page.transition(
        "Miss",
        (1, 3),
        takes={"Look up": "p", "Not cached": "p"},
        gives={"Look up": "p", "Missing": "p"},
    )
    return page


def _insert(net: Net) -> Sheet:
    """Draw how a page from the disk gets into the inactive list, and how memory is reclaimed for it."""
    page = Sheet(net, "Insert and reclaim")
    page.place("Arrived", "PAGE", (0, 0), port="in/out")
    page.place("Free pages", "INT", (0, 1), "1`(cache_pages - cached_pages)")
    page.place("Inactive queue", "RANGE", (2, 0), port="in/out")
    page.place("Inactive list", "ENTRY", (2, 1), port="in/out")
    page.place("Holes", "INT", (3.5, 0), port="in")
    page.place("Not cached", "INT", (0, 2), port="out")
    page.place("Active queue", "RANGE", (3.5, 2), port="in/out")
    page.place("Active list", "ENTRY", (2, 3), port="in/out")
    page.transition(
        "Insert",
        (1, 0),
        takes={"Arrived": "p", "Free pages": "n", "Inactive queue": "(h, t)"},
        gives={
            "Free pages": "n - 1",
            "Inactive queue": "(h, t + 1)",
            "Inactive list": "(t, p, false, false)",
        },
        guard="n > 0",
        priority="P_HIGH",
    )
    page.transition(
        "Reclaim inactive",
        (1, 1),
        takes={"Free pages": "0", "Inactive queue": "(h, t)", "Inactive list": "(h, q, a, b)"},
        keeps={"Arrived": "p"},
        gives={"Free pages": "1", "Inactive queue": "(h + 1, t)", "Not cached": "q"},
        priority="P_HIGH",
    )
    page.transition(
        "Reclaim active",
        (1, 2.5),
        takes={"Free pages": "0", "Active queue": "(k, m)", "Active list": "(k, q, a, b)"},
        keeps={"Arrived": "p", "Inactive queue": "(h, t)"},
        gives={"Free pages": "1", "Active queue": "(k + 1, m)", "Not cached": "q"},
        guard="h = t",
        priority="P_HIGH",
    )
    page.transition(
        "Skip a hole",
        (2.8, -0.6),
        takes={"Holes": "h", "Inactive queue": "(h, t)"},
        gives={"Inactive queue": "(h + 1, t)"},
        priority="P_HIGH",
    )
    return page


def _ageing(net: Net) -> Sheet:
    """Draw the timer that goes through the active list.

    A page that was not accessed since the last time goes back to the inactive list.
    """
    page = Sheet(net, "Ageing")
    page.place("Timer", "UNIT", (0, 0), TIMER, fusion="Timer")
    page.place("Aged up to", "INT", (1, 1))
    page.place("Active queue", "RANGE", (2, 0), port="in/out")
    page.place("Active list", "ENTRY", (2, 1), port="in/out")
    page.place("Inactive queue", "RANGE", (2, 3), port="in/out")
    page.place("Inactive list", "ENTRY", (0, 3), port="out")
    page.transition(
        "Begin ageing",
        (1, 0),
        takes={"Timer": "()"},
        keeps={"Active queue": "(k, m)"},
        gives={"Timer": "()@+ageing_ns", "Aged up to": "m"},
        priority="P_HIGH",
    )
    page.transition(
        "Accessed",
        (3, 1),
        takes={"Active queue": "(k, m)", "Active list": "(k, p, a, b)"},
        keeps={"Aged up to": "e"},
        gives={"Active queue": "(k + 1, m + 1)", "Active list": "(m, p, false, b)"},
        guard="k < e andalso a",
        priority="P_HIGH",
    )
    page.transition(
        "Not accessed",
        (1, 2),
        takes={"Active queue": "(k, m)", "Active list": "(k, p, a, b)", "Inactive queue": "(h, t)"},
        keeps={"Aged up to": "e"},
        gives={
            "Active queue": "(k + 1, m)",
            "Inactive queue": "(h, t + 1)",
            "Inactive list": "(t, p, false, false)",
        },
        guard="k < e andalso not a",
        priority="P_HIGH",
    )
    page.transition(
        "End ageing",
        (0, 1),
        takes={"Aged up to": "e"},
        keeps={"Active queue": "(k, m)"},
        guard="k >= e",
        priority="P_HIGH",
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
