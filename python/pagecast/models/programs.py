"""The programs of a scenario as lists of calls, as the nets play them.

The core plays the scenario under `endless-cache` first, which is quick: that says which operations there are,
which of them wait for others, and what is cached at time 0. Their calls are those of `Scenario.record`. Its
times are not used. What is dirty at time 0 only `kernel` tells; it is asked when nothing else is refused.
Left out: the depth of a pattern that a program in Python has, which its calls do not tell.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pagecast.api import Scenario, simulate
from pagecast.kinds import NO_IO
from pagecast.models.refusal import Refusal
from pagecast.result import Result

__all__ = ["PAUSES", "Operation", "Programs", "check_clean", "programs_of"]

MOST_OPERATIONS: Final = 100_000
"""With more a net would take minutes. A loop until a time has no end in a recording."""

SETTLE: Final = "kernel"
"""The model that knows what is dirty at time 0."""

PAUSES: Final = ("compute", "sleep")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a program, and its calls.

    Attributes
    ----------
    row : int
        Of the forecast of the core.
    process, host, kind, path : str
    index : int
        Its number in its process.
    offset_bytes, size_bytes : int
        As the tables have them.
    calls : tuple of tuple of int and int
        Offset and size of each; empty of operations that move nothing.
    counts_calls : bool
        Its calls count one by one in `latency`: it has a pattern.
    pause_ns : int
        How long a `compute` or `sleep` takes.
    begins_ns, ends_ns : int
        Of the core's forecast; tell only the order of processes.
    """

    row: int
    process: str
    host: str
    kind: str
    path: str
    index: int
    offset_bytes: int
    size_bytes: int
    calls: tuple[tuple[int, int], ...]
    counts_calls: bool
    pause_ns: int
    begins_ns: int
    ends_ns: int


@dataclass(frozen=True, slots=True)
class Programs:
    """The operations of each process, and the files.

    Attributes
    ----------
    result : Result
        Of the core.
    operations : mapping of str to sequence of Operation
        By process.
    sizes : mapping of str to int
        Bytes of the files that exist before time 0.
    cached : mapping of str to int
        Bytes at time 0, by host.
    synchronous : frozenset of str
        Files that are opened with O_SYNC or O_DSYNC.
    """

    result: Result
    operations: Mapping[str, Sequence[Operation]]
    sizes: Mapping[str, int]
    cached: Mapping[str, int]
    synchronous: frozenset[str]


def programs_of(scenario: Scenario, refusal: Refusal, *, seed: int = 0) -> Programs:
    """Give the programs of a scenario.

    Parameters
    ----------
    scenario : Scenario
    seed : int
        Of times that are drawn.
    refusal : Refusal
        Takes what no net plays.

    Returns
    -------
    Programs

    Raises
    ------
    SimulationError
        The workload cannot go on.
    """
    recording = scenario.record(MOST_OPERATIONS)
    if len(recording) >= MOST_OPERATIONS:
        refusal.add(
            f"the programs have {MOST_OPERATIONS:,} operations or more, or go on until a time; shorten them"
        )
        refusal.check()
    result = simulate(scenario, model="endless-cache", seed=seed, record="all")
    recorded: dict[str, list[_Recorded]] = defaultdict(list)
    for batch in recording.batches():
        for row in _rows(batch):
            recorded[row.process].append(row)
    if scenario.toml is not None and _has_depth(tomllib.loads(scenario.toml[0].decode())):
        refusal.add("a `pattern` has a depth; the nets have one call at a time: leave `depth` out")
    synchronous = _opened(recorded, refusal)
    rows_of: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(result.operations["process"]):
        rows_of[name].append(number)
    operations = {
        name: list(_operations(name, result, rows_of[name], rows, refusal)) for name, rows in recorded.items()
    }
    sizes = {path: size for path, size, _ in recording.files if path in scenario.files}
    return Programs(result, operations, sizes, _at_start(result, "cached"), synchronous)


def check_clean(scenario: Scenario, programs: Programs, refusal: Refusal) -> None:
    """Refuse files that are dirty at time 0, if nothing else was refused.

    Parameters
    ----------
    scenario : Scenario
    programs : Programs
    refusal : Refusal

    Raises
    ------
    ScenarioError
        There is a reason.
    """
    refusal.check()
    may_be_dirty = bool(programs.sizes) and any(programs.cached.values())
    if may_be_dirty and any(_at_start(simulate(scenario, model=SETTLE), "dirty").values()):
        refusal.add("a file is dirty at time 0; the nets begin with clean pages: leave `dirty` out")
    refusal.check()


