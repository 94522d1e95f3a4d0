"""Pages of the net of writes to ext3 that flush dirty pages: four triggers, the flush, the end of a write.

Source: section 4.4 of the dissertation, which shows them in Figures 27 and 28.
"""

from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets.sheet import Sheet

__all__ = ["TIMER", "end_page", "flush_page", "triggers_page"]

TIMER: Final = "1`()@flush_ns"
"""The timer of flushing, until it is due for the first time."""


def triggers_page(net: Net, *, has_timer: bool = True) -> Sheet:
    """Draw the triggers: timer, dirty pages above a threshold, low memory, fsync.

    Each lets all pages be flushed that are dirty by then.

    Parameters
    ----------
    net : Net
    has_timer : bool
        False for a file system that only the others flush.

    Returns
    -------
    Sheet
    """
    page = Sheet(net, "Flush triggers")
    page.place("Dirty pages", "INT", (0, 1.5), port="in/out")
    page.place("To sync", "UNIT", (0, 3), port="in")
    page.place("Dirty queue", "RANGE", (2.2, 1), port="in/out")
    page.place("Flush up to", "INT", (2.2, 2), port="in/out")
    page.place("Transactions", "TRANSACTIONS", (3.2, 1.5), port="in/out")
    if has_timer:
        page.place("Timer", "UNIT", (0, 0), TIMER, fusion="Timer")
        page.transition(
            "Timer is due",
            (1, 0),
            takes={"Timer": "()", "Flush up to": "e", "Transactions": "ts"},
            keeps={"Dirty queue": "(h, t)"},
            gives={"Timer": "()@+flush_ns", "Flush up to": "t", "Transactions": "ts ^^ [(t, false)]"},
            priority="P_HIGH",
        )
    for name, row, limit in (("Too many dirty", 1, "dirty_limit_pages"), ("Low memory", 2, "memory_pages")):
        page.transition(
            name,
            (1, row),
            takes={"Dirty pages": "n", "Flush up to": "e"},
            keeps={"Dirty queue": "(h, t)"},
            gives={"Dirty pages": "n", "Flush up to": "t"},
            guard=f"[n >= {limit}, t > e]",
            priority="P_HIGH",
        )
    page.transition(
        "fsync",
        (1, 3),
        takes={"To sync": "()", "Flush up to": "e", "Transactions": "ts"},
        keeps={"Dirty queue": "(h, t)"},
        gives={"Flush up to": "t", "Transactions": "ts ^^ [(t, true)]"},
        priority="P_HIGH",
    )
    return page


def flush_page(net: Net) -> Sheet:
    """Draw the flush of a dirty page: to its place, or into the log where the journal has data."""
    page = Sheet(net, "Flush")
    page.place("Flush up to", "INT", (0, 0), port="in/out")
    page.place("Dirty queue", "RANGE", (0, 1), port="in/out")
    page.place("Dirty list", "RANGE", (0, 2), port="in")
    page.place("Clean", "INT", (2, 0), port="out")
    page.place("Slots", "TOKEN", (2, 1), port="in/out")
    page.place("Queue", "REQUESTS", (2, 2), port="in/out")
    page.place("Journal open", "TOKEN", (0, 3), port="in/out")
    page.place("Journal", "JOURNAL", (1, 3), port="in/out")
    page.place("Logged", "RANGE", (2, 3), port="out")
    flushed = {"Flush up to": "e", "Dirty queue": "(h, t)", "Dirty list": "(h, p)"}
    left = {"Flush up to": "e", "Dirty queue": "(h + 1, t)", "Clean": "p"}
    page.transition(
        "Write back",
        (1, 0.5),
        takes={**flushed, "Slots": "()", "Queue": "rs"},
        gives={**left, "Queue": "rs ^^ [(p, h, in_place)]"},
        guard="[not logs_data, h < e]",
        priority="P_HIGH",
    )
    page.transition(
        "Log",
        (1, 2),
        takes={**flushed, "Journal": "(j, z, f)", "Slots": "()", "Queue": "rs"},
        keeps={"Journal open": "()"},
        gives={
            **left,
            "Journal": "(j + 1, z + 1, f - 1)",
            "Logged": "(z, p)",
            "Queue": "rs ^^ [(log_position j, h, in_log)]",
        },
        guard="[logs_data, h < e, f > checkpoint_pages]",
        priority="P_HIGH",
    )
    return page


def end_page(net: Net) -> Sheet:
    """Draw the end of a write: the page is not dirty any more, and durable."""
    page = Sheet(net, "End of a write")
    page.place("Written", "WRITTEN", (0, 0.5), port="in")
    page.place("Dirty pages", "INT", (2, 0), port="in/out")
    page.place("Durable", "INT", (2, 1), port="in/out")
    page.place("Slots", "TOKEN", (1, 2), port="out")
    page.place("Logged queue", "RANGE", (2, 2), port="in/out")
    counts = {"Dirty pages": "n", "Durable": "w"}
    after = {"Dirty pages": "n - 1", "Durable": "w + 1", "Slots": "()"}
    page.transition(
        "Data written",
        (1, 0),
        takes={"Written": "(q, h, in_place)", **counts},
        gives=after,
        priority="P_HIGH",
    )
    page.transition(
        "Data logged",
        (1, 1),
        takes={"Written": "(q, h, in_log)", **counts, "Logged queue": "(k, m)"},
        gives={**after, "Logged queue": "(k, m + 1)"},
        priority="P_HIGH",
    )
    return page
