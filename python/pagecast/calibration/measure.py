"""Measures rounds of cells, each round in an order of its own, so that drift hits all alike.

A cell is one short measurement of `Probe`. Results are kept by `Cell`: seconds per byte of
what moves bytes, together where several move them at once; seconds of what is waited for; fractions. A round
in which a warm file had to be read from the device, because something took its pages away, says NaN.
"""

import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from pagecast import procfs
from pagecast.calibration.fits import Bucket, Marks, Steady, fit_steady
from pagecast.calibration.long_streams import look_for_write_cache, watch
from pagecast.calibration.plan import LOOKS, MIB, MOST_LOST, STEADY_S, Plan
from pagecast.progress import Progress, teller

__all__ = ["Cell", "Copied", "Mapped", "Measurements", "Moved", "Probe", "Round", "measure"]

Moved: TypeAlias = tuple[int, int, float, float, list[tuple[float, int]]]
"""Bytes, calls, seconds, how many of them without a processor, and how far it was on the way."""

Copied: TypeAlias = tuple[float, float, float, float, float, float]
"""Seconds of the processor of each step, and how much longer all of them took."""

Mapped: TypeAlias = tuple[float, float, float, float, float]
"""Seconds of the processor: reading and writing with calls, both through mappings, and a page mapped."""


BLOCK_BYTES: Final = 4096
TOUCHED_BYTES: Final = 4 * MIB
DRAIN_S: Final = 0.3
"""A drain is about so long."""
SYNCS: Final = 50
"""The most in a cell."""
LEAST_CALLS: Final = 4
"""Fewer calls beside write-back say nothing."""
FILL_MARKS: Final = 64
SMALL_BYTES: Final = MIB
"""Of the file whose blocks are soon given back."""
LEAST_PART: Final = 0.1
"""Of the time; what is left after waiting for a processor is no less, whatever two clocks say."""
DIRECTIONS: Final = ("read", "write")
MAPPED: Final = ("called read", "called write", "mapped read", "mapped write", "mapped page")
STEADY_FROM_S: Final = 0.3
STEADY_MARK_S: Final = 0.005
REST_S: Final = 0.2
"""After it a new slice begins."""
LEAST_AHEAD_S: Final = 0.04
"""A stream that is no further ahead of its rate meets no limiter that matters."""


class Probe(Protocol):
    """What measures: `pagecast._core.Calibration`, or a machine that is known."""

    def streams(
        self,
        streams: Sequence[tuple[bool, int, int, int, int | None]],
        *,
        direct: bool,
        most_bytes: int,
        most_s: float,
        mark_s: float,
        durable: bool = False,
    ) -> list[Moved]:
        """Let streams go over a file: (is it a write, from, length, bytes of a call, seed if random).

        With `durable` each write returns when its bytes are.
        """

    def copies(
        self, file_bytes: int, call_bytes: int, *, threads: int = 1, huge: bool = False
    ) -> list[Copied]:
        """Write new pages, again, read, read into new memory, remove; for each thread."""

    def mappings(self, file_bytes: int, call_bytes: int) -> Mapped | None:
        """Read and write a file of such calls with calls and through mappings; None if it has none."""

    def syncs(self, waiting: str, *, block_bytes: int, most: int, most_s: float) -> list[float]:
        """Give the seconds of each time that a block was made durable."""

    def drain(self, bytes: int) -> tuple[Moved, float]:
        """Write back a new file, and say in how many seconds it is then cut to nothing."""

    def put(self, bytes: int) -> None:
        """Write a new file to the device, and let it stay."""

    def cut(self) -> float:
        """Say in how many seconds the file that `put` has made is cut to nothing."""

    def fill(self, bytes: int, mark_bytes: int) -> Moved:
        """Write new pages, whatever the flusher does meanwhile."""

    def memory(self, bytes: int, call_bytes: int) -> float:
        """Copy memory to a buffer, and give the seconds of the processor."""

    def stream_buffer(self) -> int | None:
        """Say how many bytes a stream of the C library buffers; None if that was not found."""

    def touches(self, bytes: int, piece_bytes: int) -> tuple[list[float], list[float]]:
        """Touch new memory, and again just after; the seconds of each piece."""

    def beside(self, dirty_bytes: int, most_bytes: int) -> tuple[Moved, Moved, Moved]:
        """Write new pages alone, then beside write-back; the third is the write-back."""


