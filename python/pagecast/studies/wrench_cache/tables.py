"""The small tables shipped beside this file: measurements, and results of the authors' simulators.

README.md says where the numbers come from; `make_tables.py` makes the files out of the full recordings.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = [
    "HERE",
    "Key",
    "Measured",
    "Window",
    "cached_files",
    "long_writes",
    "makespans",
    "measured",
    "memory",
    "published",
    "published_run_times",
]

HERE: Final = Path(__file__).parent

Key = tuple[str, str, str]
"""Experiment, case and operation, in the words of ``pagecast reproduce --json``."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds, mean over applications: mean, least and greatest over the repetitions."""

    mean_s: float
    min_s: float
    max_s: float
    repetitions: int


@cache
def measured() -> dict[Key, Measured]:
    """Give the measured times; "read total" and "write total" of Exp 2 and 3 are sums over the tasks."""
    return {
        _key(row): Measured(
            mean_s=float(row["mean_s"]),
            min_s=float(row["min_s"]),
            max_s=float(row["max_s"]),
            repetitions=int(row["repetitions"]),
        )
        for row in _rows("measured.csv")
    }


@cache
def makespans() -> dict[tuple[str, str], float]:
    """Give the mean seconds from the start of the first to the end of the last application, Exp 2 and 3."""
    return {(row["experiment"], row["case"]): float(row["mean_s"]) for row in _rows("makespans.csv")}


@cache
def long_writes() -> dict[str, float]:
    """Give the share of all writes of Exp 2 that took more than 5 s, by case."""
    return {row["case"]: float(row["share"]) for row in _rows("long_writes.csv")}


@dataclass(frozen=True, slots=True)
class Window:
    """Memory during a part of an operation of Exp 1, or of the computing between two: means, in bytes.

    Seconds count from the start of the first read. `dirtyable_bytes` is free and cached memory.
    """

    case: str
    span: str
    start_s: float
    end_s: float
    dirty_bytes: float
    cached_bytes: float
    dirtyable_bytes: float


@cache
def memory() -> tuple[Window, ...]:
    """Give the memory that was measured during Exp 1."""
    return tuple(
        Window(row.pop("case"), row.pop("span"), **{name: float(value) for name, value in row.items()})
        for row in _rows("memory.csv")
    )


@cache
def published() -> dict[str, dict[Key, float]]:
    """Give the seconds that each of the authors' simulators published, by simulator and vintage."""
    simulators: dict[str, dict[Key, float]] = {}
    for row in _rows("published.csv"):
        for column, value in row.items():
            if column.endswith("_s") and value:
                simulators.setdefault(column.removesuffix("_s"), {})[_key(row)] = float(value)
    return simulators


@cache
def published_run_times() -> dict[str, dict[tuple[str, int], float]]:
    """Give the wall-clock seconds of the authors' simulators by experiment and number of applications."""
    simulators: dict[str, dict[tuple[str, int], float]] = {}
    for row in _rows("published_run_times.csv"):
        for column, value in row.items():
            if column.endswith("_s"):
                times = simulators.setdefault(column.removesuffix("_s"), {})
                times[row["experiment"], int(row["applications"])] = float(value)
    return simulators


@cache
def cached_files() -> dict[str, dict[tuple[str, str], tuple[float, ...]]]:
    """Give the cached bytes of f1 to f4 after each operation of Exp 1, by source, case and operation."""
    sources: dict[str, dict[tuple[str, str], tuple[float, ...]]] = {}
    for row in _rows("cached_files.csv"):
        amounts = tuple(float(row[f"f{k}_bytes"]) for k in range(1, 5))
        sources.setdefault(row["source"], {})[row["case"], row["operation"]] = amounts
    return sources


def _key(row: dict[str, str]) -> Key:
    return row["experiment"], row["case"], row["operation"]


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)
