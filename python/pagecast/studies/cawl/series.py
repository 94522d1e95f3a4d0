"""The measured series, and the small tables of them that are shipped beside this file.

README.md says where the numbers come from; `make_tables.py` makes the tables out of the full recordings.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pagecast.comparison.rows import RIVALS

__all__ = [
    "EXPERIMENTS",
    "MAIN_WRITES",
    "MODELS",
    "PHASES",
    "Point",
    "Series",
    "all_series",
    "shipped_points",
]

HERE: Final = Path(__file__).parent

EXPERIMENTS: Final = ("buffered", "other")
"""The main series, and the rest."""

MODELS: Final = ("kernel", "cawl", *RIVALS)
"""The models that are asked by default."""

PHASES: Final = ("before flushing", "flushing", "throttled")
"""The kernel's treatment of a writer, in this order; where a phase begins was read off the measured times."""

MAIN_WRITES: Final = (100, 800)
"""How many writes the main series have; series of 1 GiB writes with another number were trials."""

KIB: Final = 2**10
MIB: Final = 2**20
GIB: Final = 2**30

_REWRITING_SEED: Final = 7

_STREAM_HEADER_BYTES: Final[Mapping[str, int]] = {
    "h1_libc_512b": 529,
    "h1_libc_200b": 529,
    "h1_libc_100b": 529,
    "h1_libc_512b_fig": 17,
    "nv_libc_512b": 17,
}
"""Bytes in the libc buffer before the first write of a series; README.md, pitfall 4."""


@dataclass(frozen=True, slots=True)
class Series:
    """One measured series of writes by one process.

    `chunk_bytes` is the size of every write, or None where sizes grow by `size_min_bytes` from write to
    write. Phases begin at `flush_start_write` and `throttled_write`, counted from 1; None if they never did.
    `rewritten` is the part of the writes that overwrite, where `access` is "part rewritten".
    """

    name: str
    host: str
    group: str
    open_flags: str
    io_method: str
    access: str
    pause_s: float
    libc_buffer_bytes: int | None
    chunk_bytes: int | None
    size_min_bytes: int | None
    writes: int
    flush_start_write: int | None
    throttled_write: int | None
    rewritten: float = 0.0

    @property
    def experiment(self) -> str:
        """One of `EXPERIMENTS`."""
        is_main = self.is_buffered and self.chunk_bytes == GIB and self.writes in MAIN_WRITES
        return "buffered" if is_main else "other"

    @property
    def is_buffered(self) -> bool:
        """Opened without O_SYNC and O_DIRECT."""
        return self.open_flags == "buffered"

    @property
    def is_direct(self) -> bool:
        """Opened with O_DIRECT."""
        return "O_DIRECT" in self.open_flags.split("|")

    @property
    def is_stream(self) -> bool:
        """Written with fwrite(3)."""
        return self.io_method == "fwrite"

    def sizes(self) -> NDArray[np.float64]:
        """Give the bytes of each write."""
        numbers = np.arange(1.0, self.writes + 1)
        return (
            np.full_like(numbers, self.chunk_bytes)
            if self.chunk_bytes
            else numbers * (self.size_min_bytes or 0)
        )

    def offsets(self) -> NDArray[np.float64]:
        """Give where each write begins, in bytes: at the end, or over what is there."""
        sizes = self.sizes()
        if self.access == "rewrite":
            return np.zeros_like(sizes)
        if not self.rewritten:
            return np.cumsum(sizes) - sizes
        rng = np.random.default_rng(_REWRITING_SEED)
        is_new = rng.random(self.writes) >= self.rewritten
        is_new[0] = True
        there = np.cumsum(is_new) - is_new.astype(int)
        chosen: NDArray[np.int64] = np.where(is_new, there, rng.integers(0, np.maximum(there, 1)))
        return sizes * chosen

    @property
    def header_bytes(self) -> int:
        """Bytes in the libc buffer before the first write; README.md, pitfall 4."""
        return _STREAM_HEADER_BYTES.get(self.name, 0)

    def operation(self, point: "Point") -> str:
        """Name the row of a point: "write 7", or "writes 1-25"; with their sizes where these grow."""
        is_one = point.first == point.last
        name = f"write {point.first}" if is_one else f"writes {point.first}-{point.last}"
        if self.chunk_bytes:
            return name
        sizes = [f"{write * self._step:g}" for write in dict.fromkeys((point.first, point.last))]
        return f"{name} ({' to '.join(sizes)} {self._unit})"

    @property
    def _unit(self) -> str:
        return "MiB" if (self.size_min_bytes or 0) % MIB == 0 else "KiB"

    @property
    def _step(self) -> float:
        """By how many of that unit writes grow."""
        return (self.size_min_bytes or 0) / (MIB if self._unit == "MiB" else KIB)

    def phase(self, write: float) -> str:
        """Name the phase of a write, counted from 1."""
        if self.flush_start_write is None or write < self.flush_start_write:
            return PHASES[0]
        if self.throttled_write is None or write < self.throttled_write:
            return PHASES[1]
        return PHASES[2]


@dataclass(frozen=True, slots=True)
class Point:
    """Measured seconds and CAWL's prediction: of one write, or means over several; counted from 1."""

    first: int
    last: int
    measured_s: float
    cawl_s: float

    @property
    def middle(self) -> float:
        """The write in the middle."""
        return (self.first + self.last) / 2


@cache
def all_series() -> dict[str, Series]:
    """Give all series by name, in the order of the paper's figures."""
    return {row["series_id"]: _series(row) for row in _rows("series.csv")}


@cache
def shipped_points() -> dict[str, tuple[Point, ...]]:
    """Give the shipped means over blocks of writes, by series."""
    points: dict[str, list[Point]] = defaultdict(list)
    for row in _rows("blocks.csv"):
        points[row["series_id"]].append(
            Point(
                int(row["first_write"]),
                int(row["last_write"]),
                float(row["measured_s"]),
                float(row["cawl_s"]),
            )
        )
    return {name: tuple(of_series) for name, of_series in points.items()}


def _series(row: Mapping[str, str]) -> Series:
    return Series(
        name=row["series_id"],
        host=row["host"],
        group=row["group"],
        open_flags=row["open_flags"],
        io_method=row["io_method"],
        access=row["access"],
        pause_s=float(row["pause_s"]),
        libc_buffer_bytes=_number(row["libc_buffer_bytes"]),
        chunk_bytes=_number(row["chunk_bytes"]),
        size_min_bytes=_number(row["size_min_bytes"]),
        writes=int(row["writes"]),
        flush_start_write=_number(row["flush_start_write"]),
        throttled_write=_number(row["throttled_write"]),
    )


def _number(text: str) -> int | None:
    return int(text) if text else None


def _rows(name: str) -> Iterable[dict[str, str]]:
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)
