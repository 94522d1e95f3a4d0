"""Runs a phase of a program in the net of reads or of writes of ext3.

Parts follow from the values of the net. Calls, look-ups and copies of an operation are `cpu_copy`, and the
rest is what it waited for. A read waits for the disk. A write waits for the dirty limit, or with data in the
journal for a checkpoint; an fsync waits for the disk, and at its end for the commit record.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from pagecast.models.ext3_phases import SYNCS, Phase
from pagecast.models.machine import PAGE_BYTES
from pagecast.models.programs import Operation
from pagecast.petri.net import Net
from pagecast.petri.nets.calls import Call
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write
from pagecast.petri.run import Run

__all__ = ["Done", "PhaseRun", "run_reads", "run_writes"]

ENDED: Final = "Ended"
"""The place with a token for each call that has ended."""

L2_PART: Final = 8
"""Copies have an eighth of L2 (Table 2 of the dissertation)."""


class Levels(NamedTuple):
    """Pages of the file at a moment, and those that the disk has transferred since the start.

    The net of writes does not count cached pages, and that of reads has no dirty ones.
    """

    transferred_pages: int = 0
    cached_pages: int = 0
    dirty_pages: int = 0
    active_pages: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """An operation in a phase: times from the start of it, and counts at its end.

    Attributes
    ----------
    operation : Operation
    start_ns, end_ns : int
    parts : mapping of str to int
        Nanoseconds; they add up to the duration.
    levels : Levels
    device_pages : int
        Pages that the disk transferred meanwhile.
    calls_ns : tuple of tuple of int and int
        Start and end of each call.
    """

    operation: Operation
    start_ns: int
    end_ns: int
    parts: Mapping[str, int]
    levels: Levels
    device_pages: int = 0
    calls_ns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PhaseRun:
    """A phase that was played, and its net at the end."""

    operations: Sequence[Done]
    run: Run

    @property
    def end_ns(self) -> int:
        """The time at which its last operation ended."""
        return self.operations[-1].end_ns


Counts = Mapping[str, int]
"""Occurrences of transitions, by page and name."""


class _Rules(Protocol):
    """What a net says of an operation."""

    def levels(self, now: Counts) -> Levels:
        """Give the levels by what has occurred."""

    def parts(self, operation: Operation, wait_ns: int, now: Counts) -> dict[str, int]:
        """Give the parts of what is left of a duration beside `cpu_copy`."""

    def processor_ns(self, call: Call) -> int:
        """Give the time of a call without any wait."""


def run_reads(phase: Phase, settings: Mapping[str, Any], *, seed: int) -> PhaseRun:
    """Play reads of a file.

    Parameters
    ----------
    phase : Phase
    settings : mapping
        Values of the net.
    seed : int

    Returns
    -------
    PhaseRun
    """
    return _run(phase, ext3_read(phase.calls).with_values(**settings), _Reads(settings), seed)


def run_writes(phase: Phase, settings: Mapping[str, Any], *, seed: int) -> PhaseRun:
    """Play writes and fsyncs of a file; parameters as for `run_reads`."""
    return _run(phase, ext3_write(phase.calls).with_values(**settings), _Writes(settings), seed)


@dataclass(frozen=True, slots=True)
class _Reads:
    settings: Mapping[str, Any]

    def levels(self, now: Counts) -> Levels:
        from_active = now["Insert and reclaim'Reclaim active"]
        reclaimed = now["Insert and reclaim'Reclaim inactive"] + from_active
        cached = self.settings["cached_pages"] + now["Insert and reclaim'Insert"] - reclaimed
        active = now["Access'Second access"] - now["Ageing'Not accessed"] - from_active
        return Levels(now["Disk'Transfer page"], cached, active_pages=active)

    def parts(self, operation: Operation, wait_ns: int, now: Counts) -> dict[str, int]:
        return {"device_read": wait_ns}

    def processor_ns(self, call: Call) -> int:
        pages, of = call.end - call.first, self.settings
        return int(of["fread_ns"] + pages * (of["look_up_ns"] + _copy_ns(of, pages)))


@dataclass(slots=True)
class _Writes:
    settings: Mapping[str, Any]
    commits: int = 0

    def levels(self, now: Counts) -> Levels:
        written = now["End of a write'Data written"] + now["End of a write'Data logged"]
        return Levels(written, dirty_pages=now["Write call'Commit"] - written)

    def parts(self, operation: Operation, wait_ns: int, now: Counts) -> dict[str, int]:
        of = self.settings
        committed = now["Commit'Committed"]
        commits, self.commits = committed - self.commits, committed
        if of["journal_mode"] == "data" and not of["is_synchronous"]:
            return {"journal": wait_ns}
        if operation.kind not in SYNCS and not of["is_synchronous"]:
            return {"throttled": wait_ns}
        record_ns = of["disk_position_ns"] + of["commit_pages"] * of["disk_page_ns"]
        journal_ns = min(wait_ns, commits * record_ns)
        return {"device_write": wait_ns - journal_ns, "journal": journal_ns}

    def processor_ns(self, call: Call) -> int:
        pages, of = call.end - call.first, self.settings
        if pages == 0:
            return 0
        each_ns = of["begin_ns"] + _copy_ns(of, pages) + of["commit_write_ns"]
        return int(of["fwrite_ns"] + pages * each_ns)


def _copy_ns(settings: Mapping[str, Any], pages: int) -> int:
    """Give the time to copy a page of a call: the net's `copy_of`."""
    fitting = settings["l2_bytes"] // L2_PART // PAGE_BYTES
    within, beyond = settings["copy_l2_ns"], settings["copy_memory_ns"]
    if pages <= fitting:
        return int(within)
    return int((fitting * within + (pages - fitting) * beyond) // pages)


def _run(phase: Phase, net: Net, rules: _Rules, seed: int) -> PhaseRun:
    """Run a net to its end, with a stop at the end of each operation."""
    stepper = net.stepper(seed=seed)
    stops: dict[int, Counts] = {}
    for last in (last for last in phase.last_call if last >= 0):
        # The token that the start of call k adds says that call k - 1 has ended.
        stops[last] = _counts(stepper.run(when={ENDED: last + 2}))
    run = stepper.run()
    ended: list[int] = sorted(run.tokens(ENDED)["time"])
    begin_ns, ended_ns = ended[0], ended[1:]
    done: list[Done] = []
    now_ns, first, levels = begin_ns, 0, rules.levels(defaultdict(int))
    for operation, last in zip(phase.operations, phase.last_call, strict=True):
        if last < 0:
            end_ns = now_ns + operation.pause_ns
            part = {operation.kind: operation.pause_ns} if operation.pause_ns else {}
            done.append(Done(operation, now_ns, end_ns, part, levels))
            now_ns = end_ns
            continue
        calls, counts = phase.calls[first : last + 1], stops[last]
        processor_ns = sum(rules.processor_ns(call) for call in calls)
        wait_ns = ended_ns[last] - now_ns - processor_ns
        parts = {"cpu_copy": processor_ns, **rules.parts(operation, wait_ns, counts)}
        before, levels = levels.transferred_pages, rules.levels(counts)
        times = _calls_ns(phase, first, last, begin_ns, ended_ns)
        moved_pages = levels.transferred_pages - before
        done.append(Done(operation, now_ns, ended_ns[last], parts, levels, moved_pages, times))
        now_ns, first = ended_ns[last], last + 1
    return PhaseRun(done, run)


def _calls_ns(
    phase: Phase, first: int, last: int, begin_ns: int, ended_ns: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    return tuple(
        ((ended_ns[at - 1] if at else begin_ns) + phase.calls[at].before_ns, ended_ns[at])
        for at in range(first, last + 1)
    )


def _counts(run: Run) -> Counts:
    table = run.transitions
    return dict(zip(table["transition"], table["occurrences"], strict=True))
