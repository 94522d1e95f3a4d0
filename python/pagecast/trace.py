"""A result as a trace that chrome://tracing and ui.perfetto.dev show.

Format: the "JSON object format" of the Trace Event Format. Hosts are its processes, our processes are its
threads, and one operation is one complete event ("X"). Throttling and direct reclaim of a process and the
flusher of a device are such events in tracks of their own: they may go on when an operation ends. Commits of
a journal and calls of an NFS client are instants ("i"). Levels of memory, limits, rates and the queues of
devices are counters ("C"), which hold until their next event. Times are microseconds.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pagecast.result import Columns, Result
from pagecast.spans import event_spans

__all__ = ["save_trace", "trace_events"]

_LEVELS: Final = ("anonymous", "cached", "dirty")
_WRITE_BACK: Final = ("writeback", "background_threshold", "dirty_limit")
_RATES: Final = {
    "base rate of a writer": "dirty_ratelimit_bytes_per_s",
    "a writer may": "task_ratelimit_bytes_per_s",
    "device wrote": "write_bandwidth_bytes_per_s",
}
_DEVICE: Final = {"dirty": "dirty_bytes", "under writeback": "writeback_bytes"}
_QUEUE: Final = {"on the average": "mean_depth", "at most": "max_depth"}
_BUSY: Final = {"busy": "utilisation"}


def save_trace(result: Result, path: Path) -> None:
    """Write the trace of a result.

    Parameters
    ----------
    result : Result
    path : Path
    """
    head = {"displayTimeUnit": "ms", "otherData": {**result.provenance, "model": result.model}}
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        for number, event in enumerate(trace_events(result)):
            file.write((",\n" if number else "") + json.dumps(event, ensure_ascii=False, allow_nan=False))
        file.write("\n]}\n")


def trace_events(result: Result) -> Iterator[dict[str, Any]]:
    """Give the events of a trace one by one.

    Parameters
    ----------
    result : Result

    Yields
    ------
    dict
    """
    operations = result.operations.to_dict()
    hosts = list(dict.fromkeys([*result.timeline["host"], *operations["host"]]))
    tracks = _Tracks({host: number for number, host in enumerate(hosts, 1)})
    for host, process in dict.fromkeys(zip(operations["host"], operations["process"], strict=True)):
        tracks.add(host, process)
    held_up = list(_held_up(result, tracks))
    instants = list(_instants(result, tracks))
    yield from tracks.names()
    yield from _operations(result, tracks, operations)
    yield from held_up
    yield from instants
    yield from _counters(result.timeline, "memory (bytes)", {of: f"{of}_bytes" for of in _LEVELS}, tracks)
    if "writeback_bytes" in result.timeline:
        limits = {of.replace("_", " "): f"{of}_bytes" for of in _WRITE_BACK}
        yield from _counters(result.timeline, "write-back (bytes)", {"dirty": "dirty_bytes"} | limits, tracks)
    for name, columns in (("rates (bytes/s)", _RATES), ("to be written (bytes)", _DEVICE)):
        yield from _counters(result.bdi, name, columns, tracks)
    for name, columns in (("queue (requests)", _QUEUE), ("busy (share of the time)", _BUSY)):
        yield from _counters(result.devices, name, columns, tracks)


class _Tracks:
    """The numbers of hosts, and of the tracks on each, in the order in which they are added."""

    def __init__(self, hosts: dict[str, int]) -> None:
        self.hosts = hosts
        self._numbers: dict[tuple[str, str], int] = {}

    def add(self, host: str, name: str) -> dict[str, int]:
        """Give where the events of a track belong; a new one comes last."""
        number = self._numbers.setdefault((host, name), len(self._numbers) + 1)
        return {"pid": self.hosts[host], "tid": number}

    def names(self) -> Iterator[dict[str, Any]]:
        """Give the events that name hosts and tracks."""
        for host, pid in self.hosts.items():
            yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": host}}
        for (host, name), number in self._numbers.items():
            where = self.add(host, name)
            yield {"ph": "M", "name": "thread_name", **where, "args": {"name": name}}
            yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": number}}


def _operations(
    result: Result, tracks: _Tracks, operations: dict[str, list[Any]]
) -> Iterator[dict[str, Any]]:
    parts = result.parts.to_dict()
    part_names = [name for name in parts if name.endswith("_s")]
    for row, operation in enumerate(operations["operation"]):
        path = operations["path"][row]
        args = {name: operations[name][row] for name in ("bytes", "from_cache_bytes", "from_device_bytes")}
        args |= {name: parts[name][row] for name in part_names if parts[name][row] > 0}
        yield {
            "ph": "X",
            "name": f"{operation} {path}".rstrip(),
            "cat": operation,
            **tracks.add(operations["host"][row], operations["process"][row]),
            "ts": operations["start_s"][row] * 1e6,
            "dur": operations["duration_s"][row] * 1e6,
            "args": args,
        }


def _held_up(result: Result, tracks: _Tracks) -> Iterator[dict[str, Any]]:
    """Give slices of throttling, of background write-back, and of direct reclaim."""
    for (host, process, device), spans in event_spans(
        result, "throttling", "host", "process", "device"
    ).items():
        where = tracks.add(host, f"{process}: throttled at {device}")
        yield from _slices("throttled", f"at {device}", where, spans)
    for (host, process), spans in event_spans(result, "direct_reclaim", "host", "process").items():
        where = tracks.add(host, f"{process}: reclaim" if process else "reclaim for other hosts")
        yield from _slices("direct reclaim", "", where, spans)
    for (host, device), spans in event_spans(result, "background", "host", "device").items():
        where = tracks.add(host, f"flusher of {device}")
        yield from _slices("background write-back", f"to {device}", where, spans)


def _instants(result: Result, tracks: _Tracks) -> Iterator[dict[str, Any]]:
    """Give the commits of journals, and the calls of NFS clients."""
    events = result.events.to_dict()
    columns = ("time_s", "host", "event", "device", "path", "bytes")
    for time_s, host, event, device, path, size in zip(*(events[of] for of in columns), strict=True):
        if event == "journal_commit":
            name, track, args = "commit", f"journal on {device}", {"bytes": size}
        elif event.startswith("nfs "):
            name, track = event.removeprefix("nfs ").upper(), f"NFS client of {device}"
            args = {"path": path, "bytes": size}
        else:
            continue
        where = tracks.add(host, track)
        yield {"ph": "i", "s": "t", "name": name, "cat": event, **where, "ts": time_s * 1e6, "args": args}


def _slices(
    what: str, more: str, where: dict[str, int], spans: list[tuple[float, float]]
) -> Iterator[dict[str, Any]]:
    for begin_s, end_s in spans:
        yield {
            "ph": "X",
            "name": f"{what} {more}".rstrip(),
            "cat": what,
            **where,
            "ts": begin_s * 1e6,
            "dur": (end_s - begin_s) * 1e6,
        }


def _counters(
    table: Columns, name: str, columns: dict[str, str], tracks: _Tracks
) -> Iterator[dict[str, Any]]:
    """Give the rows of a table as counters, of each device and memory cgroup one; a rate of none is 0.

    In a counter every level has a value, and there is none for "nobody is held back".
    """
    levels = {of: table[column].tolist() for of, column in columns.items()}
    devices = table["device"] if "device" in table else [""] * len(table)
    cgroups = table["cgroup"] if "cgroup" in table else [""] * len(table)
    rows = zip(table["time_s"].tolist(), table["host"], devices, cgroups, strict=True)
    for row, (time_s, host, device, cgroup) in enumerate(rows):
        values = {of: values[row] for of, values in levels.items()}
        yield {
            "ph": "C",
            "name": " ".join(filter(None, (device, cgroup and f"of {cgroup}", name))),
            "pid": tracks.hosts[host],
            "ts": time_s * 1e6,
            "args": {of: value if math.isfinite(value) else 0 for of, value in values.items()},
        }
