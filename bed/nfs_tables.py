"""Tables of a recording of NFS: calls by kind at each mark, and each READ, WRITE and COMMIT.

Sources: what the player noted of /proc/self/mountstats and /proc/net/rpc/nfsd (net/sunrpc/stats.c:
rpc_clnt_show_stats; fs/nfs/super.c: nfs_show_stats; fs/nfsd/stats.c), and the tracepoints of
fs/nfs/nfstrace.h in the text of tracefs.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from bed.packages import BedError
from bed.recording import kept, repetitions, write_table

__all__ = ["OPS", "PHASES", "RPC", "calls", "counters", "phases", "write"]

OPS: Final = (
    "t_s", "label", "op", "count", "transmissions", "timeouts", "bytes_sent", "bytes_received", "queue_ms",
    "rtt_ms", "execute_ms", "errors", "other",
)  # fmt: skip
"""The columns of counters, after case and repetition."""

RPC: Final = ("t_s", "task", "event", "offset", "count", "result", "stable")
"""The columns of calls, after case and repetition."""

COUNTED: Final = ("WRITE", "COMMIT", "READ")

PHASES: Final = ("case", "phase", "seconds_per_rep", *COUNTED)
"""The columns of phases: seconds of each repetition, and the calls made in one on average."""

_UNTIMED: Final = {"mark", "sleep", "spin", "drop", "sync", "sh", "wait", "exec"}
"""Rows of io.csv that are no work on files."""

_PER_OP: Final = re.compile(r"^\s+([A-Z_]+): (\d+(?: \d+)*)$")
_TOLD: Final = re.compile(r"^\s+(events|bytes|xprt):\s*(.*)$")
_OF_SERVER: Final = re.compile(r"^(io|net|rpc|proc3|proc4ops) (.*)$")
_READ_LIKE: Final = {"READ_PLUS": "READ"}
"""NFS 4.2 reads with READ_PLUS (fs/nfs/nfs4proc.c: nfs42_read_plus_support)."""

_EVENT: Final = re.compile(
    r"^\s*(?P<task>.+?)\s+\[\d+\]\s+\S+\s+(?P<time>\d+\.\d+): "
    r"nfs_(?P<event>initiate_\w+|writeback_done|commit_done|readpage_done): (?P<rest>.*)$"
)
_FIELD: Final = re.compile(r"(\w+)=(\S+)")


def write(folder: Path, case: str, out: Path, text: str) -> None:
    """Write the tables of a case into the folder of its platform, beside those of `bed.recording`.

    Parameters
    ----------
    folder : Path
        Cases that were there and are not recorded anew stay.
    case : str
    out : Path
        The folder that the guest handed out.
    text : str
        The steps of the case.

    Raises
    ------
    BedError
        A file is missing.
    """
    looks: list[list[str]] = []
    of_ops: dict[str, list[list[str]]] = {}
    of_rpc: list[list[str]] = []
    seconds: dict[str, dict[str, float]] = {}
    try:
        for repetition in repetitions(out):
            name = repetition.name
            start_s = float((repetition / "start").read_text())
            of_ops[name] = list(counters((repetition / "counters").read_text()))
            trace = (repetition / "trace").read_text()
            of_rpc += [[case, name, *row] for row in calls(trace, start_s=start_s)]
            calls_made = list(csv.DictReader((repetition / "io.csv").read_text().splitlines()))
            seconds[name] = _seconds(calls_made)
            if (looked := repetition / "srv_looks").exists():
                looks += [[case, name, *row] for row in _looks(looked.read_text(), calls_made, text)]
    except (OSError, ValueError) as error:
        raise BedError(f"{out}: the guest left no whole recording of NFS ({error})") from error
    rows_of_ops = [[case, name, *row] for name, rows in of_ops.items() for row in rows]
    for table, columns, rows in (
        ("nfs_ops.csv.gz", ("case", "rep", *OPS), rows_of_ops),
        ("nfs_rpc.csv.gz", ("case", "rep", *RPC), of_rpc),
        ("phases.csv.gz", PHASES, list(phases(case, of_ops, seconds))),
    ):
        before = kept(folder / table, {case}) or [list(columns)]
        write_table(folder / table, [*before, *rows])
    if looks:  # beside what the client has cached, which is there
        cache = folder / "cache.csv.gz"
        write_table(cache, [*kept(cache, set()), *looks])


def _looks(looked: str, calls_made: Sequence[Mapping[str, str]], text: str) -> Iterator[list[str]]:
    """Give what a server with a kernel of its own has cached: rows of cache.csv after case and repetition."""
    commands = [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith("sh ")]
    times = [row["t_start_s"] for row in calls_made if row["op"] == "sh"]
    of_looks = [time for command, time in zip(commands, times, strict=True) if command.startswith("srv stat")]
    for time_s, row in zip(of_looks, csv.reader(looked.splitlines()), strict=True):
        yield [row[2], time_s, *row[4:]]


def _seconds(calls_made: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """Sum the time in system calls of the case's own process by phase."""
    seconds: dict[str, float] = defaultdict(float)
    phase = "setup"
    for row in calls_made:
        if row["proc"] != "p0":
            continue
        if row["op"] == "mark":
            phase = row["file"]
        elif row["op"] not in _UNTIMED:
            seconds[phase] += float(row["duration_s"])
    return seconds


