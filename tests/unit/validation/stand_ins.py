"""Runs and forecasts made by hand: as much of `Measured` and `Result` as validation looks at."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pagecast import Columns

MIB = 1 << 20
LIMIT_BYTES = 100 * MIB
MEMORY_BYTES = 1000 * MIB


def operations(*rows, call_bytes=0, run_queue_s=0.0):
    """Make the table of (process, index, operation, path, duration), with details alike for all rows."""
    names = ("process", "index", "operation", "path", "duration_s")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    details = {
        "call_bytes": np.full(len(rows), call_bytes),
        "run_queue_s": np.full(len(rows), float(run_queue_s)),
    }
    return Columns({**columns, "duration_s": np.array(columns["duration_s"], dtype=float), **details})


def timeline(time_s, dirty_mib, cached_mib):
    """Make a timeline; the dirty limit is always `LIMIT_BYTES`."""
    return Columns(
        {
            "time_s": np.array(time_s, dtype=float),
            "dirty_bytes": np.array(dirty_mib, dtype=np.int64) * MIB,
            "cached_bytes": np.array(cached_mib, dtype=np.int64) * MIB,
            "dirty_limit_bytes": np.full(len(time_s), LIMIT_BYTES),
        }
    )


def file_samples(*rows):
    """Make the table of (time, path, cached, dirty, writeback) in MiB."""
    time_s, path, *levels = map(list, zip(*rows, strict=True)) if rows else ([],) * 5
    names = ("cached_bytes", "dirty_bytes", "writeback_bytes")
    in_bytes = {name: np.array(of, dtype=np.int64) * MIB for name, of in zip(names, levels, strict=True)}
    return Columns({"time_s": np.array(time_s, dtype=float), "path": path, **in_bytes})


def files(*rows):
    """Make the table of (process, index, path, cached MiB)."""
    process, index, path, cached = map(list, zip(*rows, strict=True)) if rows else ([],) * 4
    cached_bytes = np.array(cached, dtype=np.int64) * MIB
    return Columns({"process": process, "index": index, "path": path, "cached_bytes": cached_bytes})


def no_latency():
    """Give a table of latencies without rows."""
    return latency([])


def latency(rows):
    """Make a table of latencies of rows of process, operation, path, count and percentiles in seconds."""
    names = ("process", "operation", "path", "count", "p50_s", "p90_s", "p99_s", "p99_9_s", "max_s")
    columns = (
        dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        if rows
        else {name: [] for name in names}
    )
    numbers = {name: np.array(columns[name], dtype=float) for name in names[3:]}
    return Columns({**columns, **numbers})


def no_trace():
    return Columns({"time_s": np.array([]), "event": [], "task": [], "text": []})


def no_bdi():
    return Columns(
        {
            "device": [],
            "avg_write_bandwidth_bytes_per_s": np.array([]),
            "dirty_ratelimit_bytes_per_s": np.array([]),
        }
    )


class Tables:
    """Gives tables by their names, too."""

    def table(self, name):
        return getattr(self, name)


@dataclass
class Forecast(Tables):
    """What a simulation gave."""

    operations: Columns
    model: str = "kernel"
    timeline: Columns = field(default_factory=lambda: timeline([0.0], [0], [0]))
    changes_evenly: bool = True
    is_measured: bool = False
    end_s: float = 1.0
    files: Columns = field(default_factory=files)
    latency: Columns = field(default_factory=no_latency)


@dataclass
class Run(Tables):
    """What a real run gave."""

    operations: Columns
    timeline: Columns = field(default_factory=lambda: timeline([0.0, 1.0], [0, 0], [0, 0]))
    file_samples: Columns = field(default_factory=file_samples)
    end_s: float = 1.0
    learnt: dict[str, Any] | None = None
    prepared_s: float = 0.0
    bdi: Columns = field(default_factory=no_bdi)
    model: str = "measured"
    is_measured: bool = True
    trace: Columns = field(default_factory=no_trace)
    processor_pressure: float = 0.0
    files: Columns = field(default_factory=files)
    latency: Columns = field(default_factory=no_latency)

    @property
    def samples(self):
        return Columns({"time_s": self.timeline["time_s"], "mem_total_bytes": np.array([MEMORY_BYTES])})

    @property
    def provenance(self):
        return {"kernel": "Linux 6.18", "file_system": "ext4 at /", "sample_hz": 20}
