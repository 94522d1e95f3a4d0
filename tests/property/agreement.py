"""`kernel` with its rates against the oracle's with its units and pauses: they agree within a few per cent.

Each process takes the same time within 2 %, or within 0.2 s, the longest pause. Dirty and written-back
bytes together differ by at most 5 % of the dirty limit at any time, cached and anonymous bytes by 2 % of
the memory; levels may come up to 0.3 s earlier or later.

What the fast one leaves out on purpose, and how the comparison allows for it:

- Jiffies. The kernel rounds pauses down to whole ones. For a unit of the oracle's that is coarse: of a pause
  of 2.4 ms it drops a sixth where there are 1000 jiffies per second, and pauses are as short where more is
  dirty than the limit (`dirty_exceeded`) and where the limit is small. The fast one does not round. So it
  gets 1000 jiffies per second, the most that Linux has, and the oracle 4000, and timers that are not put off
  by the timer wheel.
- Chunks. The flusher stops at the background limit only at the end of a chunk; which bytes it ends with
  is chance. While both are below that limit, dirty bytes may differ by a chunk. Who then writes is held back
  earlier or later by the time that the disk takes for the difference that he found.
- Memory that kswapd frees beyond the high watermark, because a pass over the lists takes what it finds:
  one pass more, at most as much as the high watermark, may be missing from the cache.
- A page that writer and flusher come to at the same time: if the writer is first, it is dirtied once, and
  otherwise twice, which the disk has to write. So much time is allowed for, and a chunk per write at most.
- A process in fsync shares the disk with the flusher, which at that time visits the same file or another:
  that depends on when its visits began. A process with an fsync may take a chunk longer or shorter; so may
  one that cuts a file, which waits for what is under writeback of it.
- A background limit that is crossed in the last millisecond of a write, the least step, by 5 MB at most:
  no flusher is woken.
- Copying shares processors with copying only, so that nobody computes where there are fewer processors than
  processes. Where copying costs nothing by itself, but the memory is the limit, it needs no processor.
- Costs of pages beside a memory whose rate binds: the longer of both counts, and not the sum. The memory
  is fast where pages cost.
- Timers go by their own phase, so that an inode may be found expired 5 s earlier or later: processes do
  not think for long, and are over before much expires.
- Pauses beside a small limit. A pause may last as long as the disk takes for an eighth of its dirty pages
  (`wb_max_pause`), and in it the level falls by as much. A tenth of a second's writing is little beside most
  limits; below 150 MB dirty bytes may differ by an eighth of the limit. Times agree as elsewhere. A strict
  disk's part is smaller than the limit of its host: there limits of 200 MB are left out.
- The end of the list. Who reads or overwrites a file while its next pages are evicted chases that end;
  whether he catches up, and finds the rest in memory, may turn on a few pages. `compare` says what is asked
  of such programs.
- Where dirty bytes may take longer to be written, levels may come later by as much.
- Shared files are read and overwritten where they are, or made longer and shorter: nobody reads what another
  one may have cut off.

With generations, what is evicted next can turn on a single page: whether a tier is protected is a comparison
of counts, and units and bytes reach it at slightly different times. That shows where the same file is read
several times between evictions, and is not compared.

Not compared yet: several writers beside a limit of 20 MB, where dirty bytes differ by 15 % of it now and
then.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from oracle.kernel.policy import Kernel, Sample
from oracle.kernel.settings import MIB, PAGE, Options
from oracle.kernel.zones import Watermarks
from oracle.scenario import Result as OracleResult
from oracle.scenario import Scenario
from pagecast.result import Result
from tests.property.kernel_cases import HOST, Case
from tests.property.running import Times, oracle_times, our_times

Levels = npt.NDArray[np.float64]

SHIFT_S = 0.3
LONGEST_PAUSE_S = 0.2
LEAST_CHUNK_BYTES = 4 * MIB
UNSEEN_BYTES = 5_000_000
SMALL_LIMIT_BYTES = 150_000_000


def by_process(times: Times) -> dict[str, tuple[float, float]]:
    """Give the start and the end of each process."""
    spans: dict[str, tuple[float, float]] = {}
    for (process, _), (_, start, end) in times.items():
        first, last = spans.get(process, (start / 1e9, end / 1e9))
        spans[process] = (min(first, start / 1e9), max(last, end / 1e9))
    return spans


def sampled(samples: list[Sample], level: Callable[[Sample], int]) -> Levels:
    return np.array([level(sample) for sample in samples], dtype=np.float64)


def distance(ours: Result, name: str, times: Levels, theirs: list[Levels], later_s: float) -> Levels:
    """How far our levels are from what lies between the oracle's, at the best shift in time."""
    timeline, most = ours.timeline, SHIFT_S + later_s
    shifted = [
        np.interp(times + shift, timeline["time_s"], timeline[name].astype(np.float64))
        for shift in np.linspace(-most, most, 61)
    ]
    lowest, highest = np.min(shifted, axis=0), np.max(shifted, axis=0)
    return np.maximum(np.maximum(lowest - np.max(theirs, axis=0), np.min(theirs, axis=0) - highest), 0.0)


