"""Percentiles of operations in a folder that ``--out`` has made, and those of two folders side by side."""

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pagecast.export import unquoted
from pagecast.kinds import NO_IO

__all__ = [
    "FEWEST",
    "NAMES",
    "PercentileDifference",
    "PercentileKey",
    "Percentiles",
    "checked_seconds",
    "of_results",
    "of_table",
    "side_by_side",
]

PercentileKey = tuple[str, str, str, str]
"""A case ("" of `simulate` and `run`), a process, a kind and a path."""

NAMES: Final = ("p50", "p90", "p99", "p99_9", "max")

FEWEST: Final = 10
"""So many operations of a kind, of a process on a file, have percentiles."""

_SHARES: Final = {"p50": 0.5, "p90": 0.4, "p99": 0.09, "p99_9": 0.009, "max": 0.001}
"""The share of the operations that a percentile stands for: those above the one before it."""

_SAME: Final = 0.002
"""Percentiles are right to 0.1 %, so two that are so near may be the same."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """How many operations there are, and their percentiles in seconds, by `NAMES`."""

    n: int
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PercentileDifference:
    """Percentiles in both folders."""

    key: PercentileKey
    a: Percentiles
    b: Percentiles

    @property
    def is_same(self) -> bool:
        """Whether no percentile differs by more than it may be wrong."""
        return all(abs(relative or 0.0) <= _SAME for relative in self.relative.values())

    @property
    def relative(self) -> dict[str, float | None]:
        """By how much each is longer in the second folder, of the first; None where that takes no time."""
        return {
            name: self.b.seconds[name] / self.a.seconds[name] - 1 if self.a.seconds[name] > 0 else None
            for name in NAMES
        }

    @property
    def weight_s(self) -> float:
        """About how many seconds the operations differ by in sum, as far as the percentiles tell."""
        apart = sum(_SHARES[name] * abs(self.b.seconds[name] - self.a.seconds[name]) for name in NAMES)
        return apart * (self.a.n + self.b.n) / 2

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        case, process, operation, path = self.key
        return {
            "case": case,
            "process": process,
            "operation": operation,
            "path": path,
            "a_n": self.a.n,
            "b_n": self.b.n,
            "a_s": dict(self.a.seconds),
            "b_s": dict(self.b.seconds),
            "relative": self.relative,
        }


def side_by_side(
    a: Mapping[PercentileKey, Percentiles], b: Mapping[PercentileKey, Percentiles]
) -> tuple[PercentileDifference, ...]:
    """Give what both have, those that make the greatest difference first."""
    both = [PercentileDifference(key, a[key], b[key]) for key in a if key in b]
    return tuple(sorted(both, key=lambda each: -each.weight_s))


def of_table(path: Path) -> tuple[dict[PercentileKey, Percentiles], float]:
    """Read a table of latencies: percentiles, and the seconds of all operations on files in sum.

    Parameters
    ----------
    path : Path

    Returns
    -------
    tuple of dict and float

    Raises
    ------
    OSError, KeyError, ValueError, TypeError, csv.Error
        It is not there or not as it should be.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["operation"] not in NO_IO]
    found = {
        ("", unquoted(row["process"]), row["operation"], unquoted(row["path"])): Percentiles(
            int(row["count"]), {name: checked_seconds(row[f"{name}_s"]) for name in NAMES}
        )
        for row in rows
        if int(row["count"]) >= FEWEST
    }
    return found, sum(checked_seconds(row["total_s"]) for row in rows)


def of_results(
    rows: Iterable[Mapping[str, Any]], column: str, model: str | None = None
) -> dict[PercentileKey, Percentiles]:
    """Read ``percentiles`` of the results of a validation.

    Parameters
    ----------
    rows : iterable of mapping
    column : {"measured_s", "forecast_s"}
    model : str, optional
        Of this model; without it, of the first one that each row is there for.

    Returns
    -------
    dict

    Raises
    ------
    KeyError, ValueError, TypeError
        They are not as they should be.
    """
    found: dict[PercentileKey, tuple[int, dict[str, float]]] = {}
    for row in rows:
        if model is None or row["model"] == model:
            key = (row["case"], row["process"] or "", row["operation"], row["path"])
            of = found.setdefault(key, (int(row["n"]), {}))[1]
            of.setdefault(row["percentile"], checked_seconds(row[column]))
    return {
        key: Percentiles(n, {name: of[name] for name in NAMES})
        for key, (n, of) in found.items()
        if all(name in of for name in NAMES)
    }


def checked_seconds(value: Any) -> float:
    """Give a time; a `ValueError` says that it is none."""
    seconds = float(value)
    if not math.isfinite(seconds):
        raise ValueError(f"{value} is no time")
    return seconds
