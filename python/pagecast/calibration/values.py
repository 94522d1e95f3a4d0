"""The values of a machine file, from facts and measurements; each with where it comes from.

Costs are fitted in every round, and the median of the rounds is taken: so the interval of a cost that comes
from several cells is that of the cost, not of the cells.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from pagecast.calibration.cawl import cawl_values
from pagecast.calibration.facts import Device, Facts
from pagecast.calibration.fits import (
    Bucket,
    CallCosts,
    Estimate,
    estimate,
    held_rate,
)
from pagecast.calibration.folios import fit_folios, has_large_folios, maps_folios
from pagecast.calibration.long_streams import LONG_CALL_BYTES
from pagecast.calibration.measure import SMALL_BYTES, TOUCHED_BYTES, Cell, Measurements
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import (
    Rounds,
    Value,
    beyond_noise,
    is_known,
    measured,
    median,
    rates_of,
    show_call,
    show_kib,
    show_part,
    show_rate,
    show_size,
    show_time,
)

__all__ = ["Value", "facts_of", "figures_of", "values_of"]

PAGE_BYTES: Final = 4096
HUGE_PAGE_BYTES: Final = 2 * MIB
AROUND_BYTES: Final = 64 * 1024
"""What a fault maps of folios that are no longer (`fault_around_bytes`)."""
BLOCK_BYTES: Final = 4096
SECTOR_BYTES: Final = 512
"""The logical block of a disk that does not say otherwise."""
SEEK_S: Final = 2e-3
"""What a random request takes longer than a sequential one where a head has to move, and nowhere else."""
LEAST_FLUSHING_FACTOR: Final = 0.01
WIDEST_FACTOR: Final = 0.5
"""An interval that is wider than this part of the value says nothing that a forecast should use."""
LARGE_CALL_BYTES: Final = 64 * 1024
"""From here on a page is as cheap as folios make it; smaller calls get folios of their size, and pay more."""
CONCURRENCY_MATTERS: Final = 0.05
UNBOUNDED: Final = 100_000
"""Requests that nothing bounds; more than ever wait."""
HELD_PART: Final = 0.9
"""Long writes that hold less than this part of the rate of write-back of little show what that does not."""
EXPIRED_S: Final = 30.0
"""After so long a host that runs Linux writes to a disk what its guests have written (`dirty_expire_centisecs`)."""
OLD_PART: Final = 0.5
"""Blocks cost nothing any more that cost less than this part of what young ones do."""
DEAR_FACTOR: Final = 2
"""Memory that a host had taken back takes more than so much longer,"""
LEAST_DEAR: Final = 0.25
"""and is at least this part of what was free for long: programs have used the rest."""
LARGEST_SECTORS_KB: Final = 1 << 20


def facts_of(facts: Facts) -> Iterator[Value]:
    """Give the keys that the machine itself tells.

    Parameters
    ----------
    facts : Facts

    Yields
    ------
    Value
        In the order of the file.
    """
    yield Value("cores", str(facts.cores), "read: processors that this process may use")
    yield Value("kernel.version", f'"{facts.kernel_version}"', f"read: {facts.kernel_release}")
    yield Value("kernel.lru", f'"{facts.lru}"', "read: /sys/kernel/mm/lru_gen/enabled")
    yield Value("kernel.hz", str(facts.hz), "read: resolution of CLOCK_MONOTONIC_COARSE")
    for name, number in facts.vm.items():
        if name.endswith("_bytes"):
            if number:
                yield Value(f"vm.{name}", f'"{number} B"', f"read: sysctl vm.{name}")
        elif not (name.endswith("_ratio") and facts.vm.get(name.replace("_ratio", "_bytes"))):
            yield Value(f"vm.{name}", str(number), f"read: sysctl vm.{name}")
    memory = facts.memory
    total = f"of {show_kib(memory.total_bytes)} (MemTotal)"
    yield Value("memory.size", f'"{show_kib(memory.usable_bytes)}"', f"read: free or holding files, {total}")
    if memory.reserve_bytes is not None:
        how = "read: what lacks to the dirty limit of the same moment (nr_dirty_threshold)"
        yield Value("memory.reserve", f'"{show_kib(memory.reserve_bytes)}"', how)
    if len(facts.nodes) > 1:
        sizes = ", ".join(map(show_kib, facts.nodes))
        yield Value("memory.nodes", str(len(facts.nodes)), f"read: nodes of {sizes}")
    yield Value(
        "disk.size", f'"{show_kib(facts.mount.size_bytes)}"', "read: file system, without what root keeps"
    )
    if facts.device is not None:
        yield from _device_facts(facts.device)


def _device_facts(device: Device) -> Iterator[Value]:
    if device.is_throttled:
        yield Value("disk.nr_requests", str(UNBOUNDED), "read: a cgroup limits writing, before the queue")
    elif device.nr_requests is None:
        yield Value("disk.nr_requests", str(UNBOUNDED), "read: it has no queue of requests")
    else:
        yield Value("disk.nr_requests", str(device.nr_requests), "read: queue/nr_requests")
    # BFQ turns it off, which `wbt_lat_usec` tells since Linux 6.2.
    if device.wbt_lat_usec and device.scheduler != "bfq":
        yield Value("disk.wbt_lat_usec", str(device.wbt_lat_usec), "read: queue/wbt_lat_usec")
        if device.queue_depth:
            yield Value("disk.queue_depth", str(device.queue_depth), "read: device/queue_depth")
    if device.max_sectors_kb:
        largest = min(max(device.max_sectors_kb, 4), LARGEST_SECTORS_KB)
        yield Value("disk.max_sectors_kb", str(largest), "read: queue/max_sectors_kb")
    if device.read_ahead_kb is not None:
        yield Value(
            "disk.read_ahead_kb",
            str(min(device.read_ahead_kb, LARGEST_SECTORS_KB)),
            "read: queue/read_ahead_kb",
        )
    if device.logical_block_bytes not in (None, SECTOR_BYTES):
        size = f'"{device.logical_block_bytes} B"'
        yield Value("disk.logical_block_size", size, "read: queue/logical_block_size")
    if device.min_ratio:
        yield Value("disk.min_ratio", f"{device.min_ratio:g}", "read: bdi/min_ratio")
    if device.max_ratio is not None and device.max_ratio != 100:
        yield Value("disk.max_ratio", f"{device.max_ratio:g}", "read: bdi/max_ratio")
    if device.strict_limit:
        yield Value("disk.strict_limit", "true", "read: bdi/strict_limit")
    if device.stable_writes:
        yield Value("disk.stable_writes", "true", "read: queue/stable_writes")


def values_of(measurements: Measurements, facts: Facts) -> Iterator[Value]:
    """Give the keys that were measured.

    Parameters
    ----------
    measurements : Measurements
    facts : Facts
        Of the same machine.

    Yields
    ------
    Value
        In the order of the file; what could not be measured is left out.
    """
    rounds = Rounds(measurements)
    yield from _memory(rounds, facts)
    yield from _costs(rounds, facts)
    yield from _disk(rounds)
    yield from _file_system(rounds)
    yield from cawl_values(rounds, facts)


def _memory(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    plan = rounds.all.plan
    call = min(MIB, plan.copy_bytes)
    most = plan.threads[-1]
    for key, what in (("read", "read"), ("write", "again")):
        which = "re-reading" if what == "read" else "rewriting"
        at = {threads: rates_of(rounds.of(Cell(what, call, threads))) for threads in plan.threads}
        who = f"{most} threads together" if most > 1 else "one thread"
        yield from measured(
            f"memory.{key}",
            at[most],
            show_rate,
            f"{which} cached pages, calls of {show_call(call)}, {who}",
            "B/s",
        )
        if most > 1:
            points = {n: estimate(found).value for n, found in at.items() if is_known(found)}
            table = ", ".join(f'"{n}" = "{show_rate(value)}"' for n, value in points.items())
            yield Value(f"memory.{key}_at", f"{{ {table} }}", "measured: the same by so many threads")
    yield Value("memory.sharing", '"time"', "not measured: a processor copies one way at a time")


def _inserting(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    """Give what new pages cost, and what folios do, where they are as large as calls and are seen to cost."""
    if has_large_folios(facts.kernel_version):
        fits = [fit_folios(beyond) for beyond in rounds.beyond_by_call("new", "again")]
        folios = [fit.folio_s for fit in fits]
        if is_known(folios) and (found := estimate(folios)).value > 0 and not found.is_unsure:
            sizes = rounds.calls("new")
            span = f"calls of {show_call(sizes[0])} to {show_call(sizes[-1])}"
            how = f"new pages beyond rewriting them, {span}; each"
            pages = [fit.page_s for fit in fits]
            yield from measured("memory.cost.page_insert", pages, show_time, f"{how} page", "s")
            yield from measured(
                "memory.cost.folio_insert", folios, show_time, f"{how} folio beside its pages", "s"
            )
            return
    inserts = rounds.beyond("new", "again", PAGE_BYTES, least_call=LARGE_CALL_BYTES)
    how = f"new pages beyond rewriting them, calls from {show_call(LARGE_CALL_BYTES)}"
    yield from measured("memory.cost.page_insert", inserts, show_time, how, "s")


def _costs(rounds: Rounds, facts: Facts) -> Iterator[Value]:
    fits = rounds.fitted("read", "again")
    of_calls = [math.nan if fit is None else fit.call_s for fit in fits]
    sizes = rounds.calls("read")
    span = f"calls of {show_call(sizes[0])} to {show_call(sizes[-1])}" if sizes else ""
    yield from measured(
        "memory.cost.call", of_calls, show_time, f"re-reading and rewriting cached pages, {span}", "s"
    )
    yield from _inserting(rounds, facts)
    yield Value("memory.cost.page_lookup", '"0 ns"', "part of the copy rates, which grow with bytes too")
    faults = rounds.beyond("fresh", "read", PAGE_BYTES)
    yield from measured(
        "memory.cost.fault", faults, show_time, "reading into new memory beyond used, 4 KiB pages", "s"
    )
    if facts.huge_pages == "always":
        huge = rounds.beyond("fresh huge", "read huge", HUGE_PAGE_BYTES)
        yield from measured(
            "memory.cost.fault_huge", huge, show_time, "the same with huge pages, which are on (always)", "s"
        )
    yield from _mappings(rounds, facts, fits)
    yield from _reported(rounds)
    removes = [_mean_of(rounds, "remove", at) for at in range(rounds.all.rounds)]
    yield from measured(
        "memory.cost.page_remove", removes, show_time, "cutting a cached file to nothing", "s"
    )
    for key, kind in (("copy_read", "read"), ("copy_write", "again")):
        rates = [math.nan if fit is None else 1 / fit.bytes_s[kind] for fit in fits]
        yield from measured(f"memory.cost.{key}", rates, show_rate, f"bytes of the same, {span}", "B/s")
    yield from _flushing(rounds)


def _mappings(rounds: Rounds, facts: Facts, fits: Sequence[CallCosts | None]) -> Iterator[Value]:
    """Give what a mapping costs, faults to read, and faults to write, and what of them is by folios and by pages."""
    calls = rounds.calls("mapped page")
    if not calls:
        return

    def beyond_calls(way: str) -> list[dict[int, float]]:
        # A mapping has no calls.
        return [
            {call: beyond + (math.nan if fit is None else fit.call_s / MIB) for call, beyond in found.items()}
            for found, fit in zip(rounds.beyond_by_call(f"mapped {way}", f"called {way}"), fits, strict=False)
        ]

    reads = beyond_calls("read")
    arounds = [AROUND_BYTES * found.get(AROUND_BYTES, math.nan) for found in reads]
    pages = rounds.of(Cell("mapped page", AROUND_BYTES))
    alone = [
        page - around - (math.nan if fit is None else PAGE_BYTES * fit.bytes_s["read"])
        for page, around, fit in zip(pages, arounds, fits, strict=False)
    ]
    how = "a cached page of 4 KiB mapped, read and unmapped, without its fault and its bytes"
    yield from measured("memory.cost.mmap", alone, show_time, how, "s")
    how = f"reading a cached file of calls of {show_call(AROUND_BYTES)} through a mapping beyond reading it"
    yield from measured("memory.cost.fault_around", arounds, show_time, f"{how}; each of these", "s")
    if has_large_folios(facts.kernel_version):
        further = AROUND_BYTES / PAGE_BYTES - 1
        folios = [
            (AROUND_BYTES * of.get(PAGE_BYTES, math.nan) - around) / further
            for of, around in zip(reads, arounds, strict=True)
        ]
        how = f"the same of one of calls of {show_call(PAGE_BYTES)} beyond it; each folio of a fault but one"
        yield from measured("memory.cost.folio_map", folios, show_time, how, "s")
    elif is_known(arounds):
        yield Value("memory.cost.folio_map", '"0 ns"', "part of fault_around, as each folio is a page")
    span = f"calls of {show_call(calls[0])} to {show_call(calls[-1])}"
    how = f"writing over cached files of {span} through a mapping beyond writing over them"
    writes = beyond_calls("write")
    if maps_folios(facts.kernel_version):
        found = [fit_folios(of) for of in writes]
        page_s, folio_s = [fit.page_s for fit in found], [fit.folio_s for fit in found]
        yield from measured("memory.cost.page_mkwrite", page_s, show_time, f"{how}; each page", "s")
        yield from measured(
            "memory.cost.fault_mkwrite", folio_s, show_time, f"{how}; each folio beside its pages", "s"
        )
        return
    known = [sorted(each for each in of.values() if not math.isnan(each)) for of in writes]
    page_s = [PAGE_BYTES * median(each) if each else math.nan for each in known]
    yield from measured("memory.cost.page_mkwrite", page_s, show_time, f"{how}; each page", "s")
    if is_known(page_s):
        yield Value("memory.cost.fault_mkwrite", '"0 ns"', "part of page_mkwrite, as each page has a fault")


def _reported(rounds: Rounds) -> Iterator[Value]:
    """Take what pieces of new memory cost more that are far dearer than just after: their host had them."""
    first, again = rounds.all.touched
    if not again:
        return
    usual = median(sorted(again))
    dear = [took for took in first if took > DEAR_FACTOR * usual]
    if len(dear) < LEAST_DEAR * len(first):
        return
    page = PAGE_BYTES / TOUCHED_BYTES
    low, middle, high = (page * (took - usual) for took in (min(dear), median(sorted(dear)), max(dear)))
    how = f"measured: {show_time(low)} to {show_time(high)} in {len(dear)} of {len(first)} pieces of "
    how += f"{show_call(TOUCHED_BYTES)}; new memory beyond new memory just after"
    yield Value("memory.cost.page_reported", f'"{show_time(middle)}"', how)


def _mean_of(rounds: Rounds, what: str, at: int) -> float:
    """Give seconds per page, the median over call sizes, of a round."""
    of = [rounds.of(Cell(what, call)) for call in rounds.calls(what)]
    known = sorted(PAGE_BYTES * each[at] for each in of if at < len(each) and not math.isnan(each[at]))
    return median(known) if known else math.nan


def _flushing(rounds: Rounds) -> Iterator[Value]:
    found = rounds.of(Cell("beside write-back"))
    if not is_known(found):
        return
    share = estimate(found)
    if share.low is None or share.high is None or share.high >= 1:
        return  # it may be 1, which is what it is without the key
    if share.high - share.low > WIDEST_FACTOR * share.value:
        return  # then it stands among the figures alone
    how = "speed of writing new pages while others of the file are written back, as part of that alone"
    text = show_part(max(share.value, LEAST_FLUSHING_FACTOR))
    yield Value("memory.cost.flushing_factor", text, how, share, "", show_part)


def _disk(rounds: Rounds) -> Iterator[Value]:
    past = (
        "past the page cache (O_DIRECT)"
        if rounds.all.is_direct
        else "O_DIRECT is refused here: through the page cache"
    )
    fits = rounds.fitted("device read")
    sizes = rounds.calls("device read")
    span = f"calls of {show_call(sizes[0])} to {show_call(sizes[-1])}"
    reads = [math.nan if fit is None else 1 / fit.bytes_s["device read"] for fit in fits]
    buckets = rounds.all.watched
    read_how = f"one stream, {past}, {span}, without what each call costs"
    for key, (found, how) in (("read", (reads, read_how)), ("write", _write_rates(rounds))):
        bucket = buckets.get(key)
        if bucket is not None:
            level = f"measured: after a burst of {bucket.burst_bytes / 1e9:.3g} GB at "
            level += show_rate(bucket.burst_rate_bytes_per_s)
            yield Value(f"disk.{key}", f'"{show_rate(bucket.rate_bytes_per_s)}"', level)
        elif is_known(going_on := rates_of(rounds.of(Cell(f"steady {key}", MIB)))):
            steady = f"a direct {key}, calls of 1 MiB, without its beginning: a limiter lets that pass faster"
            yield from measured(f"disk.{key}", going_on, show_rate, steady, "B/s")
        else:
            yield from measured(f"disk.{key}", found, show_rate, how, "B/s")
    if not rounds.all.is_limited:
        yield from _concurrent(rounds, estimate(reads))
    yield from _latency(rounds, fits)
    yield from _write_latency(rounds)
    yield from _flush(rounds)
    yield _sharing(rounds)
    bucket = buckets.get("write")
    if bucket is not None and "read" in buckets and buckets["read"] is None:
        yield _write_cache([bucket])
    elif rounds.all.write_cache and not rounds.all.is_limited:
        yield _write_cache(rounds.all.write_cache)
    else:
        yield from _burst(rounds, buckets)


def _write_rates(rounds: Rounds) -> tuple[list[float], str]:
    """Give the rates of writing that hold for long, and where they come from."""
    long = rounds.all
    streams = f"{len(long.long_writes)} direct writes of up to {show_size(long.plan.long_bytes)}"
    if long.write_cache:
        rates = [bucket.rate_bytes_per_s for bucket in long.write_cache]
        return rates, f"{streams}, after what their beginning is faster"
    drains, held = rates_of(rounds.of(Cell("drain"))), _held(rounds)
    drained = f"write-back of {show_call(long.drain_bytes)} of new pages, their journal not counted"
    if is_known(held) and is_known(drains):
        most, least = estimate(drains).value, estimate(held).value
        if least < HELD_PART * most:
            return held, f"the second half of {streams}; {drained} goes at {show_rate(most)}"
    return drains, drained


def _held(rounds: Rounds) -> list[float]:
    return [held_rate(marks) for marks in rounds.all.long_writes]


def _write_cache(found: Sequence[Bucket]) -> Value:
    """Give what the beginning of long writes says of the cache that takes it."""
    sizes = sorted(bucket.burst_bytes for bucket in found)
    rates = sorted(bucket.burst_rate_bytes_per_s for bucket in found)
    text = f'{{ size = "{show_size(median(sizes))}", rate = "{show_rate(median(rates))}" }}'
    held, fast = map(show_size, (sizes[0], sizes[-1])), map(show_rate, (rates[0], rates[-1]))
    how = f"measured: {' to '.join(held)} at {' to '.join(fast)}, "
    many = f"{len(found)} direct writes" if len(found) > 1 else "a direct write"
    return Value("disk.write_cache", text, f"{how}{many} after idle time; reads are not faster at first")


def _concurrent(rounds: Rounds, one: Estimate) -> Iterator[Value]:
    """Give the total rate of several readers, where it differs beyond noise."""
    points = {1: one}
    for streams in rounds.all.plan.streams[1:]:
        found = rates_of(rounds.of(Cell("device read", MIB, streams)))
        if is_known(found):
            points[streams] = estimate(found)

    def differs(other: Estimate) -> bool:
        apart = (
            other.low is not None
            and one.low is not None
            and one.high is not None
            and (other.low > one.high or (other.high is not None and other.high < one.low))
        )
        return apart and abs(other.value / one.value - 1) > CONCURRENCY_MATTERS

    if any(differs(other) for streams, other in points.items() if streams > 1):
        table = ", ".join(f'"{streams}" = "{show_rate(each.value)}"' for streams, each in points.items())
        yield Value("disk.read_at", f"{{ {table} }}", "measured: so many streams at once, calls of 1 MiB")


def _latency(rounds: Rounds, fits: Sequence[CallCosts | None]) -> Iterator[Value]:
    """Take a random read without its bytes; where a head moves, a sequential one, and the rest is a seek."""
    block = rounds.of(Cell("random read", BLOCK_BYTES))
    randoms, followings = [], []
    for at, fit in enumerate(fits):
        has_all = fit is not None and at < len(block)
        byte_s = fit.bytes_s["device read"] if fit is not None else math.nan
        randoms.append(BLOCK_BYTES * (block[at] - byte_s) if has_all else math.nan)
        followings.append(fit.call_s if fit is not None else math.nan)
    if not is_known(randoms):
        return
    if estimate(randoms).value - estimate(followings).value > SEEK_S:
        yield from measured("disk.latency", followings, show_time, "each call of a sequential reader", "s")
        beyond = [random - following for random, following in zip(randoms, followings, strict=True)]
        how = "random reads of 4 KiB, one at a time, beyond calls of a sequential reader"
        yield from measured("disk.seek", beyond, show_time, how, "s")
    else:
        yield from measured(
            "disk.latency",
            randoms,
            show_time,
            "random reads of 4 KiB, one at a time, without their bytes",
            "s",
        )


def _flush(rounds: Rounds) -> Iterator[Value]:
    """Take an fdatasync without its bytes: blocks that are written over leave the journal nothing to do."""
    pairs = zip(rounds.of(Cell("fdatasync", BLOCK_BYTES)), rounds.of(Cell("drain")), strict=False)
    flushes = [took - BLOCK_BYTES * byte_s for took, byte_s in pairs]
    how = "fdatasync of a block of 4 KiB written over, without its bytes"
    yield from measured("disk.flush", flushes, show_time, how, "s")


def _write_latency(rounds: Rounds) -> Iterator[Value]:
    """Take what each call of a direct writer takes beside its bytes."""
    if not rounds.all.is_direct:
        return
    fits = rounds.fitted("device write")
    sizes = rounds.calls("device write")
    calls = [math.nan if fit is None else fit.call_s for fit in fits]
    how = f"each call of a sequential direct writer, calls of {show_call(sizes[0])} to {show_call(sizes[-1])}"
    yield from measured("disk.write_latency", calls, show_time, how, "s")


def _file_system(rounds: Rounds) -> Iterator[Value]:
    """Give what the file system does of its own: commits of its journal, and freeing of blocks."""
    pairs = zip(*(rounds.of(Cell(what, BLOCK_BYTES)) for what in ("append", "fdatasync")), strict=False)
    how = "fsync of a file that a block of 4 KiB has made longer, beyond fdatasync of one written over"
    yield from beyond_noise("mount.commit", [more - less for more, less in pairs], how)
    size = rounds.all.drain_bytes
    pages = (size - SMALL_BYTES) / PAGE_BYTES
    both = list(zip(rounds.of(Cell("free")), rounds.of(Cell("free small")), strict=False))
    if pages <= 0:
        return
    each = [(large - small) / pages for large, small in both]
    freed = [page_s - _mean_of(rounds, "remove", at) for at, page_s in enumerate(each)]
    first = [small - page_s * SMALL_BYTES / PAGE_BYTES for (_, small), page_s in zip(both, each, strict=True)]
    how = f"cutting files of {show_call(SMALL_BYTES)} and {show_size(size)} that are on the disk to nothing"
    found = tuple(beyond_noise("mount.block_free", freed, f"{how}, beyond taking their pages away; each 4 KiB"))
    yield from found
    if found:
        yield from _old_blocks(rounds, freed, first)
    yield from beyond_noise("mount.file_free", first, f"{how}; what both take")


def _old_blocks(rounds: Rounds, freed: list[float], first: list[float]) -> Iterator[Value]:
    """Say that blocks cost nothing any more once the host of the machine has them on a disk of its own."""
    measured = rounds.all
    pages = measured.drain_bytes / PAGE_BYTES
    removed = median(sorted(_mean_of(rounds, "remove", at) for at in range(measured.rounds)))
    old = max(0.0, (measured.old_cut_s - median(sorted(first))) / pages - removed)
    if measured.put_s < EXPIRED_S or old > OLD_PART * median(sorted(freed)):
        return
    how = f"cited: dirty_expire_centisecs of a host that runs Linux; measured: {show_time(old)} for each 4 KiB"
    yield Value("mount.block_free_within", f'"{EXPIRED_S:g} s"', f"{how} of a file {measured.put_s:.0f} s old")


def _sharing(rounds: Rounds) -> Value:
    """Choose what comes nearest to the rates of a reader and a writer at once."""
    alone = [
        _typical(rounds, Cell(f"{'steady' if rounds.all.is_limited else 'device'} {kind}", MIB))
        for kind in ("read", "write")
    ]
    both = [_typical(rounds, Cell(f"both {kind}", MIB)) for kind in ("read", "write")]
    if any(math.isnan(each) for each in (*alone, *both)):
        return Value("disk.sharing", '"total"', "not measured")
    shares = sum(together / each for together, each in zip(both, alone, strict=True))
    total = sum(both) / max(alone)
    off = {"separate": abs(shares - 2), "total": abs(total - 1), "time": abs(shares - 1)}
    nearest = min(off, key=lambda name: off[name])
    at_once, apart = (" and ".join(map(show_rate, rates)) for rates in (both, alone))
    how = f"measured: {at_once} at once, {apart} alone, calls of 1 MiB"
    return Value("disk.sharing", f'"{nearest}"', how)


def _typical(rounds: Rounds, cell: Cell) -> float:
    found = rates_of(rounds.of(cell))
    return estimate(found).value if is_known(found) else math.nan


def _burst(rounds: Rounds, buckets: dict[str, Bucket | None]) -> Iterator[Value]:
    """Give the burst of the limiter of writes, or else of reads, as the time that it takes at its rate."""
    bucket = buckets.get("write") or buckets.get("read")
    if bucket is None:
        ahead = {kind: rounds.of(Cell(f"ahead {kind}", MIB)) for kind in ("read", "write")}
        if known := [kind for kind, found in ahead.items() if is_known(found)]:
            kind = max(known, key=lambda kind: estimate(ahead[kind]).value)
            how = f"how far ahead of its rate a direct {kind} after idle time is, on the average"
            # Noise is ahead of a rate now and then, too.
            if not estimate(ahead[kind]).is_unsure:
                yield from measured("disk.burst", ahead[kind], show_time, how, "s")
        return
    how = f"measured: the rate fell after {bucket.dropped_s:.0f} s; the model lets the burst pass at once"
    yield Value("disk.burst", f'"{show_time(bucket.burst_bytes / bucket.rate_bytes_per_s)}"', how)


def figures_of(measurements: Measurements) -> Iterator[Value]:
    """Give what was measured and no key stands for.

    Parameters
    ----------
    measurements : Measurements

    Yields
    ------
    Value
        With an empty key; `how` says what it is.
    """
    rounds = Rounds(measurements)
    for what in ("device read", "device write"):
        for streams in measurements.plan.streams:
            for call in rounds.calls(what, streams):
                many = f", {streams} at once" if streams > 1 else ""
                yield from _figure(
                    rounds, Cell(what, call, streams), f"{what}, calls of {show_call(call)}{many}"
                )
    for what in ("random read", "random write"):
        yield from _figure(rounds, Cell(what, BLOCK_BYTES), f"{what}, 4 KiB, one at a time")
    for what in ("both read", "both write"):
        yield from _figure(
            rounds, Cell(what, MIB), f"{what.removeprefix('both ')} beside the other, calls of 1 MiB"
        )
    held = _held(rounds)
    if is_known(held):
        most = show_size(measurements.plan.long_bytes)
        what = f"second half of direct writes of up to {most}, calls of {show_call(LONG_CALL_BYTES)}"
        yield Value("", show_rate(estimate(held).value), what, estimate(held), "B/s", show_rate)
    yield from _figure(
        rounds, Cell("drain"), f"write-back of {show_call(measurements.drain_bytes)} of new pages"
    )
    for what in ("fsync", "O_DSYNC"):
        found = rounds.of(Cell(what, BLOCK_BYTES))
        if is_known(found):
            middle = estimate(found)
            yield Value("", show_time(middle.value), f"{what} of a block of 4 KiB", middle, "s", show_time)
    smallest = min(rounds.calls("new"), default=0)
    pairs = zip(rounds.of(Cell("new", smallest)), rounds.of(Cell("again", smallest)), strict=False)
    small = [PAGE_BYTES * (new - again) for new, again in pairs]
    if is_known(small):
        middle = estimate(small)
        what = f"a new page beyond rewriting it, calls of {show_call(smallest)}"
        yield Value("", show_time(middle.value), what, middle, "s", show_time)
    beside = rounds.of(Cell("beside write-back"))
    if is_known(beside):
        what = "of the speed of writing new pages is left while others of the file are written back"
        yield Value("", show_part(estimate(beside).value), what, estimate(beside), "", show_part)
    call = min(MIB, measurements.plan.copy_bytes)
    for threads in measurements.plan.threads:
        many = f", {threads} threads" if threads > 1 else ""
        yield from _figure(
            rounds, Cell("new", call, threads), f"writing new pages, calls of {show_call(call)}{many}"
        )


def _figure(rounds: Rounds, cell: Cell, what: str) -> Iterator[Value]:
    found = rates_of(rounds.of(cell))
    if is_known(found):
        middle = estimate(found)
        yield Value("", show_rate(middle.value), what, middle, "B/s", show_rate)
