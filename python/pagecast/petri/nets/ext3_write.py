"""The net of writes to ext3: application, fwrite, the write call, dirty pages, journal, flushing, disk.

Source: sections 4.4 and 5.5 to 5.8 of the dissertation on Petri nets of ext3 and PVFS, from its text: its
drawings (Figures 26 to 29) were not seen, and no constant is printed. Times are whole nanoseconds.
`ext3_flush` and `ext3_journal` have more pages of this net.

Left out: metadata but for a commit record, which takes no space in the journal; reads; the memory of clean
pages, which is taken when it is needed.
"""

from collections.abc import Sequence
from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets import calls as listed
from pagecast.petri.nets import shared
from pagecast.petri.nets.ext3_flush import TIMER, end_page, flush_page, triggers_page
from pagecast.petri.nets.ext3_journal import checkpoint_page, commit_page
from pagecast.petri.nets.sheet import Sheet

__all__ = ["COLOURS", "WRITE", "ext3_write", "file_system"]

COLOURS: Final = (
    "colset MODE = with ordered | writeback | data;",
    "colset KIND = with in_place | in_log | checkpoint | commit;",
    "colset REQUEST = product INT * INT * KIND;",
    "colset WRITTEN = product INT * INT * KIND timed;",
    "colset REQUESTS = list REQUEST;",
    "colset TRANSACTION = product INT * BOOL;",
    "colset TRANSACTIONS = list TRANSACTION;",
    "colset JOURNAL = product INT * INT * INT;",
    "var c : KIND;",
    "var rs : REQUESTS;",
    "var ts : TRANSACTIONS;",
)
"""Requests: place on the disk, slot of a list, kind. Transactions: last slot, whether an fsync waits.

Journal: next place in the log, number of logged pages, free pages.
"""

WRITE: Final = (
    "val journal_mode = ordered;",
    "val is_synchronous = false;",
    "val memory_pages = 1048576;",
    "val dirty_limit_pages = 131072;",
    "val flush_ns = 1000000000;",
    "val journal_pages = 32768;",
    "val checkpoint_part = 2;",
    "val commit_pages = 1;",
    "val fwrite_ns = 500;",
    "val begin_ns = 500;",
    "val commit_write_ns = 500;",
    "val queue_requests = 128;",
    "val disk_position_ns = 7700000;",
    "val disk_page_ns = 68840;",
    "val logs_data = journal_mode = data andalso not is_synchronous;",
    "val checkpoint_pages = journal_pages div checkpoint_part;",
    "val most_dirty = if dirty_limit_pages < memory_pages then dirty_limit_pages else memory_pages;",
    "fun log_position j = 2 * file_pages + j mod journal_pages;",
    "fun pages_of c = if c = commit then commit_pages else 1;",
    "fun service_ns (q, h, c) = (if q = h then 0 else disk_position_ns) + pages_of c * disk_page_ns;",
)
"""Journal mode, memory, limits, the journal's size and the free part that starts a checkpoint; times."""


def ext3_write(calls: Sequence[listed.Call] | None = None) -> Net:
    """Build the net.

    Parameters
    ----------
    calls : sequence of Call, optional
        The program writes these, instead of blocks of one size; calls without pages are fsyncs.

    Returns
    -------
    Net
    """
    net = Net("ext3-write")
    net.declare(*shared.COLOURS, "colset TOKEN = unit;", *COLOURS, *shared.PROGRAM, *shared.COPY, *WRITE)
    if calls is None:
        application = shared.application(net, "To write", "Block written", timer=TIMER, closes=True)
    else:
        net.declare(*listed.COLOURS)
        application = listed.listed_calls(net, "To write", "Block written", calls, timer=TIMER, syncs=True)
    top = Sheet(net, "ext3 write")
    top.place("To write", "BLOCK", (0, 1))
    top.place("Block written", "UNIT", (1, 0), "1`()")
    file_system(net, top, lists_calls=calls is not None)
    top.stands("Application", (0, 0), application)
    return net


