"""The net of reads from PVFS: clients stripe requests, servers read chunks from a local ext3 and send them.

Source: section 6.3 of the dissertation on Petri nets of ext3 and PVFS; the release rule is that of Figure 46.
The local file systems are pages of `ext3_read`.

Left out: ageing in the servers' page caches, as every page is read once; the cost of copies in the clients.
"""

from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets import ext3_read, shared
from pagecast.petri.nets.pvfs_hosts import client_stack, declared, device, draw_hosts, program, segmentation
from pagecast.petri.nets.sheet import Sheet

__all__ = ["pvfs_read"]

READ: Final = (
    "colset JOB = product INT * INT * INT;",
    "colset JOBS = list JOB;",
    "colset CHUNK = product INT * INT * INT * INT;",
    "var js : JOBS;",
    "fun chunk_of (w, m) = least (strip_bytes, w - m);",
    "fun release_of w = if w <= strip_bytes then w else if w <= clients * strip_bytes then strip_bytes "
    "else w div clients div strip_bytes * strip_bytes;",
    "val is_cached = false;",
    "val cached_pages = if is_cached then file_pages else 0;",
    "val cache_pages = 1048576;",
    "val window_pages = 32;",
    "fun window_end p = least (p + window_pages, (p div datafile_pages + 1) * datafile_pages);",
    "val fread_ns = 500;",
    "val look_up_ns = 500;",
    "val disk_position_ns = 7700000;",
    "val disk_page_ns = 68840;",
)
"""Jobs of a server (client, bytes wanted, bytes read), the release rule, its local file system."""


def pvfs_read(clients: int = 8, servers: int = 4) -> Net:
    """Build the net for so many clients and servers.

    Parameters
    ----------
    clients, servers : int
        At least 1 each.

    Returns
    -------
    Net
    """
    net = Net("pvfs-read")
    net.declare(
        *shared.COLOURS,
        *ext3_read.COLOURS,
        *declared(clients, servers),
        "val block_pages = strip_bytes div page_bytes;",
        *shared.COPY,
        *READ,
    )
    top = Sheet(net, "pvfs read")
    nic = device(net)
    draw_hosts(net, top, _client(net, nic), _server(net, nic, clients), clients, servers)
    return net


def _client(net: Net, nic: Sheet) -> Sheet:
    page = Sheet(net, "Client")
    page.place("Number", "INT", (0, 0), port="in/out")
    page.place("Finished", "NUMBER", (0, 2), port="out")
    page.place("Block", "BLOCK", (2, 0))
    page.place("Block done", "UNIT", (2, 2))
    page.place("Missing", "INT", (3, 1), "1`0")
    page.place("Outstanding", "TOKEN", (4, 1))
    page.place("Device buffer", "PACKETS", (4, 0), "1`[]")
    page.place("At multiplexer", "FRAME", (6, 0), port="out")
    page.place("To host", "FRAME", (5, 2), port="in")
    page.stands("Program", (1, 1), program(net))
    page.stands("Striping", (3, 0), _striping(net))
    page.stands("Device", (5, 0), nic)
    page.stands("Stack", (3, 2), client_stack(net))
    return page


def _striping(net: Net) -> Sheet:
    """Draw how a block becomes a request to each server that has bytes of it; it fits into one packet."""
    page = Sheet(net, "Striping")
    page.place("Block", "BLOCK", (0, 0), port="in")
    page.place("Missing", "INT", (0, 1), port="in/out")
    page.place("Requesting", "SPLIT", (2, 0))
    page.place("Number", "INT", (4, -1), port="in/out")
    page.place("Device buffer", "PACKETS", (4, 0), port="in/out")
    page.place("Outstanding", "TOKEN", (4, 1), port="out")
    page.transition(
        "Begin",
        (1, 0),
        takes={"Block": "(m, n)", "Missing": "k"},
        gives={"Missing": "n - m", "Requesting": "(m, n, 0)"},
        delay="@+build_ns",
    )
    page.transition(
        "Request",
        (3, 0),
        takes={"Requesting": "(m, n, s)", "Device buffer": "fs"},
        keeps={"Number": "g"},
        gives={
            "Requesting": "(m, n, s + 1)@+(if share (s, m, n) > 0 then build_ns else 0)",
            "Device buffer": "if share (s, m, n) > 0 "
            "then fs ^^ [(clients + 1 + s, g, share (s, m, n), 0)] else fs",
        },
        guard="s < servers",
    )
    page.transition(
        "All requested",
        (3, 1),
        takes={"Requesting": "(m, n, s)"},
        gives={"Outstanding": "()"},
        guard="s >= servers",
    )
    return page


