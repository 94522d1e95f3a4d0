"""Pages that the nets of PVFS share: program and stack of a client, segmentation, network device, network.

Source: sections 6.3 and 6.4 of the dissertation on Petri nets of ext3 and PVFS, from its text: its drawings
(Figures 41 to 54) were not seen, and no constant is printed. Times are whole nanoseconds. Hosts have numbers:
clients from 1 on, then servers.
"""

from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets.sheet import Sheet

__all__ = [
    "COLOURS",
    "client_stack",
    "declared",
    "device",
    "draw_hosts",
    "network",
    "program",
    "segmentation",
]

COLOURS: Final = (
    "colset TOKEN = unit;",
    "colset PACKET = product INT * INT * INT * INT;",
    "colset FRAME = product INT * INT * INT * INT timed;",
    "colset PACKETS = list PACKET;",
    "colset PORT = product INT * PACKETS;",
    "colset SPLIT = product INT * INT * INT timed;",
    "colset PAYLOAD = product INT * INT * INT;",
    "colset PAYLOADS = list PAYLOAD;",
    "colset NUMBER = int timed;",
    "var d, g, y, s : INT;",
    "var fs : PACKETS;",
    "var ps : PAYLOADS;",
)
"""A packet has its destination, its origin, a size that it announces, and bytes of data.

A payload has its destination, the size that its packets announce, and the bytes that are still to be sent.
"""

HOSTS: Final = (
    "val file_bytes = 1048576;",
    "val block_bytes = 262144;",
    "val blocks = file_bytes div block_bytes;",
    "val strip_bytes = 65536;",
    "val mtu_bytes = 1500;",
    "val mss_bytes = mtu_bytes - 40;",
    "val header_bytes = 78;",
    "val byte_ns = 8;",
    "val wire_ns = 50000;",
    "val start_ns = 1;",
    "val build_ns = 20000;",
    "val gather_ns = 1000;",
    "val segment_ns = 1000;",
    "val search_ns = 1000;",
    "val is_linear = false;",
    "val device_packets = 256;",
    "val receive_ns = if is_linear then clients * search_ns else search_ns;",
    "fun transfer_ns y = (y + header_bytes) * byte_ns;",
    "fun least (n, m) = if n < m then n else m;",
    "fun up_to (s, n) = n div (strip_bytes * servers) * strip_bytes + "
    "least (strip_bytes, if n mod (strip_bytes * servers) < s * strip_bytes then 0 "
    "else n mod (strip_bytes * servers) - s * strip_bytes);",
    "fun share (s, m, n) = up_to (s, n) - up_to (s, m);",
    "val datafile_strips = (file_bytes div strip_bytes + servers) div servers;",
    "val datafile_pages = datafile_strips * strip_bytes div page_bytes;",
    "val file_pages = clients * datafile_pages;",
    "fun page_of (g, n) = (g - 1) * datafile_pages + n div page_bytes;",
)
"""The file of a client, strips, segments, Gigabit Ethernet, stacks; the share of a server in a range."""


def declared(clients: int, servers: int) -> tuple[str, ...]:
    """Give the declarations of hosts and network.

    Parameters
    ----------
    clients, servers : int

    Returns
    -------
    tuple of str
    """
    numbers = (f"val clients = {clients};", f"val servers = {servers};", "val page_bytes = 4096;")
    return (*COLOURS, *numbers, *HOSTS)


def draw_hosts(net: Net, top: Sheet, client: Sheet, server: Sheet, clients: int, servers: int) -> None:
    """Draw the page with all hosts around the network.

    Parameters
    ----------
    net : Net
    top, client, server : Sheet
    clients, servers : int
    """
    top.place("At multiplexer", "FRAME", (2.5, -1))
    top.place("Finished", "NUMBER", (0, -1))
    hosts = [(f"Client {number}", client) for number in range(1, clients + 1)]
    hosts += [(f"Server {number}", server) for number in range(1, servers + 1)]
    for number, (name, page) in enumerate(hosts, 1):
        is_client = number <= clients
        row = number - 1 if is_client else number - clients - 1
        outer, inner, node = (-1, 1, 0) if is_client else (6, 4, 5)
        top.place(f"Number of {name}", "INT", (outer, row + 0.3), f"1`{number}")
        top.place(f"To {name}", "FRAME", (inner, row + 0.5))
        top.stands(name, (node, row), page, {"Number": f"Number of {name}", "To host": f"To {name}"})
    top.stands("Network", (2.5, 1), network(net, [name for name, _ in hosts]))


