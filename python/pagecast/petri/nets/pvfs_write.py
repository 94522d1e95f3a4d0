"""The net of writes to PVFS: clients stripe and segment, servers put a client's write together and write it.

Source: section 6.4 of the dissertation on Petri nets of ext3 and PVFS. The local file systems are pages of
`ext3_write`.

Left out: the timer of flushing in the servers, and an fsync at the end; both limits of dirty pages flush.
"""

from pagecast.petri.net import Net
from pagecast.petri.nets import ext3_write, shared
from pagecast.petri.nets.pvfs_hosts import client_stack, declared, device, draw_hosts, program, segmentation
from pagecast.petri.nets.sheet import Sheet

__all__ = ["pvfs_write"]


def pvfs_write(clients: int = 8, servers: int = 4) -> Net:
    """Build the net for so many clients and servers.

    Parameters
    ----------
    clients, servers : int
        At least 1 each.

    Returns
    -------
    Net
    """
    net = Net("pvfs-write")
    net.declare(
        *shared.COLOURS,
        *ext3_write.COLOURS,
        *declared(clients, servers),
        "val block_pages = 1;",
        *shared.COPY,
        *ext3_write.WRITE,
    )
    nic, cut = device(net), segmentation(net)
    top = Sheet(net, "pvfs write")
    draw_hosts(net, top, _client(net, nic, cut), _server(net, nic, clients), clients, servers)
    return net


def _client(net: Net, nic: Sheet, cut: Sheet) -> Sheet:
    page = Sheet(net, "Client")
    page.place("Number", "INT", (0, 0), port="in/out")
    page.place("Finished", "NUMBER", (0, 2), port="out")
    page.place("Block", "BLOCK", (2, 0))
    page.place("Block done", "UNIT", (2, 2))
    page.place("Missing", "INT", (3, 1), "1`0")
    page.place("Outstanding", "TOKEN", (4, 1))
    page.place("Payloads", "PAYLOADS", (4, 0), "1`[]")
    page.place("Device buffer", "PACKETS", (6, 0), "1`[]")
    page.place("At multiplexer", "FRAME", (7, 1), port="out")
    page.place("To host", "FRAME", (5, 2), port="in")
    page.stands("Program", (1, 1), program(net))
    page.stands("Striping", (3, 0), _striping(net))
    page.stands("Segmentation", (5, 0), cut)
    page.stands("Device", (7, 0), nic)
    page.stands("Stack", (3, 2), client_stack(net))
    return page


def _striping(net: Net) -> Sheet:
    """Draw how a block becomes a payload for each server that has bytes of it; each answers once."""
    page = Sheet(net, "Striping")
    page.place("Block", "BLOCK", (0, 0), port="in")
    page.place("Missing", "INT", (1, 1), port="in/out")
    page.place("Dealing", "SPLIT", (2, 0))
    page.place("Payloads", "PAYLOADS", (4, 0), port="in/out")
    page.place("Outstanding", "TOKEN", (4, 1), port="out")
    page.transition(
        "Begin", (1, 0), takes={"Block": "(m, n)"}, gives={"Dealing": "(m, n, 0)"}, delay="@+build_ns"
    )
    page.transition(
        "Deal",
        (3, 0),
        takes={"Dealing": "(m, n, s)", "Payloads": "ps", "Missing": "k"},
        gives={
            "Dealing": "(m, n, s + 1)@+(if share (s, m, n) > 0 then build_ns else 0)",
            "Payloads": "if share (s, m, n) > 0 "
            "then ps ^^ [(clients + 1 + s, share (s, m, n), share (s, m, n))] else ps",
            "Missing": "if share (s, m, n) > 0 then k + 1 else k",
        },
        guard="s < servers",
    )
    page.transition(
        "All dealt",
        (3, 1),
        takes={"Dealing": "(m, n, s)"},
        gives={"Outstanding": "()"},
        guard="s >= servers",
    )
    return page


