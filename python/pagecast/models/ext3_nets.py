"""Runs a phase of a program in the net of reads or of writes of ext3.

Parts follow from the values of the net: what calls, look-ups and copies of an operation take is `cpu_copy`, and
the rest is what it waited for. A read waits for the disk; a write for the dirty limit, or with data in the
journal for a checkpoint; an fsync for the disk, and at its end for the commit record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pagecast.models.ext3_phases import SYNCS, Phase
from pagecast.models.machine import PAGE_BYTES
from pagecast.models.programs import Operation
from pagecast.petri.net import Net
from pagecast.petri.nets.calls import Call
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write
from pagecast.petri.run import Run

__all__ = ["Done", "PhaseRun", "run_reads", "run_writes"]

MOST_STOPS: Final = 20_000
"""With more operations the levels of a phase are read at its end alone."""

ENDED: Final = "Ended"
"""The place with a token for each call that has ended."""

L2_PART: Final = 8
"""Copies have an eighth of L2 (Table 2 of the dissertation)."""


@dataclass(frozen=True, slots=True)
class Done:
    """An operation in a phase: times from the start of it, and counts at its end.

    Attributes
    ----------
    operation : Operation
    start_ns, end_ns : int
    parts : mapping of str to int
        Nanoseconds; they add up to the duration.
    device_pages : int
        Pages that the disk transferred meanwhile.
    cached_pages, dirty_pages, active_pages : int
        Of the file; the cached pages of a write are not counted by its net.
    calls_ns : tuple of tuple of int and int
        Start and end of each call.
    """

    operation: Operation
    start_ns: int
    end_ns: int
    parts: Mapping[str, int]
    device_pages: int
    cached_pages: int
    dirty_pages: int
    active_pages: int
    calls_ns: tuple[tuple[int, int], ...]


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

    def levels(self, now: Counts) -> tuple[int, int, int, int]:
        """Give the pages transferred since the start, and those cached, dirty and active."""

    def parts(self, operation: Operation, calls: Sequence[Call], wait_ns: int, now: Counts) -> dict[str, int]:
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

    def levels(self, now: Counts) -> tuple[int, int, int, int]:
        from_active = now["Insert and reclaim'Reclaim active"]
        reclaimed = now["Insert and reclaim'Reclaim inactive"] + from_active
        cached = self.settings["cached_pages"] + now["Insert and reclaim'Insert"] - reclaimed
        active = now["Access'Second access"] - now["Ageing'Not accessed"] - from_active
        return now["Disk'Transfer page"], cached, 0, active

    def parts(self, operation: Operation, calls: Sequence[Call], wait_ns: int, now: Counts) -> dict[str, int]:
        return {"device_read": wait_ns}

    def processor_ns(self, call: Call) -> int:
        pages, of = call.end - call.first, self.settings
        return of["fread_ns"] + pages * (of["look_up_ns"] + _copy_ns(of, pages))


@dataclass(slots=True)
class _Writes:
    settings: Mapping[str, Any]
    commits: int = 0

    def levels(self, now: Counts) -> tuple[int, int, int, int]:
        written = now["End of a write'Data written"] + now["End of a write'Data logged"]
        return written, 0, now["Write call'Commit"] - written, 0

    def parts(self, operation: Operation, calls: Sequence[Call], wait_ns: int, now: Counts) -> dict[str, int]:
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
        return of["fwrite_ns"] + pages * (of["begin_ns"] + _copy_ns(of, pages) + of["commit_write_ns"])


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
    numbers = [last for last in phase.last_call if last >= 0]
    for last in numbers if len(numbers) <= MOST_STOPS else ():
        # The token that the start of call k adds says that call k - 1 has ended.
        stops[last] = _counts(stepper.run(when={ENDED: last + 2}))
    run = stepper.run()
    ended: list[int] = sorted(run.tokens(ENDED)["time"])
    begin_ns, ended_ns = ended[0], ended[1:]
    at_end = _counts(run)
    done: list[Done] = []
    now_ns, first, transferred = begin_ns, 0, 0
    for operation, last in zip(phase.operations, phase.last_call, strict=True):
        if last < 0:
            before = done[-1] if done else None
            end_ns = now_ns + operation.pause_ns
            part = {operation.kind: operation.pause_ns} if operation.pause_ns else {}
            levels = (
                (before.cached_pages, before.dirty_pages, before.active_pages) if before else (-1, -1, -1)
            )
            done.append(Done(operation, now_ns, end_ns, part, 0, *levels, ()))
            now_ns = end_ns
            continue
        calls, counts = phase.calls[first : last + 1], stops.get(last, at_end)
        times = _calls_ns(phase, first, last, begin_ns, ended_ns)
        processor_ns = sum(rules.processor_ns(call) for call in calls)
        wait_ns = ended_ns[last] - now_ns - processor_ns
        parts = {"cpu_copy": processor_ns, **rules.parts(operation, calls, wait_ns, counts)}
        pages, *levels_now = rules.levels(counts)
        done.append(Done(operation, now_ns, ended_ns[last], parts, pages - transferred, *levels_now, times))
        now_ns, first, transferred = ended_ns[last], last + 1, pages
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
