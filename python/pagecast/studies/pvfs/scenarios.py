"""The cluster of the study and its programs: each client writes a file of its own and reads it again."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pagecast.api import Scenario, simulate
from pagecast.workloads import as_toml

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["CONSTANT", "SEARCH", "SERVERS", "case", "rates", "run"]

SERVERS: Final = 4
"""Section 6.2."""

NETWORK: Final = 'network = { topology = "star", transport = "1gbe", latency = "50 us" }\n'
"""Section 6.3: TCP over Gigabit Ethernet, MTU 1500, no switches. The wire delay is not printed; ours."""

LAYOUT: Final = 'layout = { strip_size = "64 KiB", protocol = "request" }\n'
"""Section 6.3.1: the stripe depth. Sections 6.3.3 and 6.4.3: the server passes a read on in pieces
(Figure 46), and puts a write together before it writes it."""

CONSTANT: Final = "0 s"
"""Time to pass a request in a receive buffer of constant cost, which the dissertation's model has (6.3.3)."""

SEARCH: Final = "10 us"
"""The same in a linear buffer, which real servers have (8.4.1). Free: no figure of the text fixes it."""

MEASURED: Final = ("write", "fsync", "read")
"""What iozone's clock measures: it opens its file before."""

SPREAD_US: Final = 4000
"""Time within which clients begin where it is drawn: a few blocks of each. Ours."""


def case(clients: int, file_kib: int, block_kib: int, draw: int = 0) -> str:
    """Give a program in which clients write a file each, end with an fsync, and then read it.

    The fsync is enforced (section 4.2). All clients begin together with draw 0; else each of them begins its
    write and its read at a time that is drawn within `SPREAD_US`.
    """
    writers = ", ".join(f'"w{at}"' for at in range(clients))
    block = f'size = "{file_kib} KiB", call = "{block_kib} KiB"'
    text = ""
    for at in range(clients):
        path = f"/pvfs/f{at}"
        write = (
            f'{{ open = "{path}", create = true }}, {{ write = "{path}", {block} }}, {{ fsync = "{path}" }}'
        )
        read = f'{{ open = "{path}" }}, {{ read = "{path}", {block} }}'
        if draw:
            drawn = random.Random(f"{draw} {at}")  # noqa: S311
            write, read = (f'{{ sleep = "{drawn.randrange(SPREAD_US)} us" }}, {do}' for do in (write, read))
        text += f'[[process]]\nname = "w{at}"\nhost = "c{at}"\ndo = [ {write} ]\n'
        text += f'[[process]]\nname = "r{at}"\nhost = "c{at}"\nafter = [ {writers} ]\ndo = [ {read} ]\n'
    return text


def cluster(machine: str, clients: int, search: str) -> str:
    """Give the hosts of the study: clients and I/O servers are of one machine."""
    servers = ", ".join(f'"io{at}:/"' for at in range(SERVERS))
    text = NETWORK
    for at in range(clients):
        text += f"[host.c{at}]\nfrom = {as_toml(machine)}\n"
        text += f'[host.c{at}.mount."/pvfs"]\nstriped = [ {servers} ]\n{LAYOUT}'
    for at in range(SERVERS):
        text += f"[host.io{at}]\nfrom = {as_toml(machine)}\nnfsd.search = {as_toml(search)}\n"
    return text


def rates(result: "Result", clients: int, file_kib: int) -> dict[str, list[float]]:
    """Give the throughput of each client in KiB/s, "write" and "read"."""
    columns = (result.operations[name] for name in ("process", "operation", "duration_s"))
    rows = list(zip(*columns, strict=True))

    def of(process: str) -> float:
        return file_kib / sum(
            float(time) for name, what, time in rows if name == process and what in MEASURED
        )

    return {
        way: [of(f"{letter}{at}") for at in range(clients)] for way, letter in (("write", "w"), ("read", "r"))
    }


def run(
    case: str, *, clients: int, model: str, machine: str, overrides: Sequence[str], search: str = SEARCH
) -> "Result":
    """Simulate a program on the cluster under a model."""
    text = f"{cluster(machine, clients, search)}{case}"
    return simulate(Scenario.from_toml(text, origin="pvfs", set=overrides), model=model)
