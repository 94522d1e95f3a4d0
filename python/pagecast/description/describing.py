"""Describes a recording: the statistics are made by the core, and are tables here."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pagecast._core import Recording, __version__
from pagecast.api import Scenario
from pagecast.arguments import check_path, check_whole, shown
from pagecast.recordings import read
from pagecast.result import Columns
from pagecast.workloads import Reading

__all__ = [
    "MOST_OPERATIONS",
    "MOST_PAGES",
    "SCHEMA_VERSION",
    "TABLES",
    "Description",
    "describe",
    "size_text",
]

SCHEMA_VERSION: Final = 1
"""It grows when a key is renamed or removed."""

MOST_PAGES: Final = 1 << 18
"""Reuse of up to so many different pages of 4 KiB (1 GiB) is exact, and of more that of a sample."""

MOST_OPERATIONS: Final = 1_000_000
"""So many operations of programs are described."""

CLASSES: Final = ("random", "mixed", "sequential", "large sequential")

_OF_PARTIES: Final = ("name", "reads", "writes", "read_bytes", "written_bytes", "footprint_bytes", *CLASSES)
_OF_FILES: Final = (*_OF_PARTIES, "end_bytes")

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "classes": ("class", "requests", "bytes"),
    "operations": ("operation", "count"),
    "runs": ("class", "value", "count"),
    "run_starts": ("class", "value", "count"),
    "sizes": ("bytes", "reads", "writes"),
    "class_sizes": ("class", "bytes", "reads", "writes"),
    "interarrivals": ("time_s", "count"),
    "hit_ratio": ("memory_bytes", "read_hit_ratio", "hit_ratio", "error"),
    "working_set": (
        "end_s",
        "requests",
        "read_bytes",
        "written_bytes",
        "working_set_bytes",
        "footprint_bytes",
    ),
    "points": ("request", "time_s", "process", "file", "offset_bytes", "bytes", "is_write"),
    "files": _OF_FILES,
    "processes": _OF_PARTIES,
}
"""The tables by name, with their columns."""

_TEXTS: Final = {"class", "operation", "process", "file", "name"}


@dataclass(frozen=True)
class Description:
    """What a recording is like.

    Attributes
    ----------
    source : str
        The recording.
    level : {"files", "blocks", "objects"}
        What its requests are made to.
    totals : dict
        `requests`, `reads`, `writes`, `read_bytes`, `written_bytes`, `duration_s` (None if the recording has
        no times), `footprint_bytes` (different bytes in whole pages of 4 KiB), `all_files`, `all_processes`,
        `is_exact` (False if reuse is that of a sample) and `sampled`, the part of the pages in it.
    notes : tuple of str
        What its user should know.
    """

    source: str
    level: str
    totals: Mapping[str, Any]
    notes: tuple[str, ...]
    _tables: Mapping[str, Columns]

    def table(self, name: str) -> Columns:
        """Give a table: see `TABLES`, and docs/guides/describe.md for its columns.

        Parameters
        ----------
        name : str

        Returns
        -------
        Columns
        """
        try:
            return self._tables[name]
        except KeyError:
            raise KeyError(f"there is no table {name!r}; there are {', '.join(TABLES)}") from None

    @property
    def shares(self) -> dict[str, float]:
        """The share of the requests in each class, 0 to 1; empty if there are no requests."""
        classes = self.table("classes")
        all_requests = int(classes["requests"].sum())
        if all_requests == 0:
            return {}
        shares = (classes["requests"] / all_requests).tolist()
        return dict(zip(classes["class"], shares, strict=True))

    def hit_ratio(self, memory_bytes: float) -> float:
        """Give the hit ratio of reads and writes in an LRU cache of this size, of pages of 4 KiB.

        Parameters
        ----------
        memory_bytes : float

        Returns
        -------
        float
            That of the largest size of the table that is not above it, 0 below the first.
        """
        curve = self.table("hit_ratio")
        at = int(np.searchsorted(curve["memory_bytes"], memory_bytes, side="right"))
        return float(curve["hit_ratio"][at - 1]) if at else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON has it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "provenance": {"pagecast": __version__, "source": self.source},
            "level": self.level,
            **self.totals,
            "notes": list(self.notes),
            **{name: self.table(name).to_dict() for name in TABLES},
        }


def describe(
    source: str | os.PathLike[str] | Recording | Scenario,
    reading: Reading | None = None,
    *,
    operations: int = MOST_OPERATIONS,
    pages: int = MOST_PAGES,
    progress: Callable[[float], None] | None = None,
) -> Description:
    """Describe a recording, or what programs would do.

    Parameters
    ----------
    source : path-like, Recording or Scenario
        In any format that `pagecast formats` lists, or a scenario (``.toml``). The operations of a scenario,
        a fio job or a workflow are drawn one of each process in turn, without times.
    reading : Reading, optional
        How it is read.
    operations : int
        So many operations of programs are described at most.
    pages : int
        Reuse of up to so many different pages is exact. Of more, it is that of a sample of pages by their
        places (SHARDS, Waldspurger et al., FAST 2015), and `hit_ratio` has its standard error.
    progress : callable, optional
        Is called now and then with the share that is read, NaN if that is not known.

    Returns
    -------
    Description

    Raises
    ------
    ScenarioError
        It cannot be read or understood; the message names the line.
    """
    check_whole("operations", operations, least=1)
    check_whole("pages", pages, least=1)
    if isinstance(source, Recording):
        recording, name = source, "a recording"
    elif isinstance(source, Scenario) or _is_scenario(source, reading):
        scenario = source if isinstance(source, Scenario) else Scenario.load(source)
        recording, name = scenario.record(operations), scenario.origin
    else:
        recording = read(source, reading or Reading(), operations=operations, progress=progress)
        name = shown(source)
    found = json.loads(recording.describe(pages))
    tables = {table: _columns(found.pop(table), columns) for table, columns in TABLES.items()}
    notes = tuple(f"{place}: {text}" for place, text in recording.notes)
    return Description(name, recording.level, found, notes, tables)


def _is_scenario(source: str | os.PathLike[str], reading: Reading | None) -> bool:
    return (reading is None or reading.format is None) and check_path("source", source).endswith(".toml")


def _columns(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> Columns:
    """Make columns of rows; the classes of a file or process are columns of their own."""
    for row in rows:
        if "classes" in row:
            row.update(zip(CLASSES, row.pop("classes"), strict=True))
    return Columns({name: _column(name, [row[name] for row in rows]) for name in names})


def _column(name: str, values: list[Any]) -> Any:
    if name in _TEXTS:
        return values
    if name == "is_write":
        return np.array(values, dtype=bool)
    if name.endswith("_s") or "ratio" in name or name == "error":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=np.int64 if all(value < 2**63 for value in values) else np.uint64)


def size_text(size_bytes: int) -> str:
    """Write the size of a request in the largest binary unit of which it is a multiple: 4 KiB."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit and size_bytes % unit == 0:
            return f"{size_bytes // unit:,} {name}"
    return f"{size_bytes:,} B"