class Cell(NamedTuple):
    """The measurement, the bytes of a call, and the number of threads."""

    what: str
    call_bytes: int = 0
    streams: int = 1


@dataclass(slots=True)
class Measurements:
    """Results of rounds, in the order of time."""

    plan: Plan
    is_direct: bool
    file_bytes: int
    """What cells go over,"""
    long_file_bytes: int = 0
    """and long streams."""
    drain_bytes: int = 0
    touched: tuple[list[float], list[float]] = ([], [])
    """Seconds of each `TOUCHED_BYTES` of new memory, at both ends: at first, and just after."""
    put_s: float = 0.0
    """How old a file of `drain_bytes` was in the end,"""
    old_cut_s: float = math.nan
    """and in how many seconds it was cut to nothing."""
    found: dict[Cell, list[float]] = field(default_factory=dict)
    long_writes: list[Marks] = field(default_factory=list)
    """How far long writes were, each after idle time."""
    write_cache: list[Bucket] = field(default_factory=list)
    """What took the beginning of each, if it was faster and reads are not."""
    watched: dict[str, Bucket | None] = field(default_factory=dict)
    """What a long "read" and "write" showed, where a bucket was looked for."""
    unsure: list[str] = field(default_factory=list)
    """Of these the rate fell, while a processor was waited for so long that it may be by that."""
    is_limited: bool = False
    """Whether a limiter lets reads or writes begin faster than they go on."""
    stream_buffer_bytes: int | None = None
    """Of the C library."""
    fills: list[Marks] = field(default_factory=list)
    """How far it was each time that memory was filled."""
    functions: dict[str, list[float]] = field(default_factory=dict)
    """Seconds of the kernel's functions, as `pagecast.calibration.functions` gives them."""
    rounds: int = 0
    lost: int = 0
    """Cells that were measured again, or given up, because cached pages had been taken away."""
    elapsed_s: float = 0.0
    copied_s: float = 0.0
    """What copies took by the clock,"""
    waited_s: float = 0.0
    """and how much of that they waited for a processor."""

    def note_waits(self, took: Sequence[Copied]) -> None:
        """Add the times and waits of threads."""
        self.copied_s += sum(map(sum, took))
        self.waited_s += sum(waited for *_, waited in took)

    def note(self, cell: Cell, value: float) -> None:
        """Add the results of a round."""
        self.found.setdefault(cell, []).append(value)


_Measure: TypeAlias = Callable[["Round"], None]
_Found = TypeVar("_Found")


@dataclass(slots=True)
class Round:
    """One round, or what comes before and after them: what measures, and where to."""

    probe: Probe
    into: Measurements
    number: int
    device_read_bytes: Callable[[], int]
    rest: Callable[[float], object]
    waits_s: Callable[[], float]

    @property
    def plan(self) -> Plan:
        return self.into.plan


