"""The requests of each thread of a fio job that count in a report, from rows or from histograms."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.errors import ArgumentError
from pagecast.result import Result

__all__ = ["DEPTHS", "Thread", "Times", "threads", "together"]

DEPTHS: Final = (1, 2, 4, 8, 16, 32, 64)

_SYNCS: Final = ("fsync", "fdatasync", "sync_file_range", "msync")

_KINDS: Final = {"read": "read", "mmap_read": "read", "write": "write", "mmap_write": "write"}

_Ints = NDArray[np.int64]


def threads(result: Result, described: Iterable[Mapping[str, Any]]) -> "list[Thread]":
    """Give the requests of each thread.

    Parameters
    ----------
    result : Result
        Of the job file. Without rows of all operations they come from histograms.
    described : iterable of mapping
        The threads of a job file.

    Returns
    -------
    list of Thread

    Raises
    ------
    ArgumentError
        There are more processes and files than histograms.
    """
    if result.has_all_operations:
        rows = _rows(result)
        return [_of_rows(each, rows.get(each["process"], {})) for each in described]
    found = _histograms(result)
    return [_of_histograms(each, found.get(each["process"], {})) for each in described]


def _rows(result: Result) -> dict[str, dict[str, Any]]:
    """Sort the operations by process."""
    table = result.operations
    process = np.asarray(table["process"])
    columns = {
        "operation": np.asarray(table["operation"]),
        "bytes": np.asarray(table["bytes"], dtype=np.int64),
        "index": np.asarray(table["index"], dtype=np.int64),
        "start": np.rint(np.asarray(table["start_s"]) * 1e9).astype(np.int64),
        "end": np.rint(np.asarray(table["end_s"]) * 1e9).astype(np.int64),
    }
    names, which = np.unique(process, return_inverse=True)
    order = np.lexsort((columns["index"], which))
    bounds = np.searchsorted(which[order], np.arange(len(names) + 1))
    return {
        str(name): {key: column[order[low:high]] for key, column in columns.items()}
        for name, low, high in zip(names, bounds[:-1], bounds[1:], strict=True)
    }


@dataclass(frozen=True)
class Times:
    """Durations in nanoseconds, how often each is there, and their sum."""

    duration: _Ints
    count: _Ints
    total: float

    @property
    def n(self) -> int:
        """How many."""
        return int(self.count.sum())

    @property
    def mean(self) -> float:
        """Their mean, 0 of none."""
        return self.total / max(self.n, 1)

    @property
    def deviation(self) -> float:
        """The standard deviation, as of a sample."""
        squares = float((self.count * (self.duration - self.mean) ** 2).sum())
        return math.sqrt(squares / (self.n - 1)) if self.n > 1 else 0.0


def _times(duration: _Ints) -> Times:
    """Count each by itself."""
    return Times(duration, np.ones(len(duration), dtype=np.int64), float(duration.sum()))


def together(all_times: Iterable[Times]) -> Times:
    """Count all of several."""
    each = list(all_times)
    if not each:
        return _times(np.zeros(0, dtype=np.int64))
    return Times(
        np.concatenate([times.duration for times in each]),
        np.concatenate([times.count for times in each]),
        sum(times.total for times in each),
    )


@dataclass(frozen=True)
class Thread:
    """The requests of one thread that count, by direction; times in nanoseconds.

    Attributes
    ----------
    begin, end : int
        Of the time in which they are.
    depths : list of int
        Requests by how many of the thread were under way when they began, as `DEPTHS`.
    """

    description: Mapping[str, Any]
    begin: int
    end: int
    latency: Mapping[str, Times]
    bytes: Mapping[str, int]
    syncs: Times
    depths: list[int]

    @property
    def is_reported(self) -> bool:
        """Whether it is in reports."""
        return bool(self.description["is_reported"])

    @property
    def milliseconds(self) -> int:
        """How long it has run; fio counts whole milliseconds."""
        return max(1, (self.end - self.begin) // 1_000_000)


def _of_rows(description: Mapping[str, Any], rows: Mapping[str, Any]) -> Thread:
    """Count the operations after its files are there, and after its ramp."""
    empty = np.zeros(0, dtype=np.int64)
    operation = rows.get("operation", np.zeros(0, dtype=str))[description["set_up"] :]
    start, end, size = (rows.get(key, empty)[description["set_up"] :] for key in ("start", "end", "bytes"))
    begin = int(start.min()) if len(start) else 0
    ramp = round(description["ramp_s"] * 1e9)
    counts = start >= begin + ramp if ramp else np.ones(len(start), dtype=bool)
    kind = np.array([_KINDS.get(each, "") for each in operation], dtype="U5")
    of_kind = {each: counts & (kind == each) for each in ("read", "write")}
    latency = (end - start).astype(np.int64)
    return Thread(
        description,
        begin=int(start[counts].min()) if counts.any() else begin,
        end=int(end.max()) if len(end) else begin,
        latency={each: _times(latency[rows]) for each, rows in of_kind.items()},
        bytes={each: int(size[rows].sum()) for each, rows in of_kind.items()},
        syncs=_times(_syncs(description, operation, kind, latency, counts)),
        depths=_depths(description, start[counts & (kind != "")], end[counts & (kind != "")]),
    )


def _syncs(description: Mapping[str, Any], operation: Any, kind: Any, latency: _Ints, counts: Any) -> _Ints:
    """Give the times of the syncs between requests; fio leaves those at the end of a loop out."""
    if not description["has_periodic_sync"]:
        return np.zeros(0, dtype=np.int64)
    is_sync = np.isin(operation, _SYNCS) & counts
    requests = np.flatnonzero(kind != "")
    is_before_last = np.arange(len(operation)) < (requests[-1] if len(requests) else 0)
    found: _Ints = latency[is_sync & is_before_last]
    return found


def _depths(description: Mapping[str, Any], start: _Ints, end: _Ints) -> list[int]:
    """Count requests by how many of the thread were under way when they began."""
    if not len(start):
        return [0] * len(DEPTHS)
    depth = np.arange(1, len(start) + 1) - np.searchsorted(np.sort(end), np.sort(start), side="right")
    limit = len(start) if description["is_asynchronous"] else 1
    which = np.searchsorted(DEPTHS, np.clip(depth, 1, limit), side="right") - 1
    counts: list[int] = np.bincount(which, minlength=len(DEPTHS)).tolist()
    return counts


@dataclass(frozen=True)
class _Histogram:
    """Operations of a kind, of a process: durations, bytes, begin of the first and end of the last."""

    times: Times
    bytes: int
    begin: int
    end: int


def _histograms(result: Result) -> dict[str, dict[str, list[_Histogram]]]:
    """Sort the histograms of a result by process and kind."""
    bins, table = result.latency_bins, result.latency
    names = ("process", "path", "operation")
    keys = list(zip(*(table[name] for name in names), strict=True))
    if any(not process for process, _, _ in keys):
        raise ArgumentError("there are too many processes and files for a histogram of each; record all")
    of_bins: dict[tuple[str, str, str], list[int]] = {}
    for row, key in enumerate(zip(*(bins[name] for name in names), strict=True)):
        of_bins.setdefault(key, []).append(row)
    nanoseconds = {
        name: np.rint(1e9 * table[name]).astype(np.int64)
        for name in ("total_s", "first_start_s", "last_end_s")
    }
    duration = np.rint(1e9 * bins["duration_s"]).astype(np.int64)
    found: dict[str, dict[str, list[_Histogram]]] = {}
    for row, key in enumerate(keys):
        rows = of_bins.get(key, [])
        total, begin, end = (int(column[row]) for column in nanoseconds.values())
        times = Times(duration[rows], bins["count"][rows].astype(np.int64), float(total))
        histogram = _Histogram(times, int(table["bytes"][row]), begin, end)
        found.setdefault(key[0], {}).setdefault(key[2], []).append(histogram)
    return found


def _of_histograms(description: Mapping[str, Any], found: Mapping[str, list[_Histogram]]) -> Thread:
    """Count all operations. Those before its files are there take no part in reading and writing."""
    of_kind: dict[str, list[_Histogram]] = {"read": [], "write": []}
    for operation, histograms in found.items():
        if operation in _KINDS:
            of_kind[_KINDS[operation]] += histograms
    requests = [*of_kind["read"], *of_kind["write"]]
    every = [histogram for histograms in found.values() for histogram in histograms]
    begin = min((histogram.begin for histogram in requests), default=0)
    end = max((histogram.end for histogram in every), default=begin)
    syncs = [each for sync in _SYNCS for each in found.get(sync, [])]
    latency = {kind: together(each.times for each in of_kind[kind]) for kind in of_kind}
    return Thread(
        description,
        begin=begin,
        end=end,
        latency=latency,
        bytes={kind: sum(each.bytes for each in of_kind[kind]) for kind in of_kind},
        syncs=together(each.times for each in syncs if description["has_periodic_sync"]),
        depths=_mean_depth(description, latency, end - begin),
    )


def _mean_depth(description: Mapping[str, Any], latency: Mapping[str, Times], lasts: int) -> list[int]:
    """Count all requests with their mean depth (Little's law)."""
    total = sum(times.total for times in latency.values())
    depth = max(1, round(total / lasts)) if description["is_asynchronous"] and lasts else 1
    counts = [0] * len(DEPTHS)
    counts[int(np.searchsorted(DEPTHS, depth, side="right")) - 1] = sum(times.n for times in latency.values())
    return counts
