"""Explains one operation: its parts, whom it waited behind, and what else happened meanwhile."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.arguments import named, shown
from pagecast.errors import ArgumentError
from pagecast.explanation.levels import DiskLoad, Levels, disk_loads, levels_at, named_spans
from pagecast.kinds import NO_IO
from pagecast.measures.language import matching

if TYPE_CHECKING:
    from pagecast.explanation.levels import Tables
    from pagecast.result import Columns

__all__ = ["OperationExplained", "Other", "Wait", "explain_row", "find_row", "find_slowest", "slowest_rows"]

_MOST_NAMES = 12


@dataclass(frozen=True)
class Wait:
    """Whom an operation waited behind in one part of its time.

    Attributes
    ----------
    part : str
    work : str
        ``write-back``, ``reads`` or ``direct writes`` of the file.
    process, path : str
        ``""`` if not known.
    waited_s : float
    """

    part: str
    work: str
    process: str
    path: str
    waited_s: float


@dataclass(frozen=True)
class Other:
    """An operation of another process, and for how long the two ran side by side."""

    process: str
    operation: str
    path: str
    beside_s: float


@dataclass(frozen=True)
class OperationExplained:
    """Why an operation took as long as it did.

    Attributes
    ----------
    process, host, operation, path : str
    number : int or None
        Which of its kind of its process, from 1; None where not every operation has a row.
    index : int
        Which of all of its process, from 0.
    start_s, end_s, duration_s : float
    bytes : int
    count : int
        Operations of its kind of its process that have a row.
    rank : int
        Which of them it is, the slowest first, from 1.
    median_s : float
        Of their durations.
    parts : dict of str to float
        Seconds of each part, the longest first.
    waits : tuple of Wait
        The longest first.
    levels : Levels
        At its start.
    disks : tuple of DiskLoad
        Of its host.
    throttled : tuple of str
        Other processes that were throttled meanwhile.
    others : tuple of Other
        On files, the longest first.
    """

    process: str
    host: str
    operation: str
    path: str
    number: int | None
    index: int
    start_s: float
    end_s: float
    duration_s: float
    bytes: int
    count: int
    rank: int
    median_s: float
    parts: Mapping[str, float]
    waits: tuple[Wait, ...]
    levels: Levels
    disks: tuple[DiskLoad, ...]
    throttled: tuple[str, ...]
    others: tuple[Other, ...]

    @property
    def text(self) -> str:
        """All of it in sentences."""
        from pagecast.explanation.wording import words_of_operation

        return "\n".join(words_of_operation(self))

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return asdict(self)


def find_slowest(result: "Tables", process: str | None = None, kind: str | None = None) -> int:
    """Find the row of the slowest operation, by default of all that are about files."""
    rows = _rows(result, process, kind)
    durations = result.operations["duration_s"][rows]
    return int(rows[int(np.argmax(durations))])


def slowest_rows(result: "Tables", most: int) -> list[int]:
    """Find the slowest operation of each kind of each process, the slowest first; only those about files."""
    table = result.operations
    processes, kinds = table["process"], table["operation"]
    seen: dict[tuple[str, str], int] = {}
    for row in np.argsort(-table["duration_s"], kind="stable").tolist():
        if kinds[row] not in NO_IO and table["duration_s"][row] > 0:
            seen.setdefault((processes[row], kinds[row]), row)
            if len(seen) == most:
                break
    return [*seen.values()]


def find_row(result: "Tables", process: str | None, kind: str | None, number: int) -> int:
    """Find the row of the n-th operation of a kind of a process, from 1."""
    if not result.has_all_operations:
        raise ArgumentError(
            f"#{number}: not every operation has a row; leave the number out for the slowest one"
        )
    rows = _rows(result, process, kind)
    table = result.operations
    if len({table["process"][row] for row in rows.tolist()}) > 1:
        raise ArgumentError(f"#{number}: of which process? Name it")
    if number > len(rows):
        raise ArgumentError(f"#{number}: there are {len(rows):,} such operations")
    order = np.argsort(table["index"][rows], kind="stable")
    return int(rows[order[number - 1]])


def _rows(result: "Tables", process: str | None, kind: str | None) -> "np.ndarray[Any, Any]":
    table = result.operations
    processes, kinds = table["process"], table["operation"]
    rows = range(len(table))
    if process is not None:
        those = matching(process, processes)
        rows = [row for row in rows if processes[row] in those]  # type: ignore[assignment]
        if not rows:
            raise _unknown("process", process, set(processes))
    found = [row for row in rows if (kinds[row] == kind if kind else kinds[row] not in NO_IO)]
    if not found and kind:
        raise _unknown("operation", kind, {kinds[row] for row in rows})
    if not found:
        raise ArgumentError("no operation on a file has a row; there is nothing to explain")
    return np.array(found, dtype=np.int64)


def _unknown(what: str, name: str, known: set[str]) -> ArgumentError:
    return ArgumentError(f"there is no {what} `{shown(name)}`; there are {named(sorted(known), _MOST_NAMES)}")


def explain_row(result: "Tables", row: int) -> OperationExplained:
    """Explain the operation of one row of `operations`.

    Parameters
    ----------
    result : Result or SavedResult
    row : int

    Returns
    -------
    OperationExplained
    """
    table = result.operations
    process, kind, host = table["process"][row], table["operation"][row], table["host"][row]
    start_s, end_s = float(table["start_s"][row]), float(table["end_s"][row])
    alike = _rows(result, process, kind)
    durations = table["duration_s"][alike]
    index = int(table["index"][row])
    parts = {
        name.removesuffix("_s"): float(result.parts[name][row])
        for name in result.parts
        if name.endswith("_s") and result.parts[name][row] > 0
    }
    near = _near(result, row)
    throttled = named_spans(result, "throttling", start_s, end_s, "host", "process")
    return OperationExplained(
        process,
        host,
        kind,
        table["path"][row],
        int((table["index"][alike] <= index).sum()) if result.has_all_operations else None,
        index,
        start_s,
        end_s,
        float(table["duration_s"][row]),
        int(table["bytes"][row]),
        len(alike),
        int((durations > table["duration_s"][row]).sum()) + 1,
        float(np.median(durations)),
        dict(sorted(parts.items(), key=lambda each: -each[1])),
        _waits(result, row, near),
        levels_at(result, host, start_s),
        tuple(disk_loads(result, start_s, end_s, host)),
        tuple(sorted(who for of, who in throttled if of == host and who != process)),
        _others(table, row, near),
    )


def _near(result: "Tables", row: int) -> list[int]:
    """Find the rows of operations that ran beside that of a row, itself among them."""
    table = result.operations
    start_s, end_s = table["start_s"][row], table["end_s"][row]
    return np.flatnonzero((table["start_s"] < end_s) & (table["end_s"] > start_s)).tolist()


def _waits(result: "Tables", row: int, near: list[int]) -> tuple[Wait, ...]:
    table, own = result.waits, result.operations
    process, index = own["process"][row], int(own["index"][row])
    found = [
        Wait(
            table["part"][at],
            _work(own, near, table["behind_process"][at], table["behind_path"][at]),
            table["behind_process"][at],
            table["behind_path"][at],
            float(table["waited_s"][at]),
        )
        for at in np.flatnonzero(table["index"] == index).tolist()
        if table["process"][at] == process and table["waited_s"][at] > 0
    ]
    return tuple(sorted(found, key=lambda wait: -wait.waited_s))


def _work(table: "Columns", near: list[int], process: str, path: str) -> str:
    """Tell what a disk did for a file of a process, by its operations of the rows `near`."""
    kinds = [
        (table["operation"][at], bool(table["from_device_bytes"][at] >= table["bytes"][at] > 0))
        for at in near
        if table["process"][at] == process and table["path"][at] == path
    ]
    if kinds and all("read" in kind for kind, _ in kinds):
        return "reads"
    if kinds and all(kind == "write" and is_direct for kind, is_direct in kinds):
        return "direct writes"
    return "write-back"


def _others(table: "Columns", row: int, near: list[int]) -> tuple[Other, ...]:
    start_s, end_s = table["start_s"][row], table["end_s"][row]
    found: dict[tuple[str, str, str], float] = {}
    for at in near:
        kind, process = table["operation"][at], table["process"][at]
        if kind in NO_IO or process == table["process"][row] or table["host"][at] != table["host"][row]:
            continue
        name = (process, kind, table["path"][at])
        beside = min(end_s, table["end_s"][at]) - max(start_s, table["start_s"][at])
        found[name] = found.get(name, 0.0) + float(beside)
    others = [Other(*name, beside_s) for name, beside_s in found.items() if beside_s > 0]
    return tuple(sorted(others, key=lambda other: -other.beside_s))
