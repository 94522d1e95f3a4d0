"""Pages of the net of writes to ext3 about its journal: commits for fsync and timer, checkpoints of data.

Source: sections 4.4 and 5.7 of the dissertation. Ordered and write-back mode are one, as there: data go to
their places, then a commit record into the log. With data in the journal they go into the log, and to their
places when the free part of the journal has fallen to `1 / checkpoint_part`; writers wait for that.
"""

from pagecast.petri.net import Net
from pagecast.petri.nets.sheet import Sheet

__all__ = ["checkpoint_page", "commit_page"]


def commit_page(net: Net) -> Sheet:
    """Draw commits: a record when all is durable that the transaction has; then an fsync returns."""
    page = Sheet(net, "Commit")
    page.place("Transactions", "TRANSACTIONS", (0, 0), port="in/out")
    page.place("Durable", "INT", (2, 0), port="in/out")
    page.place("Committed", "INT", (0, 1), "1`0")
    page.place("Journal", "JOURNAL", (2, -1), port="in/out")
    page.place("Slots", "TOKEN", (3, -1), port="in/out")
    page.place("Queue", "REQUESTS", (3, 0), port="in/out")
    page.place("Committing", "TRANSACTION", (2, 1))
    page.place("Written", "WRITTEN", (2, 2), port="in")
    page.place("Synced", "UNIT", (0, 2), port="out")
    page.transition(
        "Commit",
        (1, 0),
        takes={
            "Transactions": "(t, b) :: ts",
            "Committed": "k",
            "Journal": "(j, z, f)",
            "Slots": "()",
            "Queue": "rs",
        },
        keeps={"Durable": "w"},
        gives={
            "Transactions": "ts",
            "Committing": "(t, b)",
            "Journal": "(j + commit_pages, z, f)",
            "Queue": "rs ^^ [(log_position j, t, commit)]",
        },
        guard="[w >= t, t > k]",
        priority="50",
    )
    page.transition(
        "Nothing to commit",
        (-1, 1),
        takes={"Transactions": "(t, b) :: ts"},
        keeps={"Committed": "k"},
        gives={"Transactions": "ts", "Synced": "if b then 1`() else empty"},
        guard="t <= k",
        priority="50",
    )
    page.transition(
        "Committed",
        (1, 2),
        takes={"Written": "(q, t, commit)", "Committing": "(t, b)"},
        gives={"Committed": "t", "Synced": "if b then 1`() else empty", "Slots": "()"},
        priority="50",
    )
    return page


def checkpoint_page(net: Net) -> Sheet:
    """Draw checkpoints: logged pages go to their places when the journal runs out of free space."""
    page = Sheet(net, "Checkpoint")
    page.place("Journal open", "TOKEN", (0, 0), port="in/out")
    page.place("Journal", "JOURNAL", (2, 0), port="in/out")
    page.place("Logged queue", "RANGE", (2, 1), port="in/out")
    page.place("Checkpointing", "INT", (0, 1))
    page.place("Checkpointed", "INT", (0, 2), "1`0")
    page.place("Logged", "RANGE", (2, 2), port="in")
    page.place("Slots", "TOKEN", (3, 1), port="in/out")
    page.place("Queue", "REQUESTS", (3, 2), port="in/out")
    page.place("Written", "WRITTEN", (1, 3), port="in")
    page.transition(
        "Begin",
        (1, 0),
        takes={"Journal open": "()"},
        keeps={"Journal": "(j, z, f)", "Logged queue": "(k, m)"},
        gives={"Checkpointing": "m"},
        guard="[logs_data, f <= checkpoint_pages, m > k, m >= z]",
        priority="P_HIGH",
    )
    page.transition(
        "Write to its place",
        (1, 1),
        takes={
            "Checkpointing": "e",
            "Logged queue": "(k, m)",
            "Logged": "(k, p)",
            "Slots": "()",
            "Queue": "rs",
        },
        gives={
            "Checkpointing": "e",
            "Logged queue": "(k + 1, m)",
            "Queue": "rs ^^ [(p, k, checkpoint)]",
        },
        guard="k < e",
        priority="P_HIGH",
    )
    page.transition(
        "Written",
        (1, 2),
        takes={"Written": "(q, k, checkpoint)", "Checkpointed": "n", "Journal": "(j, z, f)"},
        gives={"Checkpointed": "n + 1", "Journal": "(j, z, f + 1)", "Slots": "()"},
        priority="P_HIGH",
    )
    page.transition(
        "End",
        (-1, 1),
        takes={"Checkpointing": "e"},
        keeps={"Checkpointed": "n"},
        gives={"Journal open": "()"},
        guard="n >= e",
        priority="P_HIGH",
    )
    return page
