"""Darshan logs with extended tracing (DXT): each read and write of POSIX calls with its start and end.

A rank is a process. A log does not tell how a file was opened, nor metadata operations and syncs; a file
that is read before it is written existed. Segments of one rank that overlap, as threads make them, follow one
another.
"""

import os
from collections.abc import Callable
from typing import Any

from pagecast._core import Recording, RecordingWriter, format_bytes
from pagecast.arguments import shown
from pagecast.errors import ScenarioError

__all__ = ["read_log"]

_ROWS_AT_ONCE = 65_536


def read_log(path: str | os.PathLike[str], progress: Callable[[float], None] | None = None) -> Recording:
    """Read the reads and writes of a log.

    Parameters
    ----------
    path : path-like
    progress : callable, optional
        Is called with the share of ranks that are done.

    Returns
    -------
    Recording

    Raises
    ------
    ScenarioError
        It is no log, or has no DXT segments.
    """
    import darshan

    if not os.path.isfile(path):
        raise ScenarioError(f"{shown(path)}: cannot be read: there is no such file; correct the path")
    try:
        report = darshan.DarshanReport(os.fspath(path), read_all=False)
        if "DXT_POSIX" not in report.modules:
            raise ScenarioError(_without_trace(path, report))
        report.mod_read_all_dxt_records("DXT_POSIX")
    except ScenarioError:
        raise
    except Exception as error:  # whatever the package raises for a log that it does not understand
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ScenarioError(f"{shown(path)}: the package darshan cannot read it ({reason})") from None
    by_rank: dict[int, list[Any]] = {}
    for record in report.records["DXT_POSIX"]:
        by_rank.setdefault(int(record["rank"]), []).append(record)
    writer = RecordingWriter(shown(path))
    overlapping = 0
    for done, rank in enumerate(sorted(by_rank)):
        overlapping += _push_rank(writer, rank, by_rank[rank], report.name_records)
        if progress is not None:
            progress((done + 1) / len(by_rank))
    if overlapping:
        writer.note(f"{overlapping:,} calls overlap others of their rank; they follow one another")
    writer.note("a Darshan log tells neither how files were opened nor which were synced")
    return writer.finish()


def _push_rank(writer: RecordingWriter, rank: int, records: list[Any], names: dict[int, str]) -> int:
    """Add the calls of a rank by their starts; give how many begin before an earlier one has ended."""
    calls = []
    for record in records:
        name = names.get(record["id"], f"file-{record['id']:x}")
        for op in ("read", "write"):
            for segment in record[f"{op}_segments"]:
                start, end = _nanoseconds(segment["start_time"]), _nanoseconds(segment["end_time"])
                calls.append((start, end, op, name, int(segment["offset"]), int(segment["length"])))
    calls.sort(key=lambda call: call[:2])
    overlapping, last = 0, 0
    for start, end, *_ in calls:
        overlapping += start < last
        last = max(last, end)
    for first in range(0, len(calls), _ROWS_AT_ONCE):
        rows = calls[first : first + _ROWS_AT_ONCE]
        writer.push(
            {
                "time_ns": [row[0] for row in rows],
                "duration_ns": [max(row[1] - row[0], 0) for row in rows],
                "process": [f"rank-{rank}"] * len(rows),
                "op": [row[2] for row in rows],
                "file": [row[3] for row in rows],
                "offset_bytes": [max(row[4], 0) for row in rows],
                "bytes": [max(row[5], 0) for row in rows],
            }
        )
    return overlapping


def _nanoseconds(seconds: float) -> int:
    return max(round(float(seconds) * 1e9), 0) if seconds == seconds else 0


def _without_trace(path: str | os.PathLike[str], report: Any) -> str:
    """Say why a log cannot be replayed, and what it does tell."""
    text = f"{shown(path)}: has no single reads and writes (DXT)"
    if "POSIX" in report.modules:
        report.mod_read_all_records("POSIX")
        totals = dict.fromkeys(("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"), 0)
        names = report.counters["POSIX"]["counters"]
        for record in report.records["POSIX"]:
            for key in totals:
                totals[key] += max(int(record["counters"][names.index(f"POSIX_{key}")]), 0)
        text += (
            f", only sums: {totals['READS']:,} reads of {format_bytes(totals['BYTES_READ'])}, "
            f"{totals['WRITES']:,} writes of {format_bytes(totals['BYTES_WRITTEN'])}, "
            f"{report.metadata['job']['nprocs']:,} processes"
        )
    else:
        text += f", only sums of {', '.join(report.modules)}"
    return f"{text}; run the program again with DXT_ENABLE_IO_TRACE=1"
