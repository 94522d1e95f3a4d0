"""The cluster of the study under the shipped Petri nets of PVFS, the column `petri`.

Values of the nets follow from the same machine and network. Files are shorter, as those of 64 MiB of eight
clients take a net 20 to 60 s. Servers of the experiment `memory` have a part of their memory. Reads and
writes are runs of their own. Writes end without an fsync, which the nets have not. Reads find all files
cached, or none where they exceed the memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pagecast.api import PETRI, Scenario
from pagecast.models.pvfs import client_times_ns
from pagecast.studies.pvfs.plan import CLIENTS, GIB, MEMORY_KIB, MIB, Point, Rates, Sizes
from pagecast.studies.pvfs.scenarios import CONSTANT, SEARCH, cluster

__all__ = ["MODEL", "PLAN", "SIZES", "forecast"]

MODEL: Final = PETRI
"""The name of the column."""

SCALE: Final = 1024
"""Servers of `memory` have a part of 1 in so many of their memory and of their dirty limit."""

SIZES: Final = Sizes(short_kib=8 * MIB, long_kib=32 * MIB, memory_kib=MEMORY_KIB // SCALE)
"""Of shorter files a part is begun and ended by some clients alone, and their curves part by over 5 %."""

BLOCKS_KIB: Final = (8, 64, 256)
"""The smallest block, a strip, and a strip of each server."""

ENDS_KIB: Final = (8, 2048)
"""The smallest and the largest block of the dissertation, for receive buffers."""

BUFFER_FILE_KIB: Final = 2 * MIB

LONG_CLIENTS: Final = (1, 6, 7)
"""One client, and those of the figures with a known axis."""

FILES_KIB: Final = (64, 512, MIB, 2 * MIB, 16 * MIB)

MEMORY_BLOCK_KIB: Final = 256

PAGE_KIB: Final = 4

SCALED: Final = {
    "cache_pages": 4 * GIB // PAGE_KIB // SCALE,
    "memory_pages": 4 * GIB // PAGE_KIB // SCALE,
    "dirty_limit_pages": 512 * MIB // PAGE_KIB // SCALE,
}
"""The memory of 4 GiB and the dirty limit of 512 MiB of a server, each by `SCALE`."""

PLAN: Final[Mapping[str, tuple[Point, ...]]] = {
    "clients": (
        *(Point(clients, SIZES.short_kib, block) for clients in CLIENTS for block in BLOCKS_KIB),
        *(Point(clients, SIZES.long_kib, block) for clients in LONG_CLIENTS for block in BLOCKS_KIB[-1:]),
    ),
    "buffer": tuple(
        Point(clients, BUFFER_FILE_KIB, block, search)
        for clients in (CLIENTS[0], CLIENTS[-1])
        for search in (CONSTANT, SEARCH, "100 us")
        for block in ENDS_KIB
    ),
    "files": tuple(
        Point(1, file, block) for file in FILES_KIB for block in (*BLOCKS_KIB, 2048) if block <= file
    ),
    "memory": tuple(
        Point(clients, together // clients, MEMORY_BLOCK_KIB)
        for clients in (CLIENTS[0], CLIENTS[-1])
        for together in (SIZES.memory_kib // 2, 2 * SIZES.memory_kib)
    ),
}
"""The points of each experiment; clients of the nets begin together, so `starts` has none."""


def forecast(
    experiment: str, point: Point, *, machine: str, overrides: Sequence[str]
) -> tuple[Rates, Scenario]:
    """Give the rates of clients in KiB/s, "read" and "write", and the last scenario that was played."""
    values = {"is_linear": "false" if point.search == CONSTANT else "true"}
    if experiment == "memory":
        values |= {name: str(value) for name, value in SCALED.items()}
    rates = {}
    for way in ("read", "write"):
        is_cached = point.clients * point.file_kib < SIZES.memory_kib or experiment != "memory"
        text = cluster(machine, point.clients, point.search) + "".join(_case(way, point, is_cached))
        scenario = Scenario.from_toml(text, origin="pvfs", set=overrides)
        times_ns = client_times_ns(scenario, values)
        rates[way] = [point.file_kib * 1e9 / time_ns for time_ns in times_ns]
    return rates, scenario


def _case(way: str, point: Point, is_cached: bool) -> Iterator[str]:
    """Give programs of one read or write of a file each."""
    for at in range(point.clients):
        path, size = f"/pvfs/f{at}", f'size = "{point.file_kib} KiB"'
        if way == "read":
            cached = f'cached = "{point.file_kib} KiB"\n' if is_cached else ""
            yield f'[[file]]\npath = "{path}"\nhost = "c{at}"\n{size}\n{cached}'
        moves = f'{{ {way} = "{path}", {size}, call = "{point.block_kib} KiB" }}'
        yield f'[[process]]\nname = "{way[0]}{at}"\nhost = "c{at}"\ndo = [ {moves} ]\n'
