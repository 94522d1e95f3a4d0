"""What fio says in its json+, as rows: a job and a direction each."""

import json
from collections.abc import Iterator
from typing import Any, Final

from bed.packages import BedError

__all__ = ["COLUMNS", "rows"]

DIRECTIONS: Final = ("read", "write", "trim")
PERCENTILES: Final = {"p50_us": "50", "p90_us": "90", "p99_us": "99", "p99.9_us": "99.9"}

COLUMNS: Final = (
    "job", "dir", "io_bytes", "ios", "runtime_s", "bw_MiBps", "iops", "clat_mean_us", *PERCENTILES,
    "clat_max_us", "syncs", "sync_mean_us", "sync_p50_us", "sync_p99_us",
)  # fmt: skip
"""Latencies are those of completion; MiB are 2^20 bytes."""


def rows(said: str) -> Iterator[list[str]]:
    """Read what fio printed.

    Raises
    ------
    BedError
        It is not what fio prints with ``--output-format=json+``.
    """
    try:
        jobs = json.loads(said[said.index("{") :])["jobs"]
        for job in jobs:
            for direction in DIRECTIONS:
                if job[direction]["total_ios"]:
                    yield [job["jobname"], direction, *_values(job, job[direction])]
    except (ValueError, KeyError, TypeError) as error:
        raise BedError(f"fio's answer is no json+ ({error!r})") from error


def _values(job: dict[str, Any], of: dict[str, Any]) -> Iterator[str]:
    yield from map(str, (of["io_bytes"], of["total_ios"], of["runtime"] / 1e3))
    yield f"{of['bw_bytes'] / 2**20:.4f}"
    yield f"{of['iops']:.3f}"
    yield _us(of["clat_ns"]["mean"])
    yield from (_percentile(of["clat_ns"], name) for name in PERCENTILES.values())
    yield _us(of["clat_ns"]["max"])
    sync = job["sync"]
    if not sync["total_ios"]:
        yield from ("0", "", "", "")
        return
    yield str(sync["total_ios"])
    yield _us(sync["lat_ns"]["mean"])
    yield from (_percentile(sync["lat_ns"], name) for name in ("50", "99"))


def _percentile(latencies: dict[str, Any], name: str) -> str:
    return _us(latencies["percentile"][f"{float(name):.6f}"])


def _us(ns: float) -> str:
    return f"{ns / 1e3:.3f}"
