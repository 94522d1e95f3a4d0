"""The points of the study's experiments, and their forecasts as curves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from pagecast.studies.pvfs.scenarios import CONSTANT, SEARCH, SERVERS

__all__ = [
    "BLOCKS_KIB",
    "CLIENTS",
    "CLIENTS_FILE_KIB",
    "FILES_KIB",
    "GIB",
    "LONG_FILE_KIB",
    "MEMORY_KIB",
    "MIB",
    "PLAN",
    "SIZES",
    "TOGETHER_KIB",
    "Curve",
    "Curves",
    "Forecasts",
    "Point",
    "Rates",
    "Sizes",
    "as_curves",
    "by_clients",
]

MIB: Final = 1024
"""In KiB, as all sizes here."""

GIB: Final = 1024 * MIB

CLIENTS: Final = tuple(range(1, 9))

BLOCKS_KIB: Final = tuple(8 << power for power in range(9))
"""8 KiB to 2 MiB, as the axes of Figures 55 to 70."""

CLIENTS_FILE_KIB: Final = 64 * MIB
"""The file of each client: shorter than the dissertation's, as small blocks take long."""

LONG_FILE_KIB: Final = 512 * MIB
"""The dissertation's file (section 3.2.2), for `LONG_BLOCKS_KIB`."""

LONG_BLOCKS_KIB: Final = (256, 2048)
"""A strip of each server, and the largest block."""

FILES_KIB: Final = (64, 128, 256, 512, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB)
"""64 KiB to 1 GiB."""

MEMORY_KIB: Final = SERVERS * 4 * GIB
"""The memory of all servers (Table 3)."""

TOGETHER_KIB: Final = tuple(GIB * size for size in (4, 8, 12, 14, 16, 32))
"""Files of all clients together: up to twice the memory of the servers."""

MEMORY_BLOCK_KIB: Final = MIB
"""The block of files that exceed memory. Ours: with it links and disks are the limit, and not calls."""

SEARCHES: Final = (CONSTANT, SEARCH, "100 us")
"""A constant buffer, the linear one of the study, and one that is ten times as slow."""

STARTS_BLOCK_KIB: Final = 64
"""A block of one strip: the dissertation finds it odd with eight clients (section 7.3.8)."""

STARTS_FILE_KIB: Final = 16 * MIB
"""Shorter than elsewhere, as there are many draws."""

DRAWS: Final = tuple(range(1, 25))
"""Draws of the times at which clients begin."""


@dataclass(frozen=True, slots=True)
class Point:
    """A forecast: clients with a file each, the block of calls, the time to pass a request, drawn starts."""

    clients: int
    file_kib: int
    block_kib: int
    search: str = SEARCH
    draw: int = 0

    def __str__(self) -> str:
        text = f"{self.clients} clients, files of {self.file_kib} KiB, blocks of {self.block_kib} KiB"
        return f"{text}, search of {self.search}, draw {self.draw}"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes that the judgement knows: files of `clients` that are short and long, the servers' memory."""

    short_kib: int
    long_kib: int
    memory_kib: int


SIZES: Final = Sizes(CLIENTS_FILE_KIB, LONG_FILE_KIB, MEMORY_KIB)
"""Those of `PLAN`."""

Rates: TypeAlias = Mapping[str, Sequence[float]]
"""KiB/s of each client, "read" and "write"."""

Curve: TypeAlias = Mapping[int, Rates]
"""Rates by a size in KiB."""

Curves: TypeAlias = Mapping[int, Curve]
"""Curves by the number of clients, or by the file in KiB."""

Forecasts: TypeAlias = Mapping[Point, Rates]

_Line = TypeVar("_Line")

PLAN: Final[Mapping[str, tuple[Point, ...]]] = {
    "clients": tuple(
        Point(clients, file, block)
        for clients in CLIENTS
        for file in (CLIENTS_FILE_KIB, LONG_FILE_KIB)
        for block in (BLOCKS_KIB if file == CLIENTS_FILE_KIB else LONG_BLOCKS_KIB)
    ),
    "buffer": tuple(
        Point(clients, CLIENTS_FILE_KIB, block, search)
        for clients in (CLIENTS[0], CLIENTS[-1])
        for search in SEARCHES
        for block in BLOCKS_KIB
    ),
    "starts": tuple(
        Point(clients, STARTS_FILE_KIB, STARTS_BLOCK_KIB, draw=draw)
        for clients in CLIENTS[SERVERS - 1 :]
        for draw in DRAWS
    ),
    "files": tuple(Point(1, file, block) for file in FILES_KIB for block in BLOCKS_KIB if block <= file),
    "memory": tuple(
        Point(clients, together // clients, MEMORY_BLOCK_KIB)
        for clients in (CLIENTS[0], CLIENTS[-1])
        for together in TOGETHER_KIB
    ),
}
"""The points of each experiment."""


def as_curves(
    forecasts: Forecasts, *, line: Callable[[Point], _Line], at: Callable[[Point], int]
) -> dict[_Line, dict[int, Rates]]:
    """Sort forecasts into curves.

    Parameters
    ----------
    forecasts : mapping of Point to rates
    line : callable
        Names the curve of a point.
    at : callable
        Gives its place on the curve, in KiB.

    Returns
    -------
    dict of dict
        Rates by curve and place, in the order of the points.
    """
    curves: dict[_Line, dict[int, Rates]] = {}
    for point, rates in forecasts.items():
        curves.setdefault(line(point), {})[at(point)] = rates
    return curves


def by_clients(forecasts: Forecasts, *, file_kib: int) -> dict[int, dict[int, Rates]]:
    """Give the curves over blocks of clients with a file of a size, by the number of clients."""
    found = {point: rates for point, rates in forecasts.items() if point.file_kib == file_kib}
    return as_curves(found, line=lambda point: point.clients, at=lambda point: point.block_kib)
