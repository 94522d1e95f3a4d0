"""Streams of seconds and minutes: whether a device goes on as it has begun.

A write cache takes the beginning of writes faster, and is empty again after idle time. A limiter with a
bucket lets the beginning of reads pass faster as well. The rate of a stream says nothing of the device
while its thread waits for a processor.
"""

from typing import TYPE_CHECKING, Final

from pagecast.calibration.fits import Bucket, Marks, find_beginning, find_bucket, find_write_cache
from pagecast.calibration.plan import MIB

if TYPE_CHECKING:
    from pagecast.calibration.measure import Round
    from pagecast.progress import Progress

__all__ = ["LONG_CALL_BYTES", "look_for_write_cache", "watch"]

LONG_CALL_BYTES: Final = 8 * MIB
"""Several requests, so that the device has as many at once as write-back gives it."""
LONG_MARK_S: Final = 0.01
WATCH_MARK_S: Final = 0.5
LEAST_MOVING: Final = 0.1
"""Part of its time; what is left after waiting for a processor is no less, whatever two clocks say."""
IDLE_S: Final = 2.0
MOST_IDLE_S: Final = 10.0
"""How long a write cache gets to be emptied."""
IDLE_OF_EMPTYING: Final = 2.0
"""How much longer than it should take."""


def look_for_write_cache(one: "Round", say: "Progress") -> None:
    """Write for long, several times after idle time; if the beginnings are faster, read for long as well."""
    into, plan = one.into, one.plan
    if not into.is_direct:
        return
    say(0.0, "looking for a write cache")
    idle_s = IDLE_S
    for _ in range(plan.long_streams):
        one.rest(idle_s)
        marks, bucket = _look(one, "write")
        if marks is None:
            into.long_writes.clear()
            return
        into.long_writes.append(marks)
        emptying_s = bucket.burst_bytes / bucket.rate_bytes_per_s if bucket is not None else 0.0
        idle_s = min(max(IDLE_S, IDLE_OF_EMPTYING * emptying_s), MOST_IDLE_S)
    into.write_cache = find_write_cache(into.long_writes)
    if not into.write_cache:
        return
    one.rest(idle_s)
    _, bucket = _look(one, "read")
    if bucket is not None:
        into.watched |= {"read": bucket, "write": into.write_cache[-1]}
        into.write_cache = []


def _look(one: "Round", what: str) -> tuple[Marks | None, Bucket | None]:
    plan = one.plan
    marks, waited_s = _stream(
        one, what, LONG_CALL_BYTES, most_bytes=plan.long_bytes, most_s=plan.long_s, mark_s=LONG_MARK_S
    )
    return _believed(one, what, marks, find_beginning(marks), waited_s)


def watch(one: "Round", say: "Progress") -> None:
    """Watch for minutes whether a stream becomes slower."""
    plan = one.plan
    for what in ("read", "write"):
        say(0.95, f"looking for a limiter ({what})")
        marks, waited_s = _stream(
            one, what, MIB, most_bytes=plan.bucket_bytes, most_s=plan.bucket_s, mark_s=WATCH_MARK_S
        )
        known, bucket = _believed(one, what, marks, find_bucket(marks), waited_s)
        if known is not None:
            one.into.watched[what] = bucket


def _stream(
    one: "Round", what: str, call: int, *, most_bytes: int, most_s: float, mark_s: float
) -> tuple[Marks, float]:
    """Give how far a stream was, and for how long something waited for a processor meanwhile.

    Its own waiting is left out, as if it had been even.
    """
    length = one.into.long_file_bytes
    before_s = one.waits_s()
    [(_, _, took_s, own_s, marks)] = one.probe.streams(
        [(what == "write", 0, length, min(call, length), None)],
        direct=one.into.is_direct,
        most_bytes=most_bytes,
        most_s=most_s,
        mark_s=mark_s,
    )
    moving = max(1 - own_s / max(took_s, 1e-9), LEAST_MOVING)
    return [(at_s * moving, moved) for at_s, moved in marks], one.waits_s() - before_s


def _believed(
    one: "Round", what: str, marks: Marks, bucket: Bucket | None, waited_s: float
) -> tuple[Marks | None, Bucket | None]:
    """Give the levels of a stream, but none if waiting for a processor may have slowed it down."""
    if bucket is None or waited_s < _lost_s(bucket, marks):
        return marks, bucket
    if what not in one.into.unsure:
        one.into.unsure.append(what)
    return None, None


def _lost_s(bucket: Bucket, marks: Marks) -> float:
    """Say how much longer it took than without the fall of the rate."""
    slow_s = marks[-1][0] - bucket.dropped_s
    return slow_s * (1 - bucket.rate_bytes_per_s / bucket.burst_rate_bytes_per_s)
