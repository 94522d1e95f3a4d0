"""How much is measured: call sizes, threads, rounds and limits of time and bytes."""

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["EFFORTS", "LOOKS", "MIB", "MOST_LOST", "Plan", "plan_for"]

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

LEAST_FILE_BYTES: Final = 4 * MIB
MOST_FILE_BYTES: Final = 4 * GIB
"""A stream that goes further begins again."""
FILES_OF_ROOM: Final = 4
"""What is only as large as there is room for leaves three fourths of it."""
MOST_LOST: Final = 20
"""So many cells are measured again, in all, because their warm file was not warm."""
LOOKS: Final = 3
"""How often a stream is looked at; most of the looks say whether there is a limiter."""
STEADY_S: Final = 1.0
"""So long is a stream watched for a limiter: ten of its slices in the kernel (`block/blk-throttle.c`,
`DFL_THROTL_SLICE_HD`: 100 ms), which lets pass at their beginning what belongs to each."""
FILL_PART: Final = 0.95
"""Of the way to the end of free run: half way between background threshold and limit."""
LEAST_FILL: Final = 1.2
"""Less than this many background thresholds say nothing of what is beyond it."""
DRAINS_OF_BACKGROUND: Final = 4
"""What is dirty at once is kept this far below where the flusher starts by itself."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a calibration. Each round measures every cell once, in an order of its own."""

    effort: str
    least_rounds: int
    most_rounds: int
    most_s: float
    """When no new round is begun, from `least_rounds` on."""
    last_s: float
    """When no new round is begun at all."""
    copy_bytes: int
    """The file of a thread that copies."""
    copy_calls: tuple[int, ...]
    map_calls: tuple[int, ...]
    """With which files are written that are mapped then."""
    touch_bytes: int
    """New memory that is touched, to see whether a host has taken some back."""
    device_bytes: int
    """The file that streams go over."""
    prepare_s: float
    device_calls: tuple[int, ...]
    streams: tuple[int, ...]
    """How many at once."""
    stream_s: float
    drain_bytes: int
    old_s: float
    """How old a file is at least whose blocks are old: a host that runs Linux looks every 5 s for what it was
    told 30 s ago (`dirty_writeback_centisecs`, `dirty_expire_centisecs`)."""
    long_streams: int
    """How often a long stream of writes is looked at for a write cache,"""
    long_bytes: int
    """how far it goes at most,"""
    long_s: float
    """and how long."""
    bucket_s: float
    """How long a stream is watched for a bucket; 0 is not at all."""
    durable_calls: tuple[int, ...]
    """Of direct writes that are durable when they return."""
    fills: int
    """How often memory is filled with dirty pages, past where the flusher begins,"""
    most_fill_bytes: int
    """with how many at most."""
    long_file_bytes: int = 0
    """The file of long streams, if it is larger."""
    fill_bytes: int = 0
    """With how many here; 0 is not at all."""
    threads: tuple[int, ...] = (1,)

    @property
    def file_bytes(self) -> int:
        """The file that is prepared."""
        return max(self.device_bytes, self.long_file_bytes)

    @property
    def room_bytes(self) -> int:
        """The most that is there at once."""
        beside = max(max(self.threads) * self.copy_bytes, 3 * self.drain_bytes, self.fill_bytes)
        return self.file_bytes + self.drain_bytes + beside + MIB

    @property
    def stream_bytes(self) -> int:
        """The most that a stream moves in a cell."""
        return max(self.device_bytes // 4, max(self.device_calls))

    @property
    def bucket_bytes(self) -> int:
        """The most that a stream moves while it is watched for a bucket."""
        return 64 * GIB if self.bucket_s else 0


_QUICK: Final = Plan(
    effort="quick",
    least_rounds=6,
    most_rounds=10,
    most_s=40.0,
    last_s=48.0,
    copy_bytes=64 * MIB,
    copy_calls=(4 * KIB, 16 * KIB, 128 * KIB, MIB, 8 * MIB),
    map_calls=(4 * KIB, 64 * KIB, MIB),
    touch_bytes=2 * GIB,
    device_bytes=512 * MIB,
    prepare_s=4.0,
    device_calls=(4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB),
    streams=(1, 2, 4),
    stream_s=0.1,
    drain_bytes=128 * MIB,
    old_s=40.0,
    long_streams=2,
    long_bytes=3 * GIB,
    long_s=6.0,
    bucket_s=0.0,
    durable_calls=(4 * KIB, 64 * KIB, MIB, 4 * MIB),
    fills=0,
    most_fill_bytes=0,
)

_NORMAL: Final = replace(
    _QUICK,
    effort="normal",
    least_rounds=9,
    most_rounds=15,
    most_s=150.0,
    last_s=240.0,
    copy_calls=(4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB),
    device_bytes=1 * GIB,
    prepare_s=20.0,
    device_calls=(4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB),
    streams=(1, 2, 4, 8),
    stream_s=0.25,
    drain_bytes=256 * MIB,
    long_streams=3,
    long_bytes=8 * GIB,
    long_s=15.0,
    durable_calls=(4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB),
    fills=6,
    most_fill_bytes=16 * GIB,
)

EFFORTS: Final = {
    "quick": _QUICK,
    "normal": _NORMAL,
    "thorough": replace(
        _NORMAL,
        effort="thorough",
        least_rounds=15,
        most_rounds=25,
        most_s=600.0,
        last_s=3600.0,
        device_bytes=4 * GIB,
        prepare_s=120.0,
        streams=(1, 2, 4, 8, 16),
        stream_s=0.5,
        drain_bytes=512 * MIB,
        long_streams=5,
        long_bytes=32 * GIB,
        long_s=60.0,
        bucket_s=300.0,
        fills=9,
        most_fill_bytes=128 * GIB,
    ),
}


def plan_for(
    effort: str,
    *,
    cores: int,
    background_bytes: int | None,
    limit_bytes: int | None = None,
    free_bytes: int | None = None,
) -> Plan:
    """Fit the plan of an effort to a machine.

    Parameters
    ----------
    effort : str
        One of `EFFORTS`.
    cores : int
    background_bytes : int or None
        The dirty memory from which on the flusher works by itself, or a fourth of the limit of the cgroup
        if that is less. Copies stay below, so that they wait for no device.
    limit_bytes : int or None
        The dirty limit; None if it is not known or is not that of this process. Then memory is not filled.
    free_bytes : int or None
        On the disk. Default: as much as one wants.

    Returns
    -------
    Plan
    """
    plan = EFFORTS[effort]
    threads = tuple(sorted({1, *(2**power for power in range(1, 8) if 2**power < cores), cores}))
    most = (background_bytes or 2 * GIB) // DRAINS_OF_BACKGROUND
    room = GIB * MIB if free_bytes is None else free_bytes // FILES_OF_ROOM
    return replace(
        plan,
        threads=threads,
        long_file_bytes=_whole(min(plan.long_bytes, MOST_FILE_BYTES, room)),
        copy_bytes=_whole(min(plan.copy_bytes, most // cores)),
        touch_bytes=_whole(min(plan.touch_bytes, background_bytes or 2 * GIB)),
        drain_bytes=_whole(min(plan.drain_bytes, most)),
        fill_bytes=_fill_bytes(plan, background_bytes, limit_bytes, room),
    )


def _fill_bytes(plan: Plan, background: int | None, limit: int | None, room: int) -> int:
    """Say how much is to be dirty, or 0 if that may not be or says nothing."""
    if background is None or limit is None:
        return 0
    wanted = int(FILL_PART * (background + limit) / 2)
    if wanted < LEAST_FILL * background or wanted > min(plan.most_fill_bytes, room):
        return 0
    return _whole(wanted)


def _whole(size: int) -> int:
    """Round down to a multiple of the largest calls of small files."""
    return max(size // LEAST_FILE_BYTES * LEAST_FILE_BYTES, LEAST_FILE_BYTES)
