"""Results in the form of fio's ``--output-format=json+``, with the keys of fio 3.33.

Latencies stand in fio's bins: each power of two from 128 ns has 64 of them (`stat.c` of fio).
"""

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast._core import __version__, describe_fio
from pagecast.arguments import check_path, shown
from pagecast.errors import ArgumentError
from pagecast.result import Result

__all__ = ["check_job_file", "json_plus"]

_BITS: Final = 6
"""Of steps in each power of two."""

_DEPTHS: Final = (1, 2, 4, 8, 16, 32, 64)

_BELOW: Final = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
"""Upper bounds of the rows of ``latency_ns``, ``latency_us`` and ``latency_ms``."""

_SYNCS: Final = ("fsync", "fdatasync", "sync_file_range", "msync")

_KINDS: Final = {"read": "read", "mmap_read": "read", "write": "write", "mmap_write": "write"}

_Ints = NDArray[np.int64]


def json_plus(result: Result, job_file: str | os.PathLike[str]) -> dict[str, Any]:
    """Give a result as fio would write it.

    Parameters
    ----------
    result : Result
        Of the job file, with all its operations.
    job_file : path-like
        The job file that was simulated.

    Returns
    -------
    dict
    """
    description = check_job_file(job_file)
    rows = _rows(result)
    threads = [_Thread(each, rows.get(each["process"], {})) for each in description["threads"]]
    reported = [_report(group) for group in _groups(thread for thread in threads if thread.is_reported)]
    return {
        "fio version": "fio-3.33",
        "made by": f"pagecast {__version__}, forecast by {result.model}",
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "",
        "global options": description["global options"],
        "jobs": reported,
        "disk_util": [],
    }


def check_job_file(job_file: str | os.PathLike[str]) -> dict[str, Any]:
    """Read of a job file what a report needs of it.

    Parameters
    ----------
    job_file : path-like

    Returns
    -------
    dict
        Its threads and the options of [global].

    Raises
    ------
    ArgumentError
        If it is of another format.
    """
    name = check_path("job_file", job_file)
    described = describe_fio(name)
    if described is None:
        raise ArgumentError(f"{shown(name)} is no fio job file, so there is no report in fio's form")
    description: dict[str, Any] = json.loads(described)
    return description


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