def measure(
    probe: Probe,
    plan: Plan,
    *,
    direct: bool,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
    device_read_bytes: Callable[[], int] | None = None,
    rest: Callable[[float], object] = time.sleep,
    waits_s: Callable[[], float] | None = None,
) -> Measurements:
    """Measure every cell in every round.

    Parameters
    ----------
    probe : Probe
    plan : Plan
    direct : bool
        Whether streams go past the page cache.
    seed : int
        Of the order of cells and of random places.
    progress : callable, optional
    clock : callable
        Gives seconds that only go forward.
    device_read_bytes : callable, optional
        Gives how much this process has read from devices so far. Default: the kernel's own figure.
    rest : callable
        Lets so many seconds pass.
    waits_s : callable, optional
        Gives for how long something waited for a processor so far. Default: the kernel's own figure.

    Returns
    -------
    Measurements
    """
    say = teller(progress)
    begun = clock()
    say(0.0, "touching memory")
    touched = probe.touches(plan.touch_bytes, TOUCHED_BYTES)
    say(0.0, "preparing a file")
    whole = (True, 0, plan.file_bytes, MIB, None)
    limits = {"most_bytes": plan.file_bytes, "most_s": plan.prepare_s, "mark_s": plan.prepare_s}
    [prepared] = probe.streams([whole], direct=direct, **limits)  # type: ignore[arg-type]
    into = Measurements(plan, direct, min(prepared[0], plan.device_bytes), prepared[0])
    into.drain_bytes, into.touched = _drain_bytes(plan, prepared), touched
    order = random.Random(seed)  # noqa: S311
    probe.put(into.drain_bytes)
    put = clock()
    one = Round(probe, into, 0, device_read_bytes or _device_read_bytes, rest, waits_s or _waits_s)
    look_for_write_cache(one, say)
    say(0.0, "looking for a limiter")
    # Who waits for a processor meanwhile may hide it in one way; and what is measured then is right for both.
    into.is_limited = any(
        _is_limited(one, what) for what in DIRECTIONS if what == "read" or not into.write_cache
    )
    into.stream_buffer_bytes = probe.stream_buffer()
    cells = list(_cells(into))
    while _goes_on(into, clock() - begun):
        one = replace(one, number=into.rounds)
        for at, (what, act) in enumerate(order.sample(cells, len(cells))):
            say(_fraction(into, at / len(cells), clock() - begun), what)
            act(one)
        into.rounds += 1
    _fill(one, say)
    if plan.bucket_s:
        watch(one, say)
    # Once more: what others had just freed before may be with a host by now.
    for pieces, more in zip(into.touched, probe.touches(plan.touch_bytes, TOUCHED_BYTES), strict=True):
        pieces.extend(more)
    # What is old enough its host has written.
    rest(max(0.0, plan.old_s - (clock() - put)))
    into.put_s, into.old_cut_s = clock() - put, probe.cut()
    into.elapsed_s = clock() - begun
    return into


def _goes_on(into: Measurements, elapsed_s: float) -> bool:
    plan = into.plan
    if into.rounds == 0:
        return True
    if elapsed_s > plan.last_s or into.rounds >= plan.most_rounds:
        return False
    return into.rounds < plan.least_rounds or elapsed_s <= plan.most_s


def _fraction(into: Measurements, part: float, elapsed_s: float) -> float:
    """Say how far it is: whichever of rounds and time ends it."""
    plan, rounds = into.plan, into.rounds + part
    if rounds < plan.least_rounds:
        return min(rounds / plan.least_rounds, 0.95) * min(
            1.0, max(plan.least_rounds / plan.most_rounds, elapsed_s / plan.most_s)
        )
    return min(1.0, max(rounds / plan.most_rounds, elapsed_s / plan.most_s))


def _drain_bytes(plan: Plan, prepared: Moved) -> int:
    size, _, seconds, _, _ = prepared
    wanted = int(size / max(seconds, 1e-9) * DRAIN_S) // (4 * MIB) * 4 * MIB
    return max(min(plan.drain_bytes, wanted), min(plan.drain_bytes, 4 * MIB))


def _cells(into: Measurements) -> Iterator[tuple[str, _Measure]]:
    """Give the measurements of each round, with a word for each."""
    plan = into.plan
    for call in plan.copy_calls:
        if call <= plan.copy_bytes:
            yield "page cache", _copying(call, 1)
    call = min(MIB, plan.copy_bytes)
    yield "page cache", _copying(call, 1, huge=True)
    for threads in plan.threads[1:]:
        yield "page cache, several threads", _copying(call, threads)
    for call in plan.map_calls:
        yield "mapped files", _mapping(call)
    for is_write in (False, True):
        for call in plan.device_calls:
            yield "device", _streaming(is_write, call, 1)
        for call in plan.durable_calls if is_write else ():
            yield "device, durable", _streaming(True, call, 1, is_durable=True)
        for streams in plan.streams[1:]:
            yield "device, several at once", _streaming(is_write, MIB, streams)
        yield "random access", _streaming(is_write, BLOCK_BYTES, 1, is_random=True)
    for what in DIRECTIONS if into.is_limited else ():
        yield "device behind a limiter", _going_on(what)
    yield "reading and writing at once", _both
    for waiting in ("fsync", "fdatasync", "O_DSYNC", "append"):
        yield waiting, _syncing(waiting)
    yield "memory", _copying_memory
    yield "write-back", _draining
    yield "write-back beside a writer", _beside


