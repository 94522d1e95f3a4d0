"""How long operations take that are done again and again: their mean and percentiles.

A program does an operation repeatedly in a loop, and copies of a program do it beside each other. Operations
are put together that are of one kind, of processes whose names differ in a number only, and of files whose
paths differ in numbers only. A percentile is a time that an operation took, never one in between: the least
one that so many percent are no longer than (nearest rank).
"""

import re
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pagecast.distinct import combined, first_rows, numbered
from pagecast.result import Columns

__all__ = ["PERCENTILES", "common_path", "generic_name", "repeated", "repeated_of_latency"]

PERCENTILES: Final = {"p50_s": 50.0, "p90_s": 90.0, "p99_s": 99.0, "p99_9_s": 99.9}
"""The columns of percentiles, and the percent of the operations that are no longer."""

_NUMBER: Final = re.compile(r"\d+")


def repeated_of_latency(latency: Columns) -> Columns:
    """Give the same of operations without rows, from `Result.latency`: each process and path by itself."""
    again = np.flatnonzero(latency["count"] > 1)
    names = {
        name: [latency[name][row] for row in again.tolist()] for name in ("process", "operation", "path")
    }
    times = {name: latency[name][again] for name in ("mean_s", *PERCENTILES, "max_s")}
    return Columns({**names, "n": latency["count"][again], **times})


def repeated(operations: Columns) -> Columns:
    """Give a row for each operation that was done more than once.

    Parameters
    ----------
    operations : Columns
        As of a result.

    Returns
    -------
    Columns
        `process`, `operation` and `path` (what differs is "{n}"), `n`, `mean_s`, `PERCENTILES`, `max_s`; in
        the order in which they were done first.
    """
    groups, first = _groups(operations)
    count = len(first)
    order = np.lexsort((operations["duration_s"], groups))
    duration_s = operations["duration_s"][order]
    n = np.bincount(groups, minlength=count)
    ends = np.cumsum(n)
    total_s = np.bincount(groups, weights=operations["duration_s"], minlength=count)
    again = np.flatnonzero(n > 1)
    names = {name: _common(operations[name], groups, again) for name in ("process", "path")}
    ranks = {
        name: np.ceil(np.round(percent / 100 * n, 6)).astype(int) for name, percent in PERCENTILES.items()
    }
    return Columns(
        {
            "process": names["process"],
            "operation": [operations["operation"][row] for row in first[again].tolist()],
            "path": names["path"],
            "n": n[again],
            "mean_s": total_s[again] / n[again],
            **{name: duration_s[(ends - n + rank - 1)[again]] for name, rank in ranks.items()},
            "max_s": duration_s[(ends - 1)[again]],
        }
    )


def generic_name(process: str) -> str:
    """Replace the first number of a name: copies of one process become the same."""
    return _NUMBER.sub("{n}", process, count=1)


def common_path(one: str, other: str) -> str:
    """Give what two paths have in common: numbers that differ become {n}."""
    if one == other:
        return one
    pairs = list(zip_longest(*(re.split(r"(\d+|\{n\})", path) for path in (one, other))))
    if any(left != right for left, right in pairs[::2]):
        return "(several files)"
    return "".join(str(left) if left == right else "{n}" for left, right in pairs)


def _groups(operations: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the operations that go together, in the order of their first; give the first of each, too."""
    return combined(
        _numbered_as(operations["process"], generic_name),
        numbered(operations["operation"])[1],
        _numbered_as(operations["path"], lambda path: _NUMBER.sub("{n}", path)),
    )


def _numbered_as(column: Sequence[str], generic: Callable[[str], str]) -> NDArray[np.int64]:
    """Number the values of a column so that those of which the same is made have the same number."""
    values, rows = numbered(column)
    return numbered([generic(value) for value in values])[1][rows]


def _common(texts: Sequence[str], groups: NDArray[np.int64], again: NDArray[np.int64]) -> list[str]:
    """Give what the texts of each group of several have in common."""
    first = first_rows(groups, numbered(texts)[1])
    ends = np.searchsorted(groups[first], again, side="right")
    starts = np.searchsorted(groups[first], again, side="left")
    return [
        reduce(common_path, (texts[row] for row in first[start:end].tolist()))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