def assert_within(off: Levels, most: Levels, times: Levels, what: str) -> None:
    worst = int(np.argmax(off - most))
    megabytes, allowed = off[worst] / 1e6, most[worst] / 1e6
    assert megabytes <= allowed, (
        f"{what} differs by {megabytes:.1f} MB at {times[worst]:.1f} s; {allowed:.1f} MB are allowed"
    )


def compare(case: Case) -> None:
    """Compare with the oracle; where they part, with what the oracle says of cases that are nearly the same.

    Where those part among themselves, ours has to lie between them: no process takes less than the least time
    or longer than the longest, by more than it may anyway, and no level is below the lowest or above the
    highest. Levels are compared until the first operation that takes the oracle's own answers apart.
    """
    theirs, ours = case.run_oracle(), case.run_ours()
    try:
        compare_with(case, [theirs], ours)
    except AssertionError:
        around = [theirs, *(each.run_oracle() for each in case.nearby())]
        compare_with(case, around, ours)


def compare_with(case: Case, around: list[OracleResult], ours: Result) -> None:
    scenario = case.scenario
    spans = [by_process(oracle_times(each)) for each in around]
    for process, (start, end) in by_process(our_times(ours)).items():
        most = most_apart_s(process, scenario, around, ours)
        durations = [of[process][1] - of[process][0] for of in spans]
        assert min(durations) - most <= end - start <= max(durations) + most, (
            f"{process} takes {end - start:.3f} s; in the oracle: "
            f"{', '.join(f'{each:.3f} s' for each in durations)}"
        )
    later_s = dirtied_twice_s(scenario, around, ours) if case.may_come_later else 0
    compare_levels(scenario, around, ours, later_s, until=part_at_s(around))


def part_at_s(results: list[OracleResult]) -> float:
    """When the first operation begins that takes the results apart."""
    every = [oracle_times(each) for each in results]
    ends = {key: [times[key][2] / 1e9 for times in every] for key in every[0]}
    apart = [key for key in ends if max(ends[key]) - min(ends[key]) > LONGEST_PAUSE_S]
    return min((times[key][1] / 1e9 for times in every for key in apart), default=math.inf)


def most_apart_s(process: str, scenario: Scenario, around: list[OracleResult], ours: Result) -> float:
    """How much longer or shorter a process may take."""
    start, end = by_process(oracle_times(around[0]))[process]
    most = max(0.02 * (end - start), LONGEST_PAUSE_S) + dirtied_twice_s(scenario, around, ours)
    most += min(found_apart_s(process, scenario, theirs, ours) for theirs in around)
    programs = {process.name: process.ops for process in scenario.processes}
    if any(op.kind in ("fsync", "truncate") or op.truncates for op in programs[process]):
        most += longest_visit_s(scenario, around[0])
    return most


def dirtied_twice_s(scenario: Scenario, around: list[OracleResult], ours: Result) -> float:
    """How long the disk takes for what one of the two dirtied more: who was first is chance."""
    dirtied = [sum(wb.dirtied for wb in kernel(theirs).hosts[HOST].wbs.values()) * PAGE for theirs in around]
    more = min(abs(int(ours.timeline["dirtied_bytes"][-1]) - each) for each in dirtied)
    writes = sum(op.kind == "write" for process in scenario.processes for op in process.ops)
    most = writes * (highest_limit(around[0]) / 8 + LEAST_CHUNK_BYTES)
    assert more <= most, f"{more / 1e6:.1f} MB were dirtied more; {most / 1e6:.1f} MB are allowed"
    return more / min(disk.write_bytes_per_s for disk in scenario.hosts[HOST].disks.values())