def network(net: Net, hosts: list[str]) -> Sheet:
    """Draw the network: a multiplexer by destination, the wire delay, no switch.

    Parameters
    ----------
    net : Net
    hosts : list of str
        In the order of their numbers.

    Returns
    -------
    Sheet
    """
    page = Sheet(net, "Network")
    middle = (len(hosts) - 1) / 2
    page.place("At multiplexer", "FRAME", (0, middle), port="in")
    page.place("Port queue", "PORT", (2, middle), f"List.tabulate ({len(hosts)}, fn i => (i + 1, []))")
    page.place("Port idle", "NUMBER", (3, middle + 1), f"List.tabulate ({len(hosts)}, fn i => i + 1)")
    page.place("Backlog", "INT", (2, middle - 1))
    for row, host in enumerate(hosts):
        page.place(f"To {host}", "FRAME", (5, row), port="out")
    page.transition(
        "Enqueue",
        (1, middle),
        takes={"At multiplexer": "(d, g, w, y)", "Port queue": "(d, fs)"},
        gives={"Port queue": "(d, fs ^^ [(d, g, w, y)])", "Backlog": "d"},
    )
    arrives = {
        f"To {host}": f"(if d = {number} then 1`(d, g, w, y) else empty)@+wire_ns"
        for number, host in enumerate(hosts, 1)
    }
    page.transition(
        "Forward",
        (3, middle),
        takes={"Backlog": "d", "Port idle": "d", "Port queue": "(d, (s, g, w, y) :: fs)"},
        gives={"Port queue": "(d, fs)", "Port idle": "d", **arrives},
        delay="@+transfer_ns y",
    )
    return page


def program(net: Net) -> Sheet:
    """Draw the program of a client: blocks of its file, one behind the other."""
    page = Sheet(net, "Client program")
    page.place("Number", "INT", (0, 0), port="in/out")
    page.place("Start", "TOKEN", (1, -1), "1`()")
    page.place("Ready", "NUMBER", (2, 0))
    page.place("Waiting", "INT", (2, 1))
    page.place("Block", "BLOCK", (4, 0), port="out")
    page.place("Block done", "UNIT", (4, 1), port="in")
    page.place("Finished", "NUMBER", (0, 2), port="out")
    page.transition(
        "Begin",
        (1, 0),
        takes={"Start": "()"},
        keeps={"Number": "d"},
        gives={"Ready": "0@+d * start_ns"},
    )
    page.transition(
        "Next block",
        (3, 0),
        takes={"Ready": "i"},
        gives={"Block": "(i * block_bytes, (i + 1) * block_bytes)", "Waiting": "i + 1"},
        guard="i < blocks",
    )
    page.transition("Go on", (3, 1), takes={"Block done": "()", "Waiting": "i"}, gives={"Ready": "i"})
    page.transition(
        "Finish",
        (1, 1),
        takes={"Ready": "i"},
        keeps={"Number": "d"},
        gives={"Finished": "d"},
        guard="i >= blocks",
    )
    return page


def client_stack(net: Net) -> Sheet:
    """Draw the receiving side of a client: its stack gathers packets until the block is complete."""
    page = Sheet(net, "Client stack")
    page.place("To host", "FRAME", (0, 0), port="in")
    page.place("Missing", "INT", (2, 0), port="in/out")
    page.place("Outstanding", "TOKEN", (2, 1), port="in")
    page.place("Stack", "UNIT", (0, 1), "1`()")
    page.place("Block done", "UNIT", (0, 2), port="out")
    page.transition(
        "Gather",
        (1, 0),
        takes={"To host": "(d, g, w, y)", "Stack": "()", "Missing": "n"},
        gives={"Stack": "()@+gather_ns", "Missing": "n - w - y"},
    )
    page.transition(
        "Complete",
        (1, 1.5),
        takes={"Missing": "0", "Outstanding": "()", "Stack": "()"},
        gives={"Missing": "0", "Stack": "()", "Block done": "()"},
    )
    return page


def segmentation(net: Net) -> Sheet:
    """Draw how payloads are cut into segments for the device, as long as that has buffers."""
    page = Sheet(net, "Segmentation")
    page.place("Number", "INT", (0, 0), port="in/out")
    page.place("Payloads", "PAYLOADS", (0, 1), port="in/out")
    page.place("Segmenter", "UNIT", (1, -1), "1`()")
    page.place("Device buffer", "PACKETS", (2, 0.5), port="in/out")
    page.transition(
        "Cut",
        (1, 0.5),
        takes={"Payloads": "(g, w, n) :: ps", "Segmenter": "()", "Device buffer": "fs"},
        keeps={"Number": "d"},
        gives={
            "Payloads": "if n > mss_bytes then (g, w, n - mss_bytes) :: ps else ps",
            "Segmenter": "()@+segment_ns",
            "Device buffer": "fs ^^ [(g, d, w, least (n, mss_bytes))]",
        },
        guard="length fs < device_packets",
    )
    return page


def device(net: Net) -> Sheet:
    """Draw a network device: it sends the packets of its buffer one after the other."""
    page = Sheet(net, "Device")
    page.place("Device buffer", "PACKETS", (0, 0), port="in/out")
    page.place("Device idle", "UNIT", (1, 1), "1`()")
    page.place("At multiplexer", "FRAME", (2, 0), port="out")
    page.transition(
        "Transmit",
        (1, 0),
        takes={"Device idle": "()", "Device buffer": "(d, g, w, y) :: fs"},
        gives={"Device idle": "()", "Device buffer": "fs", "At multiplexer": "(d, g, w, y)"},
        delay="@+transfer_ns y",
    )
    return page
