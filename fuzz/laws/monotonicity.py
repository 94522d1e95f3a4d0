"""Laws of one process alone: on a faster disk, or with more memory, nothing ends later."""

import copy
from collections.abc import Iterator

import numpy as np

from fuzz.laws.document import Rate, Size, Table, Time
from fuzz.laws.simulating import Case, Simulator
from fuzz.laws.timing import times, times_apart
from pagecast.result import Result

ROUNDING_NS = 2
"""What an operation may be rounded by: its begin and its end."""
LOOK_NS = 1_000_000
"""Levels are looked at once in so long."""
UNIT_BYTES = 4 * 2**20
"""The least that a disk with a budget writes between two looks at it: then its bytes are whole."""
STEPS = 64
"""In so many steps a level goes from free run to the limit, each of them rounded to a nanosecond."""


def faster_disk(case: Case, simulator: Simulator) -> Iterator[str]:
    """With higher rates nothing ends later."""
    factor = case.chance("rate").uniform(1.05, 4)
    better = with_rates(case.document, factor)
    yield from later(case.document, better, simulator, f"a disk {factor:.2f} times as fast")


def quicker_disk(case: Case, simulator: Simulator) -> Iterator[str]:
    """With lower latencies nothing ends later."""
    factor = case.chance("latency").uniform(0, 0.9)
    better = with_latency(case.document, factor)
    yield from later(case.document, better, simulator, f"{factor:.2f} of the latency")


def later(document: Table, better: Table, simulator: Simulator, what: str) -> Iterator[str]:
    """Say which operation ends later than it did.

    A writer above the background threshold may end a look later: a rate that was chosen holds up to the next.
    """
    before, after = simulator.ask(document), simulator.ask(better)
    if before.result is None or after.result is None:
        return
    ends_now, look_ns = times(after), LOOK_NS if is_above_background(before.result) else 0
    for number, (key, (_, end)) in enumerate(sorted(times(before).items()), start=1):
        if ends_now[key][1] > end + ROUNDING_NS * number + look_ns:
            yield f"{key[0]} {key[1]} ends at {ends_now[key][1]} and not at {end} ns with {what}"
            return


def more_memory_for_a_reader(case: Case, simulator: Simulator) -> Iterator[str]:
    """Nothing ends later with more memory, unless more had to be read from the disk by then.

    That may be: two lists with refaults, or generations, are no pure LRU. Where files barely do not fit,
    other pages are protected than with less memory (`mm/workingset.c`). And what comes from the cache is
    copied while the disk rests, which a read that only misses does beside the disk.
    """
    factor = case.chance("memory").uniform(1.05, 4)
    before = simulator.ask(case.document).result
    after = simulator.ask(with_memory(case.document, factor)).result
    if before is None or after is None:
        return
    read, read_now = (np.cumsum(result.operations["from_device_bytes"]) for result in (before, after))
    ends, ends_now = (np.rint(result.operations["end_s"] * 1e9) for result in (before, after))
    hits, hits_now = (np.cumsum(result.operations["from_cache_bytes"]) for result in (before, after))
    copies_ns = np.maximum(hits_now - hits, 0) / copy_rate(case.document) * 1e9
    is_later = ends_now > ends + ROUNDING_NS * np.arange(1, len(ends) + 1) + copies_ns
    for row in np.flatnonzero(is_later & (read_now <= read))[:1]:
        yield (
            f"reader {row} ends at {ends_now[row]:.0f} and not at {ends[row]:.0f} ns "
            f"with {factor:.2f} times the memory"
        )


def copy_rate(document: Table) -> float:
    """Give the bytes per second that one thread copies out of the cache."""
    memory = document["machine"]["memory"]
    return float(min(memory["read"], memory["cost"].get("copy_read", memory["read"])))


def more_memory_for_a_writer(case: Case, simulator: Simulator) -> Iterator[str]:
    """Memory makes no difference as long as the background threshold is not reached.

    Beyond that more may be slower: write-back begins later then, and leaves more to an fsync.
    """
    factor = case.chance("memory").uniform(1.05, 4)
    before = simulator.ask(case.document)
    after = simulator.ask(with_memory(case.document, factor))
    if before.result is None or after.result is None:
        return
    if is_above_background(before.result):
        return
    rounding_ns = STEPS * len(before.result.operations) + budget_rounding_ns(case.document, before.result)
    if what := times_apart(before, after, lambda _: rounding_ns):
        yield f"{what} with {factor:.2f} times the memory"


def is_above_background(result: Result) -> bool:
    """Tell whether the background threshold was ever reached."""
    timeline = result.timeline
    return bool((timeline["dirty_bytes"] >= timeline["background_threshold_bytes"]).any())


def budget_rounding_ns(document: Table, result: Result) -> int:
    """Give the time of a byte for each unit that a disk with a budget has written."""
    [disk] = document["machine"]["disk"].values()
    if "burst" not in disk:
        return 0
    return int(result.operations["bytes"].sum()) // UNIT_BYTES * 10**9 // disk["write"]


def with_memory(document: Table, factor: float) -> Table:
    """Multiply the memory."""
    result = copy.deepcopy(document)
    memory = result["machine"]["memory"]
    memory["size"] = Size(memory["size"] * factor)
    return result


def with_rates(document: Table, factor: float) -> Table:
    """Multiply the rates of the disk."""
    result = copy.deepcopy(document)
    [disk] = result["machine"]["disk"].values()
    for key in ("read", "write"):
        disk[key] = Rate(disk[key] * factor)
    for key in ("read_at", "write_at"):
        if key in disk:
            disk[key] = {streams: Rate(rate * factor) for streams, rate in disk[key].items()}
    if "write_cache" in disk:
        disk["write_cache"]["rate"] = Rate(disk["write_cache"]["rate"] * factor)
    return result


def with_latency(document: Table, factor: float) -> Table:
    """Multiply the time that the disk takes for a request beside its bytes."""
    result = copy.deepcopy(document)
    [disk] = result["machine"]["disk"].values()
    for key in ("latency", "seek", "flush"):
        if key in disk:
            disk[key] = Time(disk[key] * factor)
    return result
