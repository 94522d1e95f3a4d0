"""Operations as a trace that chrome://tracing and ui.perfetto.dev show.

Format: the "JSON object format" of the Trace Event Format. Hosts are its processes, our processes are its
threads, one operation is one complete event ("X"), and the levels of memory are counters ("C"). Times are
microseconds.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagecast.result import Result

__all__ = ["save_trace", "trace_events"]

_LEVELS = ("anonymous", "cached", "dirty")


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
            file.write((",\n" if number else "") + json.dumps(event, ensure_ascii=False))
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
    numbers = {host: number for number, host in enumerate(hosts, 1)}
    yield from _names(numbers, operations)
    yield from _operations(result, numbers, operations)
    yield from _memory(result, numbers)


def _names(numbers: dict[str, int], operations: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for host, pid in numbers.items():
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": host}}
    tracks = dict.fromkeys(zip(operations["host"], operations["process"], strict=True))
    threads = _thread_numbers(operations)
    for host, process in tracks:
        where = {"pid": numbers[host], "tid": threads[process]}
        yield {"ph": "M", "name": "thread_name", **where, "args": {"name": process}}
        yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": threads[process]}}


def _thread_numbers(operations: dict[str, list[Any]]) -> dict[str, int]:
    return {process: number for number, process in enumerate(dict.fromkeys(operations["process"]), 1)}


def _operations(
    result: Result, numbers: dict[str, int], operations: dict[str, list[Any]]
) -> Iterator[dict[str, Any]]:
    parts = result.parts.to_dict()
    part_names = [name for name in parts if name.endswith("_s")]
    threads = _thread_numbers(operations)
    for row, operation in enumerate(operations["operation"]):
        path = operations["path"][row]
        args = {name: operations[name][row] for name in ("bytes", "from_cache_bytes", "from_device_bytes")}
        args |= {name: parts[name][row] for name in part_names if parts[name][row] > 0}
        yield {
            "ph": "X",
            "name": f"{operation} {path}".rstrip(),
            "cat": operation,
            "pid": numbers[operations["host"][row]],
            "tid": threads[operations["process"][row]],
            "ts": operations["start_s"][row] * 1e6,
            "dur": operations["duration_s"][row] * 1e6,
            "args": args,
        }


def _memory(result: Result, numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    timeline = result.timeline.to_dict()
    for row, (time_s, host) in enumerate(zip(timeline["time_s"], timeline["host"], strict=True)):
        levels = {level: timeline[f"{level}_bytes"][row] for level in _LEVELS}
        yield {"ph": "C", "name": "memory (bytes)", "pid": numbers[host], "ts": time_s * 1e6, "args": levels}