def _copying(call: int, threads: int, *, huge: bool = False) -> _Measure:
    def act(one: Round) -> None:
        size = one.plan.copy_bytes

        def copy() -> list[Copied]:
            took = one.probe.copies(size, call, threads=threads, huge=huge)
            one.into.note_waits(took)
            return took

        took = _warm(one, copy) or [(math.nan,) * 6] * threads
        if huge:
            [(_, _, read, fresh, _, _)] = took
            one.into.note(Cell("fresh huge", call), fresh / size)
            one.into.note(Cell("read huge", call), read / size)
            return
        for at, what in enumerate(("new", "again", "read", "fresh", "remove")):
            rate = sum(size / max(each[at], 1e-9) for each in took)
            one.into.note(Cell(what, call, threads), 1 / rate)

    return act


def _warm(one: Round, act: Callable[[], _Found]) -> _Found | None:
    """Do it until its file was not read from the device; None if that has happened too often."""
    while True:
        before = one.device_read_bytes()
        found = act()
        if one.device_read_bytes() - before < one.plan.copy_bytes // 100:
            return found
        one.into.lost += 1
        if one.into.lost > MOST_LOST:
            return None


def _mapping(call: int) -> _Measure:
    def act(one: Round) -> None:
        size = one.plan.copy_bytes
        took = _warm(one, lambda: one.probe.mappings(size, call)) or (math.nan,) * 5
        for what, seconds in zip(MAPPED, took, strict=True):
            one.into.note(Cell(what, call), seconds if what == "mapped page" else seconds / size)

    return act


def _streaming(
    is_write: bool, call: int, streams: int, *, is_random: bool = False, is_durable: bool = False
) -> _Measure:
    kind = "random" if is_random else "durable" if is_durable else "device"
    what = f"{kind} {'write' if is_write else 'read'}"

    def act(one: Round) -> None:
        part = one.into.file_bytes // streams // MIB * MIB or one.into.file_bytes // streams
        if part < call:
            return
        seed = one.number << 32 if is_random else None
        of = [(is_write, at * part, part, call, seed) for at in range(streams)]
        moved = _streams(one, of, durable=is_durable)
        rate = _rate_alone if streams == 1 else _rate
        one.into.note(Cell(what, call, streams), 1 / sum(map(rate, moved)))

    return act


def _streams(
    one: Round, of: Sequence[tuple[bool, int, int, int, int | None]], *, durable: bool = False
) -> list[Moved]:
    plan = one.plan
    return one.probe.streams(
        of,
        direct=one.into.is_direct,
        most_bytes=plan.stream_bytes,
        most_s=plan.stream_s,
        mark_s=plan.stream_s,
        durable=durable,
    )


def _rate(moved: Moved) -> float:
    size, _, seconds, _, _ = moved
    return size / max(seconds, 1e-9)


def _rate_alone(moved: Moved) -> float:
    """Give the rate of a single user of the device: while such a one waits for a processor, nothing moves."""
    size, _, seconds, waited, _ = moved
    return size / max(seconds - waited, seconds * LEAST_PART, 1e-9)


def _both(one: Round) -> None:
    half = one.into.file_bytes // 2 // MIB * MIB
    if half == 0:
        return
    streams = [(False, 0, half, MIB, None), (True, half, half, MIB, None)]
    moved = _long_streams(one, streams) if one.into.is_limited else _streams(one, streams)
    for what, each in zip(("both read", "both write"), moved, strict=True):
        steady = _steady(each) if one.into.is_limited else None
        rate = steady.rate_bytes_per_s if steady is not None else _rate(each)
        one.into.note(Cell(what, MIB), 1 / rate)