def file_system(net: Net, page: Sheet, *, has_timer: bool = True, lists_calls: bool = False) -> None:
    """Draw a local file system beside the places "To write" and "Block written" of a page.

    Parameters
    ----------
    net : Net
    page : Sheet
    has_timer : bool
        Draws the timer of flushing.
    lists_calls : bool
        The size of a call, and with it the time to copy a page, changes from call to call.
    """
    page.place("Call", "PAGE", (2, 0))
    page.place("Page written", "PAGE", (2, 1))
    page.place("To sync", "UNIT", (0, 2))
    page.place("Synced", "UNIT", (1, 2))
    page.place("Dirty pages", "INT", (4, -1), "1`0")
    page.place("Clean", "INT", (4, 0), shared.numbers("file_pages"))
    page.place("Dirty list", "RANGE", (4, 1))
    page.place("Dirty queue", "RANGE", (5, -1), "1`(0, 0)")
    page.place("Transactions", "TRANSACTIONS", (3, 3), "1`[]")
    page.place("Durable", "INT", (4, 3), "1`0")
    page.place("Journal open", "TOKEN", (3, 2), "1`()")
    page.place("Journal", "JOURNAL", (4, 2), "1`(0, 0, journal_pages)")
    page.place("Logged", "RANGE", (5, 2))
    page.place("Logged queue", "RANGE", (5, 3), "1`(0, 0)")
    page.place("Slots", "TOKEN", (3, 4), "queue_requests`()")
    page.place("Queue", "REQUESTS", (4, 4), "1`[]")
    page.place("Written", "WRITTEN", (5, 4))
    page.stands("fwrite", (1, 1), _fwrite(net))
    page.stands("Write call", (3, 0), _write_call(net, lists_calls))
    page.stands("Flushing", (5, 1), _flushing(net, has_timer))
    page.stands("Journaling", (2, 3), _journaling(net))
    page.stands("Disk", (4, 5), _disk(net))


def _fwrite(net: Net) -> Sheet:
    """Draw fwrite: a block page by page, and in synchronous mode an fsync behind it."""
    page = Sheet(net, "fwrite")
    page.place("To write", "BLOCK", (0, 0), port="in")
    page.place("Call", "PAGE", (2, 0), port="out")
    page.place("In progress", "RANGE", (1, 1))
    page.place("Page written", "PAGE", (0, 2), port="in")
    page.place("Block written", "UNIT", (2, 2), port="out")
    page.place("To sync", "UNIT", (0, 3), port="out")
    page.place("Syncing", "UNIT", (1, 3))
    page.place("Synced", "UNIT", (2, 4), port="in")
    page.transition(
        "Begin",
        (1, 0),
        takes={"To write": "(p, e)"},
        gives={"In progress": "(p + 1, e)", "Call": "p"},
        delay="@+fwrite_ns",
    )
    page.transition(
        "Next page",
        (2, 1),
        takes={"Page written": "q", "In progress": "(p, e)"},
        gives={"In progress": "(p + 1, e)", "Call": "p"},
        guard="p < e",
    )
    sync = "if is_synchronous then 1`() else empty"
    page.transition(
        "End",
        (1, 2),
        takes={"Page written": "q", "In progress": "(p, e)"},
        gives={
            "Block written": "if is_synchronous then empty else 1`()",
            "To sync": sync,
            "Syncing": sync,
        },
        guard="p >= e",
    )
    page.transition(
        "Request synced", (2, 3), takes={"Syncing": "()", "Synced": "()"}, gives={"Block written": "()"}
    )
    return page


def _write_call(net: Net, lists_calls: bool) -> Sheet:
    """Draw the write system call: begin, copy, commit (Figure 26).

    It begins when fewer pages are dirty than may be, and no checkpoint is going on.
    """
    page = Sheet(net, "Write call")
    page.place("Call", "PAGE", (0, 0), port="in")
    page.place("Begun", "PAGE", (2, 0))
    page.place("Copied", "PAGE", (2, 1))
    page.place("Page written", "PAGE", (0, 2), port="out")
    page.place("Journal open", "TOKEN", (0, -1), port="in/out")
    page.place("Dirty pages", "INT", (1, 1), "", port="in/out")
    page.place("Clean", "INT", (3, 1), port="in")
    page.place("Dirty queue", "RANGE", (3, 2), port="in/out")
    page.place("Dirty list", "RANGE", (2, 3), port="in/out")
    page.transition(
        "Begin",
        (1, 0),
        takes={"Call": "p"},
        keeps={"Journal open": "()", "Dirty pages": "n"},
        gives={"Begun": "p"},
        guard="n < most_dirty",
        delay="@+begin_ns",
    )
    if lists_calls:
        listed.call_pages(page)
    page.transition(
        "Copy",
        (3, 0),
        takes={"Begun": "p"},
        keeps={"Call pages": "n"} if lists_calls else {},
        gives={"Copied": "p"},
        delay=f"@+{listed.COPY_NS}" if lists_calls else "@+copy_ns",
    )
    page.transition(
        "Commit",
        (2, 2),
        takes={"Copied": "p", "Clean": "p", "Dirty queue": "(h, t)", "Dirty pages": "n"},
        gives={
            "Page written": "p",
            "Dirty list": "(t, p)",
            "Dirty queue": "(h, t + 1)",
            "Dirty pages": "n + 1",
        },
        delay="@+commit_write_ns",
    )
    page.transition(
        "Commit again",
        (1, 3),
        takes={"Copied": "p"},
        keeps={"Dirty list": "(k, p)"},
        gives={"Page written": "p"},
        delay="@+commit_write_ns",
    )
    return page


