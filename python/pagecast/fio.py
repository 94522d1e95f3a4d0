"""Results in the form of fio's ``--output-format=json+``, with the keys of fio 3.33.

Latencies stand in fio's bins: each power of two from 128 ns has 64 of them (`stat.c` of fio).
"""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pagecast._core import __version__, describe_fio
from pagecast.arguments import check_path, shown
from pagecast.errors import ArgumentError
from pagecast.fio_requests import DEPTHS, Thread, Times, threads, together
from pagecast.result import Result

__all__ = ["check_job_file", "json_plus", "needs_rows"]

_BITS: Final = 6
"""Of steps in each power of two."""

_BELOW: Final = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
"""Upper bounds of the rows of ``latency_ns``, ``latency_us`` and ``latency_ms``."""

_Ints = NDArray[np.int64]


def json_plus(result: Result, job_file: str | os.PathLike[str]) -> dict[str, Any]:
    """Give a result as fio would write it.

    Parameters
    ----------
    result : Result
        Of the job file. Without rows of all operations the report is made of histograms: times are right to
        0.1 %, syncs at the end of a loop count as well, and all requests have the mean depth.
    job_file : path-like
        The job file that was simulated.

    Returns
    -------
    dict
    """
    description = check_job_file(job_file, has_all_operations=result.has_all_operations)
    of_threads = threads(result, description["threads"])
    reported = [_report(group) for group in _groups(thread for thread in of_threads if thread.is_reported)]
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


def check_job_file(job_file: str | os.PathLike[str], *, has_all_operations: bool = True) -> dict[str, Any]:
    """Read of a job file what a report needs of it.

    Parameters
    ----------
    job_file : path-like
    has_all_operations : bool
        Whether the report is made of rows of all operations, or of histograms.

    Returns
    -------
    dict
        Its threads and the options of [global].

    Raises
    ------
    ArgumentError
        If it is of another format, or has requests that are left out of reports and cannot be in histograms.
    """
    description = _described(job_file)
    for job, option in () if has_all_operations else _left_out_of_reports(description):
        raise ArgumentError(
            f"{shown(job_file)}: of job {job} with `{option}` a report in fio's form needs "
            "a row of each operation; record all"
        )
    return description


def needs_rows(job_file: str | os.PathLike[str]) -> bool:
    """Tell whether a report of a job file is made of rows, because not all requests are in it.

    Parameters
    ----------
    job_file : path-like

    Returns
    -------
    bool

    Raises
    ------
    ArgumentError
        If it is of another format.
    """
    return any(_left_out_of_reports(_described(job_file)))


def _described(job_file: str | os.PathLike[str]) -> dict[str, Any]:
    name = check_path("job_file", job_file)
    described = describe_fio(name)
    if described is None:
        raise ArgumentError(f"{shown(name)} is no fio job file, so there is no report in fio's form")
    description: dict[str, Any] = json.loads(described)
    return description


def _left_out_of_reports(description: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give each job with requests that do not count in its report, and the option that says so."""
    for thread in description["threads"]:
        if thread["ramp_s"] > 0:
            yield thread["jobname"], "ramp_time"
        if thread["pre_reads"]:
            yield thread["jobname"], "pre_read"


def _groups(threads: Iterable[Thread]) -> list[list[Thread]]:
    """Put threads of a group together if they report as one."""
    found: dict[object, list[Thread]] = {}
    for number, thread in enumerate(threads):
        of = thread.description
        found.setdefault(("group", of["groupid"]) if of["by_group"] else number, []).append(thread)
    return list(found.values())


def _report(group: list[Thread]) -> dict[str, Any]:
    """Give the entry of ``jobs`` of one thread, or of the threads of a group."""
    of = group[0].description
    runtime = max(thread.milliseconds for thread in group)
    directions = {
        each: _direction(
            together(thread.latency[each] for thread in group),
            sum(thread.bytes[each] for thread in group),
            runtime,
            of,
        )
        for each in ("read", "write")
    }
    everything = together(thread.latency[each] for thread in group for each in ("read", "write"))
    syncs = together(thread.syncs for thread in group)
    if of["unified"] != "none":
        moved = sum(sum(thread.bytes.values()) for thread in group)
        mixed = {"mixed": _direction(everything, moved, runtime, of)}
        directions = mixed if of["unified"] == "mixed" else {**directions, **mixed}
    else:
        directions["trim"] = _direction(together(()), 0, runtime, of)
    depths = np.sum([thread.depths for thread in group], axis=0)
    described = {} if of["description"] is None else {"desc": of["description"]}
    return {
        "jobname": of["jobname"],
        "groupid": of["groupid"],
        "error": 0,
        "eta": 0,
        "elapsed": math.ceil(max(thread.end for thread in group) / 1e9),
        "job options": of["job options"],
        **directions,
        "sync": {"total_ios": syncs.n, "lat_ns": _latency(syncs, of["percentiles"])},
        "job_runtime": sum(thread.milliseconds for thread in group),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": _shares([f"{depth}" for depth in DEPTHS[:-1]] + [">=64"], depths.tolist()),
        "iodepth_submit": _submitted(),
        "iodepth_complete": _submitted(),
        **_distribution(everything),
        "latency_depth": 1,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
        **described,
    }


def _direction(latency: Times, moved: int, runtime: int, of: Mapping[str, Any]) -> dict[str, Any]:
    """Give the table of one direction."""
    requests = latency.n
    runtime = runtime if requests else 0
    rate = moved * 1000 / runtime if runtime else 0.0
    per_second = requests * 1000 / runtime if runtime else 0.0
    none = together(())
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


def _latency(latency: Times, percentiles: list[float] | None) -> dict[str, Any]:
    """Give the table of latencies, with percentiles and bins if some are asked for."""
    if not latency.n:
        return {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    found: dict[str, Any] = {
        "min": int(latency.duration.min()),
        "max": int(latency.duration.max()),
        "mean": round(latency.mean, 6),
        "stddev": round(latency.deviation, 6),
        "N": latency.n,
    }
    if percentiles is None:
        return found
    bins, which = np.unique(_bin(latency.duration), return_inverse=True)
    counts = np.bincount(which, weights=latency.count).astype(np.int64)
    values = [_middle(each) for each in bins.tolist()]
    below = np.cumsum(counts)
    at = np.searchsorted(below, np.array(percentiles) / 100 * latency.n - 1e-9)
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


def _distribution(latency: Times) -> dict[str, dict[str, float]]:
    """Give ``latency_ns``, ``latency_us`` and ``latency_ms``."""
    bounds = [below * scale for scale in (1, 1000) for below in _BELOW]
    bounds += [below * 1_000_000 for below in (*_BELOW, 2000)]
    at = np.searchsorted(bounds, latency.duration, side="right")
    counts = np.bincount(at, weights=latency.count, minlength=len(bounds) + 1).tolist()
    total = max(1, latency.n)
    shares = [round(count * 100 / total, 6) for count in counts]
    names = [str(below) for below in _BELOW]
    return {
        "latency_ns": dict(zip(names, shares[:10], strict=True)),
        "latency_us": dict(zip(names, shares[10:20], strict=True)),
        "latency_ms": dict(zip([*names, "2000", ">=2000"], shares[20:], strict=True)),
    }
