"""The keys of a machine file for its disk: rates that hold for long, latencies, what is faster at first."""

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from pagecast.calibration.costs import CallCosts
from pagecast.calibration.fits import Bucket, Estimate, estimate, held_rate
from pagecast.calibration.measure import BLOCK_BYTES, DIRECTIONS, Cell
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import Rounds, is_known, rates_of
from pagecast.calibration.values.value import Value, measured, show_call, show_rate, show_size, show_time

__all__ = ["disk_values", "held_rates"]

SEEK_S: Final = 2e-3
"""What a random request takes longer than a sequential one where a head has to move, and nowhere else."""
CONCURRENCY_MATTERS: Final = 0.05
HELD_PART: Final = 0.9
"""Long writes that hold less than this part of the rate of write-back of little show what that does not."""


def disk_values(rounds: Rounds) -> Iterator[Value]:
    """Give the keys of `[disk]` that were measured.

    Parameters
    ----------
    rounds : Rounds

    Yields
    ------
    Value
        In the order of the file.
    """
    reads = rounds.fitted("device read")
    rates = [math.nan if fit is None else 1 / fit.bytes_s["device read"] for fit in reads]
    yield from _rate(rounds, "read", rates, _read_how(rounds))
    yield from _rate(rounds, "write", *_write_rates(rounds))
    if not rounds.all.is_limited:
        yield from _concurrent(rounds, estimate(rates))
    yield from _latency(rounds, reads)
    yield from _write_latency(rounds)
    yield from _flush(rounds)
    yield _sharing(rounds)
    yield from _beginning(rounds)


def _rate(rounds: Rounds, kind: str, rates: Sequence[float], how: str) -> Iterator[Value]:
    """Give the rate that holds for long: below a limiter, where one was met, or else these rates."""
    bucket = rounds.all.watched.get(kind)
    if bucket is not None:
        level = f"measured: after a burst of {bucket.burst_bytes / 1e9:.3g} GB at "
        level += show_rate(bucket.burst_rate_bytes_per_s)
        yield Value(f"disk.{kind}", f'"{show_rate(bucket.rate_bytes_per_s)}"', level)
        return
    if is_known(going_on := rates_of(rounds.of(Cell(f"steady {kind}", MIB)))):
        rates = going_on
        how = f"a direct {kind}, calls of 1 MiB, without its beginning: a limiter lets that pass faster"
    yield from measured(f"disk.{kind}", rates, show_rate, how, "B/s")


def _read_how(rounds: Rounds) -> str:
    direct, through = "past the page cache (O_DIRECT)", "O_DIRECT is refused here: through the page cache"
    sizes = rounds.calls("device read")
    span = f"calls of {show_call(sizes[0])} to {show_call(sizes[-1])}"
    past = direct if rounds.all.is_direct else through
    return f"one stream, {past}, {span}, without the cost of each call"


def _write_rates(rounds: Rounds) -> tuple[list[float], str]:
    """Give the rates of writing that hold for long, and where they come from."""
    long = rounds.all
    streams = f"{len(long.long_writes)} direct writes of up to {show_size(long.plan.long_bytes)}"
    if long.write_cache:
        rates = [bucket.rate_bytes_per_s for bucket in long.write_cache]
        return rates, f"{streams}, after what their beginning is faster"
    drains, held = rates_of(rounds.of(Cell("drain"))), held_rates(rounds)
    drained = f"write-back of {show_call(long.drain_bytes)} of new pages, their journal not counted"
    if is_known(held) and is_known(drains):
        most, least = estimate(drains).value, estimate(held).value
        if least < HELD_PART * most:
            return held, f"the second half of {streams}; {drained} goes at {show_rate(most)}"
    return drains, drained


def held_rates(rounds: Rounds) -> list[float]:
    """Give the rate of each long write after its first half."""
    return [held_rate(marks) for marks in rounds.all.long_writes]


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
        how = "random reads of 4 KiB, one at a time, without their bytes"
        yield from measured("disk.latency", randoms, show_time, how, "s")


def _write_latency(rounds: Rounds) -> Iterator[Value]:
    """Take the time of each call of a direct writer beside its bytes."""
    if not rounds.all.is_direct:
        return
    fits = rounds.fitted("device write")
    sizes = rounds.calls("device write")
    calls = [math.nan if fit is None else fit.call_s for fit in fits]
    how = f"each call of a sequential direct writer, calls of {show_call(sizes[0])} to {show_call(sizes[-1])}"
    yield from measured("disk.write_latency", calls, show_time, how, "s")


def _flush(rounds: Rounds) -> Iterator[Value]:
    """Take an fdatasync without its bytes: blocks that are written over leave the journal nothing to do."""
    pairs = zip(rounds.of(Cell("fdatasync", BLOCK_BYTES)), rounds.of(Cell("drain")), strict=False)
    flushes = [took - BLOCK_BYTES * byte_s for took, byte_s in pairs]
    how = "fdatasync of a block of 4 KiB written over, without its bytes"
    yield from measured("disk.flush", flushes, show_time, how, "s")


def _sharing(rounds: Rounds) -> Value:
    """Choose the sharing nearest to the rates of a reader and a writer at once."""
    one = "steady" if rounds.all.is_limited else "device"
    alone, both = (
        [_typical(rounds, Cell(f"{which} {kind}", MIB)) for kind in DIRECTIONS] for which in (one, "both")
    )
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


def _beginning(rounds: Rounds) -> Iterator[Value]:
    """Give the cause of a faster beginning of streams: a write cache, or a limiter's burst."""
    watched, is_limited = rounds.all.watched, rounds.all.is_limited
    writes = watched.get("write")
    if writes is not None and "read" in watched and watched["read"] is None:
        yield _write_cache([writes])
    elif rounds.all.write_cache and not is_limited:
        yield _write_cache(rounds.all.write_cache)
    elif (bucket := writes or watched.get("read")) is not None:
        how = f"measured: the rate fell after {bucket.dropped_s:.0f} s; the model lets the burst pass at once"
        yield Value("disk.burst", f'"{show_time(bucket.burst_bytes / bucket.rate_bytes_per_s)}"', how)
    else:
        yield from _ahead(rounds)


def _write_cache(found: Sequence[Bucket]) -> Value:
    """Derive the write cache from the beginning of long writes."""
    sizes = sorted(bucket.burst_bytes for bucket in found)
    rates = sorted(bucket.burst_rate_bytes_per_s for bucket in found)
    text = f'{{ size = "{show_size(median(sizes))}", rate = "{show_rate(median(rates))}" }}'
    held, fast = map(show_size, (sizes[0], sizes[-1])), map(show_rate, (rates[0], rates[-1]))
    how = f"measured: {' to '.join(held)} at {' to '.join(fast)}, "
    many = f"{len(found)} direct writes" if len(found) > 1 else "a direct write"
    return Value("disk.write_cache", text, f"{how}{many} after idle time; reads are not faster at first")


def _ahead(rounds: Rounds) -> Iterator[Value]:
    """Give the burst of a limiter that was met on the way, as the time that it takes at its rate."""
    ahead = {kind: rounds.of(Cell(f"ahead {kind}", MIB)) for kind in DIRECTIONS}
    known = [kind for kind, found in ahead.items() if is_known(found)]
    if not known:
        return
    kind = max(known, key=lambda kind: estimate(ahead[kind]).value)
    # Noise is ahead of a rate now and then, too.
    if not estimate(ahead[kind]).is_unsure:
        how = f"how far ahead of its rate a direct {kind} after idle time is, on the average"
        yield from measured("disk.burst", ahead[kind], show_time, how, "s")
