"""Names the operations on files of a run, measured or forecast, and adds up their times.

The total of a case is the time of all its processes in operations on files. Computing, sleeping and waiting
for others is no I/O; memory of the program's own (`alloc`, `free`) is not either, though the page cache gives
way to it: what that costs shows in the reads and writes beside it.
"""

from collections import Counter
from typing import TYPE_CHECKING, Final

from pagecast.kinds import NO_IO

if TYPE_CHECKING:
    from pagecast.result import Columns, Result

__all__ = ["LEAST_S", "Operation", "names", "operations", "total_s"]

LEAST_S: Final = 1e-3
"""An operation that takes less has no row of its own: what else the processors do is as long."""

Operation = tuple[str, int]
"""A process, and which of its operations, from 0."""


def operations(table: "Columns") -> dict[Operation, float]:
    """Give the seconds of each operation on files, of a table of operations."""
    columns = (table[name] for name in ("process", "index", "operation", "duration_s"))
    return {
        (process, int(index)): float(duration_s)
        for process, index, kind, duration_s in zip(*columns, strict=True)
        if kind not in NO_IO
    }


def names(table: "Columns") -> dict[Operation, str]:
    """Call the n-th write of a process "write n", as studies do."""
    columns = (table[name] for name in ("process", "index", "operation"))
    counted: Counter[tuple[str, str]] = Counter()
    found = {}
    for process, index, kind in sorted(zip(*columns, strict=True), key=lambda row: (row[0], row[1])):
        counted[process, kind] += 1
        found[process, int(index)] = f"{kind} {counted[process, kind]}"
    return found


def total_s(result: "Result") -> float:
    """Add up the seconds of all processes in operations on files."""
    return sum(operations(result.operations).values())