def _server(net: Net, nic: Sheet, clients: int) -> Sheet:
    page = Sheet(net, "Server")
    page.place("Number", "INT", (4, 2), port="in/out")
    page.place("To host", "FRAME", (0, 0), port="in")
    page.place("Jobs", "PAYLOADS", (2, 0), "1`[]")
    page.place("To write", "BLOCK", (4, 0))
    page.place("Block written", "UNIT", (4, 1))
    page.place("Device buffer", "PACKETS", (2, 2), "1`[]")
    page.place("At multiplexer", "FRAME", (0, 2), port="out")
    page.stands("Receive", (1, 0), _receive(net, clients))
    page.stands("Jobs", (3, 1), _jobs(net, clients))
    page.stands("Local file system", (5, 0.5), _local(net))
    page.stands("Device", (1, 2), nic)
    return page


def _receive(net: Net, clients: int) -> Sheet:
    """Draw the receive buffers, one for each client: a write is passed on when all of it has come.

    The first packet of a write searches the buffer of its client, the others are added to it.
    """
    page = Sheet(net, "Receive")
    page.place("To host", "FRAME", (0, 0), port="in")
    page.place("Arrived", "PACKETS", (2, 0), "1`[]")
    page.place("Stack", "UNIT", (3, 1), "1`()")
    page.place("Found", "FRAME", (4, 0))
    page.place("Receive buffers", "RANGE", (5, 1), f"List.tabulate ({clients}, fn i => (i + 1, 0))")
    page.place("Jobs", "PAYLOADS", (6, 0.5), port="in/out")
    page.transition(
        "Store",
        (1, 0),
        takes={"To host": "(d, g, w, y)", "Arrived": "fs"},
        gives={"Arrived": "fs ^^ [(d, g, w, y)]"},
    )
    page.transition(
        "Search",
        (3, 0),
        takes={"Stack": "()", "Arrived": "(d, g, w, y) :: fs"},
        keeps={"Receive buffers": "(g, k)"},
        gives={"Stack": "()", "Arrived": "fs", "Found": "(d, g, w, y)"},
        delay="@+(if k = 0 then receive_ns else gather_ns)",
    )
    page.transition(
        "Fill",
        (4, 2),
        takes={"Found": "(d, g, w, y)", "Receive buffers": "(g, k)"},
        gives={"Receive buffers": "(g, k + y)"},
        guard="k + y < w",
        priority="P_HIGH",
    )
    page.transition(
        "Complete",
        (5, -0.5),
        takes={"Found": "(d, g, w, y)", "Receive buffers": "(g, k)", "Jobs": "ps"},
        gives={"Receive buffers": "(g, 0)", "Jobs": "ps ^^ [(g, w, 0)]"},
        guard="k + y >= w",
        priority="P_HIGH",
    )
    return page


def _jobs(net: Net, clients: int) -> Sheet:
    """Draw how the server writes one client's write after the other, and answers with a return code."""
    page = Sheet(net, "Jobs")
    page.place("Number", "INT", (2, 3), port="in/out")
    page.place("Jobs", "PAYLOADS", (0, 0), port="in/out")
    page.place("Idle", "TOKEN", (0, 1), "1`()")
    page.place("Position", "RANGE", (1, 1), f"List.tabulate ({clients}, fn i => (i + 1, 0))")
    page.place("Writing", "INT", (2, 1))
    page.place("To write", "BLOCK", (2, 0), port="out")
    page.place("Block written", "UNIT", (2, 2), port="in")
    page.place("Device buffer", "PACKETS", (0, 2), port="in/out")
    page.transition(
        "Begin",
        (1, 0),
        takes={"Idle": "()", "Jobs": "(g, w, m) :: ps", "Position": "(g, n)"},
        gives={
            "Jobs": "ps",
            "Position": "(g, n + w)",
            "To write": "(page_of (g, n), page_of (g, n + w + page_bytes - 1))",
            "Writing": "g",
        },
    )
    page.transition(
        "Answer",
        (1, 2),
        takes={"Block written": "()", "Writing": "g", "Device buffer": "fs"},
        keeps={"Number": "d"},
        gives={"Idle": "()", "Device buffer": "fs ^^ [(g, d, 1, 0)]"},
    )
    return page


def _local(net: Net) -> Sheet:
    """Draw the local file system of a server: the net of writes to ext3 without its program."""
    page = Sheet(net, "Local file system")
    page.place("To write", "BLOCK", (0, 1), port="in")
    page.place("Block written", "UNIT", (1, 0), port="out")
    ext3_write.file_system(net, page, has_timer=False)
    return page
