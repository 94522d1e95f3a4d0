"""How much a calibration writes: to the disk, and to files that are gone before they are written back.

The disk is not known before it is measured, so the expectation is given for some. The most is that of a disk
that takes no time at all. Left out: the own writes of a file system, such as a journal.
"""

import math
from dataclasses import dataclass
from typing import Final

from pagecast import procfs
from pagecast.calibration.plan import LOOKS, MIB, MOST_LOST, STEADY_S, Plan

__all__ = [
    "USUAL_DISKS",
    "Disk",
    "expected_bytes",
    "in_memory_bytes",
    "most_bytes",
    "written_so_far_bytes",
]

FILLED_BYTES_PER_S: Final = 1e9
"""New pages are written at about this rate while memory is filled; the disk takes what it can meanwhile."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk to reckon with: its rate of writing, and what each call takes beside its bytes."""

    bytes_per_s: float
    call_s: float
    durable_s: float
    """The same of a call that is durable when it returns."""


USUAL_DISKS: Final = {
    "a disk of 500 MB/s": Disk(500e6, 100e-6, 1e-3),
    "one of 2 GB/s": Disk(2e9, 50e-6, 300e-6),
}
"""A SATA SSD and a virtual disk of a cloud, so that a reader can tell which is more like his own."""

_NO_TIME: Final = Disk(math.inf, 0.0, 0.0)
_BESIDE: Final = (4096, MIB)
"""Calls of the streams of writes that are at random places, and beside a reader."""


def expected_bytes(plan: Plan, disk: Disk) -> tuple[int, int]:
    """Give the bytes written to such a disk without a limiter, with the fewest and with the most rounds."""
    return _to_disk(plan, disk, plan.least_rounds), _to_disk(plan, disk, plan.most_rounds)


def most_bytes(plan: Plan) -> int:
    """Give the most that is written to any disk; one with a limiter is watched in each round."""
    watched = 2 * plan.device_bytes - plan.stream_bytes
    return _to_disk(plan, _NO_TIME, plan.most_rounds) + plan.most_rounds * watched


def in_memory_bytes(plan: Plan) -> int:
    """Give the most that goes to files which are gone before they are written back."""
    copies = 2 * plan.copy_bytes * (len(plan.copy_calls) + 1 + sum(plan.threads[1:]))
    mapped = 3 * plan.copy_bytes * len(plan.map_calls)
    beside_write_back = 2 * plan.drain_bytes
    again = MOST_LOST * 3 * plan.copy_bytes * max(plan.threads)
    return plan.most_rounds * (copies + mapped + beside_write_back) + again


def written_so_far_bytes() -> int | None:
    """Give the bytes that this process wrote to disks (proc(5), `/proc/PID/io`); None if unreadable."""
    counts = procfs.counts(procfs.lines(procfs.PROC / "self/io"))
    if "write_bytes" not in counts:
        return None
    return counts["write_bytes"] - counts.get("cancelled_write_bytes", 0)


def _to_disk(plan: Plan, disk: Disk, rounds: int) -> int:
    calls = [(call, disk.call_s) for call in (*plan.device_calls, *_BESIDE)]
    calls += [(call, disk.durable_s) for call in plan.durable_calls]
    alone = sum(_stream(plan, disk, call, call_s) for call, call_s in calls)
    rate = disk.bytes_per_s
    together = sum(_most(plan.stream_s, rate, count * plan.stream_bytes) for count in plan.streams[1:])
    each = alone + together + 2 * plan.drain_bytes + 2 * MIB
    prepared = _most(plan.prepare_s, rate, plan.file_bytes) + plan.drain_bytes
    looks = LOOKS * _most(STEADY_S, rate, plan.device_bytes)
    held = plan.long_streams * _most(plan.long_s, rate, plan.long_bytes)
    filled = plan.fills * _most(plan.fill_bytes / FILLED_BYTES_PER_S, rate, plan.fill_bytes)
    watched = _most(plan.bucket_s, rate, plan.bucket_bytes)
    return int(prepared + looks + held + filled + watched + rounds * each)


def _stream(plan: Plan, disk: Disk, call: int, call_s: float) -> float:
    """Give the bytes that one stream with such calls moves before its time or its bytes are over."""
    one_s = call_s + call / disk.bytes_per_s
    return _most(plan.stream_s, call / one_s if one_s else math.inf, plan.stream_bytes)


def _most(lasts_s: float, bytes_per_s: float, size: float) -> float:
    return min(size, lasts_s * bytes_per_s) if lasts_s else 0.0
