"""The points of the study's experiments, and their forecasts as curves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from pagecast.studies.pvfs.scenarios import CONSTANT, SEARCH, SERVERS

__all__ = [
    "BLOCKS_KIB",
    "CLIENTS",
    "FILES_KIB",
    "GIB",
    "MEMORY_KIB",
    "MIB",
    "PLAN",
    "TOGETHER_KIB",
    "Curve",
    "Curves",
    "Forecasts",
    "Point",
    "Rates",
    "as_curves",
]

MIB: Final = 1024
"""In KiB, as all sizes here."""

GIB: Final = 1024 * MIB

CLIENTS: Final = tuple(range(1, 9))

BLOCKS_KIB: Final = tuple(8 << power for power in range(9))
"""8 KiB to 2 MiB, as the axes of Figures 55 to 70."""

CLIENTS_FILE_KIB: Final = 64 * MIB
"""The file of each client; throughput does not depend on it (section 3.3.3, and the experiment `files`)."""

FILES_KIB: Final = (64, 128, 256, 512, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB)
"""64 KiB to 1 GiB."""

MEMORY_KIB: Final = SERVERS * 4 * GIB
"""The memory of all servers (Table 3)."""

TOGETHER_KIB: Final = tuple(GIB * size for size in (4, 8, 12, 16, 24, 32))
"""Files of all clients together: up to twice the memory of the servers."""

MEMORY_BLOCK_KIB: Final = MIB
"""The block of files that exceed memory. Ours: with it links and disks are the limit, and not calls."""

SEARCHES: Final = (CONSTANT, SEARCH, "100 us")
"""A constant buffer, the linear one of the study, and one that is ten times as slow."""


@dataclass(frozen=True, slots=True)
class Point:
    """A forecast: clients with a file each, the block of their calls, and the time to pass a request."""

    clients: int
    file_kib: int
    block_kib: int
    search: str = SEARCH

    def __str__(self) -> str:
        return (
            f"{self.clients} clients, files of {self.file_kib} KiB, blocks of {self.block_kib} KiB, "
            f"search of {self.search}"
        )


Rates: TypeAlias = Mapping[str, Sequence[float]]
"""KiB/s of each client, "read" and "write"."""

Curve: TypeAlias = Mapping[int, Rates]
"""Rates by a size in KiB."""

Curves: TypeAlias = Mapping[int, Curve]
"""Curves by the number of clients, or by the file in KiB."""

Forecasts: TypeAlias = Mapping[Point, Rates]

_Line = TypeVar("_Line")

PLAN: Final[Mapping[str, tuple[Point, ...]]] = {
    "clients": tuple(Point(clients, CLIENTS_FILE_KIB, block) for clients in CLIENTS for block in BLOCKS_KIB),
    "buffer": tuple(
        Point(clients, CLIENTS_FILE_KIB, block, search)
        for clients in (CLIENTS[0], CLIENTS[-1])
        for search in SEARCHES
        for block in BLOCKS_KIB
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
