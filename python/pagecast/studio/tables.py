"""The tables of the page: the makespan of each process, and the slowest operations."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.kinds import NO_IO
from pagecast.repeated import generic_name

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["makespans", "slowest"]

_MOST_OPERATIONS: Final = 12
_SMALL: Final = 0.005
"""Waits of a smaller share of the operation are not named."""


def makespans(result: "Result") -> dict[str, tuple[int, float]]:
    """Give the makespans of processes: the seconds from the first start to the last end.

    Parameters
    ----------
    result : Result

    Returns
    -------
    dict of str to tuple of int and float
        Copies of a process are one, called "app{n}": how many, and the longest makespan of them.
    """
    table = result.latency
    columns = (table["process"], table["first_start_s"].tolist(), table["last_end_s"].tolist())
    spans: dict[str, tuple[float, float]] = {}
    for process, start_s, end_s in zip(*columns, strict=True):
        if process:
            first, last = spans.get(process, (start_s, end_s))
            spans[process] = min(first, start_s), max(last, end_s)
    copies: dict[str, list[str]] = {}
    for process in spans:
        copies.setdefault(generic_name(process), []).append(process)
    return {
        name if len(several) > 1 else several[0]: (
            len(several),
            max(spans[process][1] - spans[process][0] for process in several),
        )
        for name, several in copies.items()
    }


def slowest(result: "Result") -> list[dict[str, Any]]:
    """Give the slowest operation of each kind of each process, twelve at most; copies of a process are one.

    Returns
    -------
    list of dict
        `process`, `operation`, `number` (which of its kind, from 1; None where not all have a row), `path`,
        `start_s`, `duration_s`, `part` and `part_s` (where most of the time went), `behind`, `behind_path`
        and `behind_s` (whom it waited behind at a disk for longest; "" for nobody).
    """
    table, parts = result.operations, result.parts
    rows = _slowest_rows(result)
    names = [name for name in parts if name.endswith("_s")]
    keys = {(table["process"][row], int(table["index"][row])): row for row in rows}
    waits = _longest_waits(result, keys)
    found = []
    for (process, index), row in keys.items():
        kind, duration_s = table["operation"][row], float(table["duration_s"][row])
        part = max(names, key=lambda name: parts[name][row])
        behind, path, behind_s = waits.get((process, index), ("", "", 0.0))
        found.append(
            {
                "process": process,
                "operation": kind,
                "number": _number(result, process, kind, index),
                "path": table["path"][row],
                "start_s": float(table["start_s"][row]),
                "duration_s": duration_s,
                "part": part.removesuffix("_s").replace("_", " "),
                "part_s": float(parts[part][row]),
                "behind": behind if behind_s > _SMALL * duration_s else "",
                "behind_path": path,
                "behind_s": behind_s,
            }
        )
    return found


def _slowest_rows(result: "Result") -> list[int]:
    table = result.operations
    processes, kinds = table["process"], table["operation"]
    seen: dict[tuple[str, str], int] = {}
    for row in np.argsort(-table["duration_s"], kind="stable").tolist():
        if table["duration_s"][row] <= 0 or len(seen) == _MOST_OPERATIONS:
            break
        if kinds[row] not in NO_IO:
            seen.setdefault((generic_name(processes[row]), kinds[row]), row)
    return [*seen.values()]


def _longest_waits(
    result: "Result", keys: dict[tuple[str, int], int]
) -> dict[tuple[str, int], tuple[str, str, float]]:
    table = result.waits
    processes, indices, waits_s = table["process"], table["index"], table["waited_s"]
    found: dict[tuple[str, int], tuple[str, str, float]] = {}
    for at in np.flatnonzero(np.isin(indices, [index for _, index in keys])).tolist():
        key, waited_s = (processes[at], int(indices[at])), float(waits_s[at])
        if key in keys and waited_s > found.get(key, ("", "", 0.0))[2]:
            found[key] = table["behind_process"][at], table["behind_path"][at], waited_s
    return found


def _number(result: "Result", process: str, kind: str, index: int) -> int | None:
    if not result.has_all_operations:
        return None
    table = result.operations
    before = np.flatnonzero(table["index"] <= index).tolist()
    names = ((table["process"][row], table["operation"][row]) for row in before)
    return sum(name == (process, kind) for name in names)