def _server(net: Net, nic: Sheet, clients: int) -> Sheet:
    page = Sheet(net, "Server")
    page.place("Number", "INT", (4, 3), port="in/out")
    page.place("To host", "FRAME", (0, 0), port="in")
    page.place("Jobs", "JOBS", (2, 0), "1`[]")
    page.place("To read", "BLOCK", (4, 0))
    page.place("Block read", "UNIT", (4, 1))
    page.place("Read", "CHUNK", (2, 1))
    page.place("Payloads", "PAYLOADS", (2, 2), "1`[]")
    page.place("Device buffer", "PACKETS", (4, 2), "1`[]")
    page.place("At multiplexer", "FRAME", (6, 2), port="out")
    page.stands("Receive", (1, 0), _receive(net))
    page.stands("Chunks", (3, 0.5), _chunks(net, clients))
    page.stands("Local file system", (5, 0.5), _local(net))
    page.stands("Release", (1, 1.5), _release(net, clients))
    page.stands("Segmentation", (3, 2), segmentation(net))
    page.stands("Device", (5, 2), nic)
    return page


def _receive(net: Net) -> Sheet:
    """Draw the receive buffers: first come, first served; the search of the client's buffer takes time."""
    page = Sheet(net, "Receive")
    page.place("To host", "FRAME", (0, 0), port="in")
    page.place("Receive buffer", "PACKETS", (2, 0), "1`[]")
    page.place("Stack", "UNIT", (3, 1), "1`()")
    page.place("Received", "FRAME", (4, 0))
    page.place("Jobs", "JOBS", (6, 0), port="in/out")
    page.transition(
        "Store",
        (1, 0),
        takes={"To host": "(d, g, w, y)", "Receive buffer": "fs"},
        gives={"Receive buffer": "fs ^^ [(d, g, w, y)]"},
    )
    page.transition(
        "Search",
        (3, 0),
        takes={"Stack": "()", "Receive buffer": "(d, g, w, y) :: fs"},
        gives={"Stack": "()", "Receive buffer": "fs", "Received": "(d, g, w, y)"},
        delay="@+receive_ns",
    )
    page.transition(
        "Add",
        (5, 0),
        takes={"Received": "(d, g, w, y)", "Jobs": "js"},
        gives={"Jobs": "js ^^ [(g, w, 0)]"},
    )
    return page


def _chunks(net: Net, clients: int) -> Sheet:
    """Draw how jobs become chunks of a strip for the local file system; clients take turns."""
    page = Sheet(net, "Chunks")
    page.place("Jobs", "JOBS", (0, 0), port="in/out")
    page.place("Idle", "TOKEN", (1, 1), "1`()")
    page.place("Position", "RANGE", (2, 0.5), f"List.tabulate ({clients}, fn i => (i + 1, 0))")
    page.place("Reading", "JOB", (3, 1))
    page.place("To read", "BLOCK", (3, 0), port="out")
    page.place("Block read", "UNIT", (3, 2), port="in")
    page.place("Read", "CHUNK", (0, 2), port="out")
    page.transition(
        "Begin",
        (1, 0),
        takes={"Idle": "()", "Jobs": "(g, w, m) :: js", "Position": "(g, n)"},
        gives={
            "Jobs": "js",
            "Position": "(g, n + chunk_of (w, m))",
            "To read": "(page_of (g, n), page_of (g, n + chunk_of (w, m) + page_bytes - 1))",
            "Reading": "(g, w, m)",
        },
    )
    page.transition(
        "End",
        (1, 2),
        takes={"Block read": "()", "Reading": "(g, w, m)", "Jobs": "js"},
        gives={
            "Idle": "()",
            "Jobs": "if m + chunk_of (w, m) < w then js ^^ [(g, w, m + chunk_of (w, m))] else js",
            "Read": "(g, w, m + chunk_of (w, m), chunk_of (w, m))",
        },
    )
    return page


def _release(net: Net, clients: int) -> Sheet:
    """Draw when the buffered chunks of a client are sent (the guard of Figure 46)."""
    page = Sheet(net, "Release")
    page.place("Read", "CHUNK", (0, 0), port="in")
    page.place("Buffered", "RANGE", (1, 1), f"List.tabulate ({clients}, fn i => (i + 1, 0))")
    page.place("Payloads", "PAYLOADS", (2, 2), port="in/out")
    page.transition(
        "Hold",
        (2, 0),
        takes={"Read": "(g, w, m, n)", "Buffered": "(g, k)"},
        gives={"Buffered": "(g, k + n)"},
        guard="k + n < release_of w andalso m < w",
    )
    page.transition(
        "Release",
        (0, 2),
        takes={"Read": "(g, w, m, n)", "Buffered": "(g, k)", "Payloads": "ps"},
        gives={"Buffered": "(g, 0)", "Payloads": "ps ^^ [(g, 0, k + n)]"},
        guard="k + n >= release_of w orelse m >= w",
    )
    return page


def _local(net: Net) -> Sheet:
    """Draw the local file system of a server: the net of reads from ext3 without its program."""
    page = Sheet(net, "Local file system")
    page.place("To read", "BLOCK", (0, 1), port="in")
    page.place("Block read", "UNIT", (1, 0), port="out")
    ext3_read.file_system(net, page, ages=False)
    return page
