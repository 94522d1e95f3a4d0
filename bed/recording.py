"""What the guest handed out, as the folder of a platform that `pagecast reproduce live-kernel --data` reads.

The folder is described in python/pagecast/studies/live_kernel/README.md. Traces are in the text of tracefs,
on the monotonic clock; times become those of the case.
"""

import csv
import gzip
import io
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from bed import fio
from bed.packages import BedError

__all__ = ["EVENTS", "TABLES", "events", "kept", "repetitions", "write", "write_table"]

TABLES: Final = ("io", "cache", "mem")
"""The tables that the guest's player writes itself, but for `EXEC`."""

EXEC: Final = "exec"
"""The table of programs that were run; only cases with programs have rows in it."""

FIO: Final = "fio"
"""The table of what fio said, a row for each job and direction; its whole answer is kept too."""

OUTPUTS: Final = {".json": "fio", ".strace": "strace"}
"""By ending, where what programs have written goes in the folder of a recording, compressed."""

EVENTS: Final[dict[str, tuple[str, ...]]] = {
    "balance_dirty_pages": (
        "limit", "setpoint", "dirty", "wb_setpoint", "wb_dirty", "dirty_ratelimit", "task_ratelimit",
        "dirtied", "dirtied_pause", "paused", "pause", "period", "think",
    ),
    "bdi_dirty_ratelimit": (
        "write_bw", "avg_write_bw", "dirty_rate", "dirty_ratelimit", "task_ratelimit",
        "balanced_dirty_ratelimit",
    ),
    "global_dirty_state": ("dirty", "writeback", "bg_thresh", "thresh", "limit", "dirtied", "written"),
}  # fmt: skip
"""The tracepoints that are kept, and the columns of their tables (include/trace/events/writeback.h)."""

_RENAMED: Final = {"bdi_setpoint": "wb_setpoint", "bdi_dirty": "wb_dirty", "awrite_bw": "avg_write_bw"}
"""What kernels before 6.18 and after call the same."""

_EVENT: Final = re.compile(
    r"^\s*(?P<task>.+?)\s+\[\d+\]\s+\S+\s+(?P<time>\d+\.\d+): (?P<event>\w+): (?P<rest>.*)$"
)
_FIELD: Final = re.compile(r"(\w+)=(-?\d+)")


def events(trace: str, *, start_s: float) -> Iterator[tuple[str, list[str]]]:
    """Read the events of a trace.

    Parameters
    ----------
    trace : str
        What tracefs gave.
    start_s : float
        When the case began, on the clock of the trace.

    Yields
    ------
    tuple of str and list of str
        Event, and its row: time, task and the fields of `EVENTS`, empty where the kernel does not tell.
    """
    for line in trace.splitlines():
        found = _EVENT.match(line)
        if found is None or found["event"] not in EVENTS:
            continue
        time_s = float(found["time"]) - start_s
        if time_s < 0:
            continue
        fields = {_RENAMED.get(name, name): value for name, value in _FIELD.findall(found["rest"])}
        values = [fields.get(name, "") for name in EVENTS[found["event"]]]
        yield found["event"], [f"{time_s:.6f}", found["task"], *values]


def write(
    folder: Path, outs: dict[str, Path], texts: dict[str, str], *, files: Mapping[str, str] | None = None
) -> None:
    """Write the recording of several cases.

    Parameters
    ----------
    folder : Path
        Becomes the folder of the platform; cases that were there and are not recorded anew stay.
    outs : dict of str to Path
        By case, what the guest handed out.
    texts : dict of str to str
        By case, its steps. Those of a case with programs follow from its file, and are not kept.
    files : mapping of str, optional
        The job files and scripts of cases, by name.

    Raises
    ------
    BedError
        A table is missing.
    """
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    tables = {name: kept(folder / f"{name}.csv.gz", set(outs)) for name in (*TABLES, EXEC, FIO, *EVENTS)}
    for name, fields in EVENTS.items():
        tables[name] = tables[name] or [["case", "rep", "t_s", "task", *fields]]
    for name, text in (files or {}).items():
        if not name.endswith(".set-up"):
            (folder / "cases" / name).write_text(text)
    for case, out in outs.items():
        if not files:
            (folder / "cases" / f"{case}.pct").write_text(texts[case])
        shutil.copyfile(out / "platform.txt", folder / "platform.txt")
        for repetition in repetitions(out):
            _add(tables, case, repetition)
            _keep_outputs(folder, case, repetition)
    for name, rows in tables.items():
        if rows:
            write_table(folder / f"{name}.csv.gz", rows)


def repetitions(out: Path) -> list[Path]:
    """Give the folders of the repetitions that the guest handed out, in their order."""
    return sorted((path for path in out.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))


def _keep_outputs(folder: Path, case: str, repetition: Path) -> None:
    """Keep what programs have written, `fio/CASE.1.json.gz` and `strace/CASE.cold.1.strace.gz`."""
    for path in sorted(repetition.iterdir()):
        if path.suffix in OUTPUTS:
            state = "" if path.stem == "fio" else f".{path.stem}"
            kept = folder / OUTPUTS[path.suffix] / f"{case}{state}.{repetition.name}{path.suffix}.gz"
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _add(tables: dict[str, list[list[str]]], case: str, repetition: Path) -> None:
    """Add what one repetition left to the tables."""
    try:
        for name in TABLES:
            header, *rows = csv.reader((repetition / f"{name}.csv").read_text().splitlines())
            tables[name] = tables[name] or [header]
            tables[name] += rows
        _add_programs(tables, case, repetition)
        start_s = float((repetition / "start").read_text())
        trace = (repetition / "trace").read_text()
    except (OSError, ValueError) as error:
        raise BedError(f"{repetition}: the guest left no whole recording ({error})") from error
    for event, row in events(trace, start_s=start_s):
        tables[event].append([case, repetition.name, *row])


def _add_programs(tables: dict[str, list[list[str]]], case: str, repetition: Path) -> None:
    """Add what the programs of a repetition left, if there were any."""
    header, *rows = csv.reader((repetition / f"{EXEC}.csv").read_text().splitlines())
    if rows:
        tables[EXEC] = tables[EXEC] or [header]
        tables[EXEC] += rows
    if (said := repetition / "fio.json").exists():
        tables[FIO] = tables[FIO] or [["case", "rep", *fio.COLUMNS]]
        tables[FIO] += [[case, repetition.name, *row] for row in fio.rows(said.read_text())]


def kept(path: Path, replaced: set[str]) -> list[list[str]]:
    """Read a table that is there, without the cases that are recorded anew."""
    if not path.exists():
        return []
    with gzip.open(path, "rt", newline="") as file:
        header, *rows = csv.reader(file)
    return [header, *(row for row in rows if row[0] not in replaced)]


def write_table(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a table so that the same rows give the same bytes: no name and no time are in the archive."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