class _Thread:
    """The requests of one thread that count: those after its files are there, and after its ramp."""

    def __init__(self, description: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
        self.description = description
        self.is_reported: bool = description["is_reported"]
        empty = np.zeros(0, dtype=np.int64)
        operation = rows.get("operation", np.zeros(0, dtype=str))[description["set_up"] :]
        start, end, size = (
            rows.get(key, empty)[description["set_up"] :] for key in ("start", "end", "bytes")
        )
        begin = int(start.min()) if len(start) else 0
        ramp = round(description["ramp_s"] * 1e9)
        counts = start >= begin + ramp if ramp else np.ones(len(start), dtype=bool)
        self.begin = int(start[counts].min()) if counts.any() else begin
        self.end = int(end.max()) if len(end) else begin
        kind = np.array([_KINDS.get(each, "") for each in operation], dtype="U5")
        self.start = {each: start[counts & (kind == each)] for each in ("read", "write")}
        self.latency = {
            each: (end - start)[counts & (kind == each)].astype(np.int64) for each in ("read", "write")
        }
        self.bytes = {each: int(size[counts & (kind == each)].sum()) for each in ("read", "write")}
        self.syncs = self._syncs(operation, kind, end - start, counts)

    def _syncs(self, operation: Any, kind: Any, latency: _Ints, counts: Any) -> _Ints:
        """Give the times of the syncs between requests; fio leaves those at the end of a loop out."""
        if not self.description["has_periodic_sync"]:
            return np.zeros(0, dtype=np.int64)
        is_sync = np.isin(operation, _SYNCS) & counts
        requests = np.flatnonzero(kind != "")
        is_before_last = np.arange(len(operation)) < (requests[-1] if len(requests) else 0)
        found: _Ints = latency[is_sync & is_before_last]
        return found

    @property
    def milliseconds(self) -> int:
        """How long it has run; fio counts whole milliseconds."""
        return max(1, (self.end - self.begin) // 1_000_000)

    def depths(self) -> list[int]:
        """Count requests by how many of the thread were under way when they began."""
        start = np.sort(np.concatenate(list(self.start.values())))
        ended = np.sort(np.concatenate([self.start[each] + self.latency[each] for each in self.start]))
        if not len(start):
            return [0] * len(_DEPTHS)
        depth = np.arange(1, len(start) + 1) - np.searchsorted(ended, start, side="right")
        limit = len(start) if self.description["is_asynchronous"] else 1
        which = np.searchsorted(_DEPTHS, np.clip(depth, 1, limit), side="right") - 1
        counts: list[int] = np.bincount(which, minlength=len(_DEPTHS)).tolist()
        return counts


def _groups(threads: Iterable[_Thread]) -> list[list[_Thread]]:
    """Put threads of a group together if they report as one."""
    found: dict[object, list[_Thread]] = {}
    for number, thread in enumerate(threads):
        of = thread.description
        found.setdefault(("group", of["groupid"]) if of["by_group"] else number, []).append(thread)
    return list(found.values())


def _report(group: list[_Thread]) -> dict[str, Any]:
    """Give the entry of ``jobs`` of one thread, or of the threads of a group."""
    of = group[0].description
    runtime = max(thread.milliseconds for thread in group)
    directions = {
        each: _direction(
            np.concatenate([thread.latency[each] for thread in group]),
            sum(thread.bytes[each] for thread in group),
            runtime,
            of,
        )
        for each in ("read", "write")
    }
    everything = np.concatenate([thread.latency[each] for thread in group for each in ("read", "write")])
    syncs = np.concatenate([thread.syncs for thread in group])
    if of["unified"] != "none":
        moved = sum(sum(thread.bytes.values()) for thread in group)
        mixed = {"mixed": _direction(everything, moved, runtime, of)}
        directions = mixed if of["unified"] == "mixed" else {**directions, **mixed}
    else:
        directions["trim"] = _direction(np.zeros(0, dtype=np.int64), 0, runtime, of)
    depths = np.sum([thread.depths() for thread in group], axis=0)
    described = {} if of["description"] is None else {"desc": of["description"]}
    return {
        "jobname": of["jobname"],
        "groupid": of["groupid"],
        "error": 0,
        "eta": 0,
        "elapsed": math.ceil(max(thread.end for thread in group) / 1e9),
        "job options": of["job options"],
        **directions,
        "sync": {"total_ios": len(syncs), "lat_ns": _latency(syncs, of["percentiles"])},
        "job_runtime": sum(thread.milliseconds for thread in group),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": _shares([f"{depth}" for depth in _DEPTHS[:-1]] + [">=64"], depths.tolist()),
        "iodepth_submit": _submitted(),
        "iodepth_complete": _submitted(),
        **_distribution(everything),
        "latency_depth": 1,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
        **described,
    }


def _direction(latency: _Ints, moved: int, runtime: int, of: Mapping[str, Any]) -> dict[str, Any]:
    """Give the table of one direction."""
    requests = len(latency)
    runtime = runtime if requests else 0
    rate = moved * 1000 / runtime if runtime else 0.0
    per_second = requests * 1000 / runtime if runtime else 0.0
    none = np.zeros(0, dtype=np.int64)
    return {
        "io_bytes": moved,
        "io_kbytes": moved >> 10,
        "bw_bytes": int(rate),
        "bw": int(rate / 1024),
        "iops": round(per_second, 6),
        "runtime": runtime,
        "total_ios": requests,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _latency(none, None),
        "clat_ns": _latency(latency, of["percentiles"] if of["clat_percentiles"] else None),
        "lat_ns": _latency(latency, of["percentiles"] if of["lat_percentiles"] else None),
        "bw_min": 0,
        "bw_max": 0,
        "bw_agg": 0.0,
        "bw_mean": round(rate / 1024, 6),
        "bw_dev": 0.0,
        "bw_samples": 0,
        "iops_min": 0,
        "iops_max": 0,
        "iops_mean": round(per_second, 6),
        "iops_stddev": 0.0,
        "iops_samples": 0,
    }


def _latency(latency: _Ints, percentiles: list[float] | None) -> dict[str, Any]:
    """Give the table of latencies, with percentiles and bins if some are asked for."""
    if not len(latency):
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    deviation = float(latency.std(ddof=1)) if len(latency) > 1 else 0.0
    found: dict[str, Any] = {
        "min": int(latency.min()),
        "max": int(latency.max()),
        "mean": round(float(latency.mean()), 6),
        "stddev": round(deviation, 6),
        "N": len(latency),
    }
    if percentiles is None:
        return found
    bins, counts = np.unique(_bin(latency), return_counts=True)
    values = [_middle(each) for each in bins.tolist()]
    below = np.cumsum(counts)
    at = np.searchsorted(below, np.array(percentiles) / 100 * len(latency) - 1e-9)
    middles = [values[min(each, len(values) - 1)] for each in at.tolist()]
    found["percentile"] = {f"{each:f}": middle for each, middle in zip(percentiles, middles, strict=True)}
    found["bins"] = {str(value): count for value, count in zip(values, counts.tolist(), strict=True)}
    return found


def _bin(latency: _Ints) -> _Ints:
    """Give the number of fio's bin of each latency (`plat_val_to_idx`)."""
    highest = np.frexp(np.maximum(latency, 1).astype(np.float64))[1] - 1
    shift = np.maximum(highest - _BITS, 0)
    return np.where(
        highest <= _BITS, latency, ((shift + 1) << _BITS) + ((latency >> shift) & ((1 << _BITS) - 1))
    ).astype(np.int64)


def _middle(number: int) -> int:
    """Give the latency in the middle of a bin (`plat_idx_to_val`)."""
    if number < 2 << _BITS:
        return number
    shift = (number >> _BITS) - 1
    return (1 << (shift + _BITS)) + int(((number % (1 << _BITS)) + 0.5) * (1 << shift))


def _shares(names: list[str], counts: list[int]) -> dict[str, float]:
    """Give per cent of each."""
    total = max(1, sum(counts))
    return {name: round(count * 100 / total, 6) for name, count in zip(names, counts, strict=True)}


def _submitted() -> dict[str, float]:
    """Each request is submitted, and taken, by itself."""
    return {name: 100.0 if name == "4" else 0.0 for name in ("0", "4", "8", "16", "32", "64", ">=64")}


def _distribution(latency: _Ints) -> dict[str, dict[str, float]]:
    """Give ``latency_ns``, ``latency_us`` and ``latency_ms``."""
    bounds = [below * scale for scale in (1, 1000) for below in _BELOW]
    bounds += [below * 1_000_000 for below in (*_BELOW, 2000)]
    counts = np.bincount(np.searchsorted(bounds, latency, side="right"), minlength=len(bounds) + 1).tolist()
    total = max(1, len(latency))
    shares = [round(count * 100 / total, 6) for count in counts]
    names = [str(below) for below in _BELOW]
    return {
        "latency_ns": dict(zip(names, shares[:10], strict=True)),
        "latency_us": dict(zip(names, shares[10:20], strict=True)),
        "latency_ms": dict(zip([*names, "2000", ">=2000"], shares[20:], strict=True)),
    }
