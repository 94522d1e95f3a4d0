"""Computes measures of a result from its columns, without a data frame.

Percentiles of operations with several rows in `Result.latency` are those of their histograms together.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pagecast.arguments import named
from pagecast.errors import MeasureError
from pagecast.kinds import NO_IO
from pagecast.measures.language import Measure, Operations, matching

if TYPE_CHECKING:
    from pagecast.result import Columns, Result

__all__ = ["evaluate", "rows_of"]

_MOST_NAMES = 12
"""A message lists so many."""

_AT_THE_END: Final = -1
"""The index of rows of `files` that are of no operation."""


def evaluate(measures: Sequence[Measure], result: "Result") -> list[int | float | None]:
    """Compute measures.

    Parameters
    ----------
    measures : sequence of Measure
    result : Result

    Returns
    -------
    list of int, float or None
        In the units of the measures; None for a ratio of nothing, such as a rate of operations that take no
        time.

    Raises
    ------
    MeasureError
        The result has no such process, operation, path, part, level or host; the message lists those that
        there are.
    """
    return [_FUNCTIONS[measure.function](measure, result) for measure in measures]


def _percentile(measure: Measure, result: "Result") -> float:
    import numpy as np

    rows = rows_of(measure, result.latency_bins)
    duration_s, count = result.latency_bins["duration_s"][rows], result.latency_bins["count"][rows]
    order = np.argsort(duration_s, kind="stable")
    so_far = np.cumsum(count[order])
    assert measure.percent is not None, "the reader gives every percentile its percent"
    rank = max(1, math.ceil(measure.percent / 100 * int(so_far[-1]) - 1e-9))
    return float(duration_s[order][np.searchsorted(so_far, rank)])


def _mean(measure: Measure, result: "Result") -> float | None:
    return _ratio(_sum(measure, result), _count(measure, result))


def _min(measure: Measure, result: "Result") -> float:
    return float(result.latency["min_s"][rows_of(measure, result.latency)].min())


def _max(measure: Measure, result: "Result") -> float:
    return float(result.latency["max_s"][rows_of(measure, result.latency)].max())


def _sum(measure: Measure, result: "Result") -> float:
    return math.fsum(result.latency["total_s"][rows_of(measure, result.latency)].tolist())


def _count(measure: Measure, result: "Result") -> int:
    return int(result.latency["count"][rows_of(measure, result.latency)].sum())


def _bytes(measure: Measure, result: "Result") -> int:
    return int(result.latency["bytes"][rows_of(measure, result.latency)].sum())


def _rate(measure: Measure, result: "Result") -> float | None:
    return _ratio(_bytes(measure, result), _span(measure, result))


def _makespan(measure: Measure, result: "Result") -> float:
    return float(result.end_s) if measure.operations is None else _span(measure, result)


def _span(measure: Measure, result: "Result") -> float:
    """Give the time from the first start to the last end."""
    rows = rows_of(measure, result.latency, with_all_kinds=measure.function == "makespan")
    starts, ends = result.latency["first_start_s"][rows], result.latency["last_end_s"][rows]
    return float(ends.max() - starts.min())


def _share(measure: Measure, result: "Result") -> float | None:
    parts = result.latency_parts
    names = [name.removesuffix("_s") for name in parts if name.endswith("_s")]
    if measure.subject not in names:
        raise _unknown(measure, "part", measure.subject, names)
    rows = rows_of(measure, parts)
    sums = {name: math.fsum(parts[f"{name}_s"][rows].tolist()) for name in names}
    return _ratio(sums[measure.subject], math.fsum(sums.values()))


def _peak(measure: Measure, result: "Result") -> int:
    timeline = result.timeline
    levels = [name.removesuffix("_bytes") for name in timeline if name.endswith("_bytes")]
    if measure.subject not in levels:
        raise _unknown(measure, "level", measure.subject, levels)
    level = timeline[f"{measure.subject}_bytes"]
    if measure.host is not None:
        hosts = timeline["host"]
        if measure.host not in hosts:
            raise _unknown(measure, "host", measure.host, hosts)
        level = level[[host == measure.host for host in hosts]]
    return int(level.max(initial=0))


def _cached(measure: Measure, result: "Result") -> int:
    """Give the bytes in memory after the last operation, of all files that match."""
    files = result.files
    rows = [row for row, index in enumerate(files["index"].tolist()) if index == _AT_THE_END]
    if measure.host is not None:
        of_host = _matching(measure, "host", measure.host, (files["host"][row] for row in rows))
        rows = [row for row in rows if files["host"][row] in of_host]
    of_path = _matching(measure, "file", measure.subject, (files["path"][row] for row in rows))
    return int(sum(files["cached_bytes"][row] for row in rows if files["path"][row] in of_path))


def _at_risk(measure: Measure, result: "Result") -> int:
    """Give the highest sum over all disks; a row of a disk holds from its time on."""
    import numpy as np

    table = result.at_risk
    if not len(table):
        if result.model != "kernel":
            raise MeasureError(f"measure `{measure.text}`: {result.model} does not know it; take kernel")
        return 0
    level = table["at_risk_bytes"]
    change = level.copy()
    last: dict[tuple[str, str], int] = {}
    for row, disk in enumerate(zip(table["host"], table["device"], strict=True)):
        if disk in last:
            change[row] -= level[last[disk]]
        last[disk] = row
    time_s = table["time_s"]
    order = np.argsort(time_s, kind="stable")
    is_last_of_its_time = np.append(np.diff(time_s[order]) > 0, True)
    return int(np.cumsum(change[order])[is_last_of_its_time].max())


_FUNCTIONS: Final[dict[str, Callable[[Measure, "Result"], int | float | None]]] = {
    "percentile": _percentile,
    "mean": _mean,
    "min": _min,
    "max": _max,
    "sum": _sum,
    "count": _count,
    "bytes": _bytes,
    "rate": _rate,
    "makespan": _makespan,
    "share": _share,
    "peak": _peak,
    "cached": _cached,
    "at_risk": _at_risk,
}


def rows_of(measure: Measure, table: "Columns", *, with_all_kinds: bool = False) -> Any:
    """Give the numbers of the rows that a measure is about; `*` as a kind is all that is about files."""
    import numpy as np

    wanted = measure.operations
    assert wanted is not None, "the reader gives operations to every measure of operations"
    processes, kinds, paths = table["process"], table["operation"], table["path"]
    of_process = _matching(measure, "process", wanted.process, processes)
    rows = [row for row, process in enumerate(processes) if process in of_process]
    ours = [kinds[row] for row in rows]
    if wanted.operation == "*" and not with_all_kinds:
        ours = [kind for kind in ours if kind not in NO_IO]
    of_kind = _matching(measure, _of("operation", wanted), wanted.operation, ours)
    rows = [row for row in rows if kinds[row] in of_kind]
    if wanted.path != "*":
        of_path = _matching(measure, _of("path", wanted), wanted.path, [paths[row] for row in rows])
        rows = [row for row in rows if paths[row] in of_path]
    return np.array(rows, dtype=np.int64)


def _of(what: str, wanted: Operations) -> str:
    return f"{what} of `{wanted.process}`" if wanted.process != "*" else what


def _matching(measure: Measure, what: str, pattern: str, names: Iterable[str]) -> set[str]:
    """Give the names that match a pattern; there must be one."""
    known = dict.fromkeys(names)
    found = matching(pattern, known)
    if not found:
        raise _unknown(measure, what, pattern, known)
    return found


def _unknown(measure: Measure, what: str, name: str, known: Iterable[str]) -> MeasureError:
    names = sorted({*known} - {""})
    there = f"there are {named(names, _MOST_NAMES)}" if names else "this result has no names of them"
    return MeasureError(f"measure `{measure.text}`: there is no {what} called `{name}`; {there}")


def _ratio(above: float, below: float) -> float | None:
    return above / below if below > 0 else None