def counters(text: str) -> Iterator[list[str]]:
    """Read what the player noted at the marks: rows of `OPS`. Calls that were never made have no row."""
    for mark in re.split(r"^mark ", text, flags=re.MULTILINE)[1:]:
        head, _, body = mark.partition("\n")
        time_s, label = head.split(maxsplit=1)
        for line in body.splitlines():
            if (found := _PER_OP.match(line)) and not found[2].startswith("0 "):
                values = found[2].split()
                yield [time_s, label, found[1], *(values + [""] * 9)[:9], ""]
            elif found := _TOLD.match(line):
                yield [time_s, label, found[1], *[""] * 9, found[2].replace(" ", ";")]
            elif found := _OF_SERVER.match(line):
                yield [time_s, label, f"srv_{found[1]}", *[""] * 9, found[2].replace(" ", ";")]


def calls(trace: str, *, start_s: float) -> Iterator[list[str]]:
    """Read the tracepoints: rows of `RPC`, of what came after `start_s` on the clock of the trace."""
    for line in trace.splitlines():
        found = _EVENT.match(line)
        if found is None or (time_s := float(found["time"]) - start_s) < 0:
            continue
        fields = dict(_FIELD.findall(found["rest"]))
        result = fields.get("error", fields.get("res", "")) if found["event"].endswith("done") else ""
        count = fields.get("count", fields.get("arg_count", ""))
        row = [fields.get("offset", ""), count, result, fields.get("stable", "")]
        yield [f"{time_s:.6f}", found["task"], found["event"], *row]


def phases(
    case: str, ops: Mapping[str, Sequence[Sequence[str]]], seconds: Mapping[str, Mapping[str, float]]
) -> Iterator[list[str]]:
    """Sum a case up: rows of `PHASES`.

    Parameters
    ----------
    case : str
    ops : mapping of sequence
        By repetition, its rows of `OPS`.
    seconds : mapping of mapping
        By repetition and phase, the time in system calls of the case's own process.
    """
    made: dict[str, list[dict[str, int]]] = defaultdict(list)
    for rows in ops.values():
        for phase, counts in _made(rows):
            made[phase].append(counts)
    for phase, of in made.items():
        times = [by_phase.get(phase, 0.0) for by_phase in seconds.values()]
        means = [f"{sum(each[name] for each in of) / len(of):g}" for name in COUNTED]
        yield [case, phase, " ".join(f"{time_s:.4f}" for time_s in times), *means]


def _made(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, dict[str, int]]]:
    """Give how many calls each phase of a repetition made; `setup` is what comes before the first mark."""
    at: dict[str, dict[str, int]] = {}
    for _, label, op, count, *_rest in rows:
        here = at.setdefault(label, dict.fromkeys(COUNTED, 0))
        name = _READ_LIKE.get(op, op)
        if name in here:
            here[name] += int(count)
    labels = list(at)
    for label, after in pairwise(labels):
        counts = {name: at[after][name] - at[label][name] for name in COUNTED}
        yield ("setup" if label == "begin" else label), counts
