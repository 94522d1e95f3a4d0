"""Pages of the nets of reads about the page cache: two lists with two flags, reclaim, ageing.

Source: section 4.3 and Figure 22 of the dissertation. It gives no time of ageing, and reclaims only in part.
Ours: ageing is a timer; inactive pages are reclaimed first, in the order of the list, then active ones.
"""

from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets.sheet import Sheet

__all__ = ["TIMER", "page_cache"]

TIMER: Final = "1`()@ageing_ns"
"""The timer of ageing, until it is due for the first time."""


def page_cache(net: Net, *, ages: bool = True) -> Sheet:
    """Draw the two lists (Figure 22) and the pages that change them.

    A list is a queue of numbered slots: the next one to leave, and the next free one.

    Parameters
    ----------
    net : Net
    ages : bool
        False for a file system without the timer of ageing.

    Returns
    -------
    Sheet
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
    if ages:
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