def _has_depth(table: Any) -> bool:
    """Tell whether a pattern somewhere in a scenario has a depth, which its recorded calls do not tell."""
    if isinstance(table, dict):
        pattern = table.get("pattern")
        is_deep = isinstance(pattern, dict) and pattern.get("depth", 1) != 1
        return is_deep or any(_has_depth(value) for value in table.values())
    return isinstance(table, list) and any(_has_depth(value) for value in table)


@dataclass(frozen=True, slots=True)
class _Recorded:
    process: str
    kind: str
    offset_bytes: int | None
    size_bytes: int | None
    call_bytes: int | None
    path: str
    flags: str
    is_odd: bool


def _rows(batch: Mapping[str, list[Any]]) -> Iterator[_Recorded]:
    columns = ("process", "op", "offset_bytes", "bytes", "call_bytes", "file", "flags")
    odd = ("time_s", "depth", "by")
    for at in range(len(batch["op"])):
        process, op, offset, size, call, path, flags = (batch[name][at] for name in columns)
        is_odd = any(batch[name][at] is not None for name in odd)
        yield _Recorded(process, op, offset, size, call, path or "", flags or "", is_odd)


def _opened(recorded: Mapping[str, Sequence[_Recorded]], refusal: Refusal) -> frozenset[str]:
    """Give the files that are opened for synchronous writes."""
    found = set()
    for rows in recorded.values():
        for row in rows:
            flags = set(row.flags.split())
            if flags & {"O_SYNC", "O_DSYNC"}:
                found.add(row.path)
            if strange := flags & {"O_DIRECT", "RWF_DONTCACHE"}:
                refusal.add(f"{row.path} is opened with {', '.join(strange)}; the nets use the page cache")
    return frozenset(found)


def _operations(
    process: str, result: Result, own: Sequence[int], rows: Sequence[_Recorded], refusal: Refusal
) -> Iterator[Operation]:
    """Put the operations of a process and their recorded calls together."""
    table = result.operations
    drawn: set[tuple[tuple[int, int], ...]] = set()
    appended = {row.path for row in rows if "O_APPEND" in row.flags.split()}
    at = 0
    for row in sorted(own, key=lambda row: int(table["index"][row])):
        kind, size = table["operation"][row], int(table["bytes"][row])
        start = at
        moved = 0
        while at < len(rows) and rows[at].kind == kind and (at == start or moved < size):
            moved += _size(rows[at], size)
            at += 1
        taken = rows[start:at]
        if not taken or (kind not in NO_IO and moved != size):
            refusal.add(f"`{kind}` of {process} has no fixed calls (a time, or a rate); give it a size")
            return
        if any(each.is_odd for each in taken):
            refusal.add(
                f"`{kind}` of {process} is asynchronous, or has a time; leave `depth`, `by`, `at` out"
            )
        offset, is_end = int(table["offset_bytes"][row]), table["path"][row] in appended
        calls = tuple(call for each in taken for call in _calls(each, offset, size, is_end)) if size else ()
        if len(taken) > 1 or (calls and calls[0][0] != offset):
            if calls in drawn:
                refusal.add(
                    f"{process} has several operations of one `pattern`, which the nets would begin anew; "
                    "make them one"
                )
            drawn.add(calls)
        begins_ns, ends_ns = (round(1e9 * float(table[name][row])) for name in ("start_s", "end_s"))
        yield Operation(
            row,
            process,
            table["host"][row],
            kind,
            table["path"][row],
            int(table["index"][row]),
            offset,
            size,
            calls,
            len(taken) > 1,
            ends_ns - begins_ns if kind in PAUSES else 0,
            begins_ns,
            ends_ns,
        )


def _size(row: _Recorded, whole: int) -> int:
    return whole if row.size_bytes is None else row.size_bytes


def _calls(row: _Recorded, offset: int, whole: int, is_end: bool) -> Iterator[tuple[int, int]]:
    """Give offset and size of each call; one at the end of the file begins where the core says."""
    size = _size(row, whole)
    start = offset if is_end or row.offset_bytes is None else row.offset_bytes
    step = row.call_bytes or size
    for begin in range(0, size, step):
        yield start + begin, min(step, size - begin)


def _at_start(result: Result, level: str) -> dict[str, int]:
    """Give a level of each host at time 0: that of the second row, after the files are put in place."""
    found: dict[str, list[int]] = defaultdict(list)
    table = result.timeline
    for time, host, value in zip(table["time_s"], table["host"], table[f"{level}_bytes"], strict=True):
        if time == 0 and len(found[host]) < 2:
            found[host].append(int(value))
    return {host: values[-1] for host, values in found.items() if values}