def _flushing(net: Net, has_timer: bool) -> Sheet:
    """Draw what flushes dirty pages: the triggers, the flush itself, and the end of a write."""
    page = Sheet(net, "Flushing")
    page.place("To sync", "UNIT", (0, 0), port="in")
    page.place("Transactions", "TRANSACTIONS", (0, 1), port="in/out")
    page.place("Dirty pages", "INT", (1, 1), port="in/out")
    page.place("Dirty queue", "RANGE", (2, 0), port="in/out")
    page.place("Flush up to", "INT", (2, 1), "1`0")
    page.place("Dirty list", "RANGE", (3, 0), port="in")
    page.place("Clean", "INT", (4, 0), port="out")
    page.place("Journal open", "TOKEN", (4, 1), port="in/out")
    page.place("Journal", "JOURNAL", (4, 2), port="in/out")
    page.place("Logged", "RANGE", (3, 2), port="out")
    page.place("Slots", "TOKEN", (2, 2), port="in/out")
    page.place("Queue", "REQUESTS", (3, 3), port="in/out")
    page.place("Durable", "INT", (0, 2), port="in/out")
    page.place("Logged queue", "RANGE", (0, 3), port="in/out")
    page.place("Written", "WRITTEN", (1, 3), port="in")
    page.stands("Triggers", (1, 0), triggers_page(net, has_timer=has_timer))
    page.stands("Flush", (3, 1), flush_page(net))
    page.stands("End of a write", (1, 2), end_page(net))
    return page


def _journaling(net: Net) -> Sheet:
    """Draw the journal: commits, and checkpoints of logged data."""
    page = Sheet(net, "Journaling")
    page.place("Transactions", "TRANSACTIONS", (0, 0), port="in/out")
    page.place("Durable", "INT", (1, 0), port="in/out")
    page.place("Synced", "UNIT", (0, 1), port="out")
    page.place("Journal", "JOURNAL", (2, 0), port="in/out")
    page.place("Slots", "TOKEN", (2, 1), port="in/out")
    page.place("Queue", "REQUESTS", (2, 2), port="in/out")
    page.place("Written", "WRITTEN", (1, 2), port="in")
    page.place("Journal open", "TOKEN", (3, 0), port="in/out")
    page.place("Logged", "RANGE", (4, 1), port="in")
    page.place("Logged queue", "RANGE", (3, 2), port="in/out")
    page.stands("Commit", (1, 1), commit_page(net))
    page.stands("Checkpoint", (3, 1), checkpoint_page(net))
    return page


def _disk(net: Net) -> Sheet:
    """Draw the I/O scheduler and the disk: a queue, and a service with a position unless pages follow on."""
    page = Sheet(net, "Disk")
    page.place("Queue", "REQUESTS", (0, 0), port="in/out")
    page.place("Disk idle", "UNIT", (1, 1), "1`()")
    page.place("Dispatched", "WRITTEN", (2, 0))
    page.place("Head", "INT", (3, 1), "1`~1")
    page.place("Written", "WRITTEN", (4, 0), port="out")
    page.transition(
        "Dispatch",
        (1, 0),
        takes={"Disk idle": "()", "Queue": "(q, k, c) :: rs"},
        gives={"Queue": "rs", "Dispatched": "(q, k, c)"},
    )
    page.transition(
        "Write",
        (3, 0),
        takes={"Dispatched": "(q, k, c)", "Head": "h"},
        gives={"Written": "(q, k, c)", "Disk idle": "()", "Head": "q + pages_of c"},
        delay="@+service_ns (q, h, c)",
    )
    return page