def found_apart_s(process: str, scenario: Scenario, theirs: OracleResult, ours: Result) -> float:
    """How long a disk takes for what a process finds dirty more than in the other, beginning to write."""
    samples = kernel(theirs).samples[HOST]
    times = [sample.time_s for sample in samples]
    dirty = sampled(samples, lambda sample: sample.dirty + sample.writeback - sample.rewritten)
    our_times_s, our_dirty = ours.timeline["time_s"], ours.timeline["dirty_bytes"].astype(np.float64)
    begun = our_times(ours)
    apart = [
        abs(
            float(np.interp(start / 1e9, times, dirty))
            - float(np.interp(begun[key][1] / 1e9, our_times_s, our_dirty))
        )
        for key, (kind, start, _) in oracle_times(theirs).items()
        if key[0] == process and kind == "write"
    ]
    disks = scenario.hosts[HOST].disks.values()
    return max(apart, default=0.0) / min(disk.write_bytes_per_s for disk in disks)


def longest_visit_s(scenario: Scenario, theirs: OracleResult) -> float:
    """How long a disk takes for a chunk: what a flusher writes of a file before it goes to the next one."""
    most, first = highest_limit(theirs) / 8, Options().bandwidth_bytes_per_s
    rates = [disk.write_bytes_per_s for disk in scenario.hosts[HOST].disks.values()]
    return max((min(max(rate, first) / 2, most) + LEAST_CHUNK_BYTES) / rate for rate in rates)


def highest_limit(theirs: OracleResult) -> int:
    return max(sample.limit for sample in kernel(theirs).samples[HOST])


def kernel(theirs: OracleResult) -> Kernel:
    assert isinstance(theirs.policy, Kernel)
    return theirs.policy


def compare_levels(
    scenario: Scenario, around: list[OracleResult], ours: Result, later_s: float, until: float
) -> None:
    host, end_s = scenario.hosts[HOST], min(until, ours.timeline["time_s"][-1])
    samples = [sample for sample in kernel(around[0]).samples[HOST] if 0 < sample.time_s <= end_s]
    if not samples:
        return
    times = np.array([sample.time_s for sample in samples])

    def each(level: Callable[[Sample], int]) -> list[Levels]:
        """The level in each of the oracle's answers, at the times of the first."""
        every = [kernel(theirs).samples[HOST] for theirs in around]
        at = [np.array([sample.time_s for sample in samples]) for samples in every]
        return [np.interp(times, at, sampled(samples, level)) for at, samples in zip(at, every, strict=True)]

    limit = sampled(samples, lambda sample: sample.limit)
    background = sampled(samples, lambda sample: sample.background)
    dirty = each(lambda sample: sample.dirty + sample.writeback - sample.rewritten)
    cached = each(lambda sample: sample.cached)
    anonymous = each(lambda sample: sample.anonymous)

    our_dirty = np.interp(times, ours.timeline["time_s"], ours.timeline["dirty_bytes"].astype(np.float64))
    below = np.maximum(dirty[0], our_dirty) < background + UNSEEN_BYTES
    most = np.where(limit < SMALL_LIMIT_BYTES, limit / 8, 0.05 * limit)
    most = np.where(below, np.maximum(most, limit / 8 + LEAST_CHUNK_BYTES), most)
    assert_within(distance(ours, "dirty_bytes", times, dirty, later_s), most, times, "dirty")

    off = distance(ours, "cached_bytes", times, cached, later_s)
    most = np.full_like(off, 0.02 * host.memory_bytes)
    full = cached[0] + anonymous[0] > 0.9 * host.memory_bytes
    most[full] += Watermarks.of(host.memory_bytes, host.vm).high * 4096
    assert_within(off, most, times, "cached")

    off = distance(ours, "anonymous_bytes", times, anonymous, later_s)
    assert_within(off, np.full_like(off, 0.02 * host.memory_bytes), times, "anonymous")