def _is_limited(one: Round, what: str) -> bool:
    """Say whether a stream is mostly faster at its beginning: once may be something else."""
    if not one.into.is_direct:
        return False
    looks = [_going_alone(one, what) for _ in range(LOOKS)]
    ahead = [look for look in looks if look is not None and look.most_ahead_s >= LEAST_AHEAD_S]
    return len(ahead) > LOOKS / 2


def _going_on(what: str) -> _Measure:
    def act(one: Round) -> None:
        steady = _going_alone(one, what)
        one.into.note(Cell(f"steady {what}", MIB), 1 / steady.rate_bytes_per_s if steady else math.nan)
        one.into.note(Cell(f"ahead {what}", MIB), steady.ahead_s if steady else math.nan)

    return act


def _going_alone(one: Round, what: str) -> Steady | None:
    size = one.into.file_bytes
    return _steady(_long_streams(one, [(what == "write", 0, size, min(MIB, size), None)])[0])


def _long_streams(one: Round, of: Sequence[tuple[bool, int, int, int, int | None]]) -> list[Moved]:
    one.rest(REST_S)
    return one.probe.streams(
        of,
        direct=one.into.is_direct,
        most_bytes=one.plan.device_bytes,
        most_s=STEADY_S,
        mark_s=STEADY_MARK_S,
    )


def _steady(moved: Moved) -> Steady | None:
    *_, marks = moved
    return fit_steady(marks, from_s=STEADY_FROM_S)


def _syncing(waiting: str) -> _Measure:
    def act(one: Round) -> None:
        took = one.probe.syncs(waiting, block_bytes=BLOCK_BYTES, most=SYNCS, most_s=one.plan.stream_s)
        one.into.note(Cell(waiting, BLOCK_BYTES), statistics.median(took))

    return act


def _draining(one: Round) -> None:
    drained, freed_s = one.probe.drain(one.into.drain_bytes)
    one.into.note(Cell("drain"), 1 / _rate_alone(drained))
    one.into.note(Cell("free"), freed_s)
    _, freed_s = one.probe.drain(SMALL_BYTES)
    one.into.note(Cell("free small"), freed_s)


def _copying_memory(one: Round) -> None:
    size, call = one.plan.copy_bytes, one.into.stream_buffer_bytes or BLOCK_BYTES
    one.into.note(Cell("memory"), one.probe.memory(size, call) / size)


def _fill(one: Round, say: Progress) -> None:
    """Make memory dirty past where the flusher begins, and let it become clean."""
    plan = one.plan
    for _ in range(plan.fills if plan.fill_bytes else 0):
        say(0.95, "filling memory")
        one.rest(REST_S)
        *_, marks = one.probe.fill(plan.fill_bytes, max(plan.fill_bytes // FILL_MARKS // MIB * MIB, MIB))
        one.into.fills.append(marks)


def _beside(one: Round) -> None:
    dirty = one.into.drain_bytes
    alone, beside, _ = one.probe.beside(dirty, 2 * dirty)
    share = _rate(beside) / _rate(alone) if beside[1] >= LEAST_CALLS else math.nan
    one.into.note(Cell("beside write-back"), share)
    one.into.note(Cell("new beside", MIB), 1 / _rate(beside) if beside[1] >= LEAST_CALLS else math.nan)


def _waits_s() -> float:
    """Give for how long something waited for a processor (`/proc/pressure/cpu`); 0 if that is not told."""
    told = procfs.lines(procfs.PROC / "pressure/cpu")
    return next((int(line.rpartition("=")[2]) / 1e6 for line in told if line.startswith("some ")), 0.0)


def _device_read_bytes() -> int:
    """Give how much this process has read from devices (proc(5), `read_bytes`); 0 if that is kept from us."""
    return procfs.counts(procfs.lines(procfs.PROC / "self/io")).get("read_bytes", 0)
