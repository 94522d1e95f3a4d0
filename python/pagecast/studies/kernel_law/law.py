"""The law against the events of a trace, and the limits against printed ones.

The functions are those that the model `kernel` calls (`pagecast._core`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast import _core
from pagecast.studies.tables import Record, read, whole

__all__ = ["BANDWIDTH_PAGES_PER_S", "Event", "Threshold", "events", "thresholds"]

BANDWIDTH_PAGES_PER_S: Final = 15_800
"""Bandwidth of the disk of the trace; see README.md."""

HZ: Final = 1000
"""Ticks per second of the kernel of the trace."""

KIB_OF_PAGE: Final = 4

REAL_TOLERANCE: Final = 0.0025
"""How far the law without rounding may be from the printed ratio."""

EVENTS: Final = "test_vectors.csv"
EVENT_COLUMNS: Final = (
    "event",
    "limit_pages",
    "dirty_pages",
    "bdi_dirty_pages",
    "bdi_thresh_pages_derived",
    "dirty_ratelimit_kib_per_s",
    "task_ratelimit_kib_per_s",
    "pid",
    "dirtied_pages",
    "dirtied_pause_pages",
    "pause_ms",
    "period_ms",
    "think_ms",
)
THRESHOLDS: Final = "threshold_samples.csv"
THRESHOLD_COLUMNS: Final = (
    "set",
    "row",
    "dirty_ratio_percent",
    "background_ratio_percent",
    "dirty_thresh_kib",
    "background_thresh_kib",
    "bdi_dirty_thresh_kib",
)

SETS: Final = {"ratio_rounding": False, "ratio_plain": True}
"""The sets that are compared, and whether their percentages are plain."""

MAX_RATIO: Final = 1
"""Percent of the limit that the devices of FUSE may have."""


@dataclass(frozen=True, slots=True)
class Event:
    """One check of a writer: the printed rate of the task and ours, pages per second.

    Ratios are those of that rate to the base rate, `real_ratio` without rounding. `period` and `pause` are
    printed and ours, in ms; `poll` is after how many pages the task is checked next, as the next event of its
    printed it (None if none did) and ours, where it slept.
    """

    number: int
    dirty_pages: int
    printed: int
    ours: int
    printed_ratio: float
    real_ratio: float
    period: tuple[int, int]
    pause: tuple[int, int]
    poll: tuple[int | None, int | None]

    @property
    def is_exact(self) -> bool:
        """The same to the last digit."""
        return self.printed == self.ours

    @property
    def has_poll(self) -> bool:
        """Whether the task slept, and was seen again."""
        return None not in self.poll

    @property
    def real_error(self) -> float:
        """Of the law without rounding, relative."""
        return self.real_ratio / self.printed_ratio - 1


@dataclass(frozen=True, slots=True)
class Threshold:
    """One printed pair of limits, and the least dirtyable memory that gives it, None if nothing does.

    `is_device_full` says that the printed part of a device is 1 % of the limit, as we round it.
    """

    of: str
    row: int
    limit_pages: int
    background_pages: int
    dirtyable_pages: int | None
    is_device_full: bool

    @property
    def is_exact(self) -> bool:
        """Both limits are possible."""
        return self.dirtyable_pages is not None


def events(folder: Path) -> list[Event]:
    """Evaluate the law for every event of the trace.

    Raises
    ------
    StudyError
        The table is not there or cannot be understood.
    """
    records = read(folder, EVENTS, EVENT_COLUMNS)
    values = [
        {column: whole(record, column, f"{EVENTS}, event {record['event']}") for column in EVENT_COLUMNS}
        for record in records
    ]
    polls: dict[int, int] = {}  # by task, from the last event back
    found = []
    for value in reversed(values):
        found.append(_event(value, polls.get(value["pid"])))
        polls[value["pid"]] = value["dirtied_pause_pages"]
    return found[::-1]


def _event(value: dict[str, int], next_poll: int | None) -> Event:
    limit, part = value["limit_pages"], value["bdi_thresh_pages_derived"]
    ratio, real_ratio = _core.position_ratio(
        limit=limit,
        background=limit // 2,
        dirty=value["dirty_pages"],
        device_limit=part,
        device_background=part // 2,
        device_dirty=value["bdi_dirty_pages"],
        bandwidth=BANDWIDTH_PAGES_PER_S,
        floor_in_ratio=True,
    )
    base_rate = value["dirty_ratelimit_kib_per_s"] // KIB_OF_PAGE
    printed = value["task_ratelimit_kib_per_s"] // KIB_OF_PAGE
    ours = _core.task_ratelimit(base_rate, ratio)
    period, slept, poll = _core.writer_pause(
        dirty_ratelimit=base_rate,
        task_ratelimit=ours,
        bandwidth=BANDWIDTH_PAGES_PER_S,
        device_dirty=value["bdi_dirty_pages"],
        hz=HZ,
        dirtied=value["dirtied_pages"],
        think=value["think_ms"],
    )
    # What is not slept is printed as far as it is negative.
    pause = min(period - value["think_ms"], 0) if slept is None else slept
    return Event(
        value["event"],
        value["dirty_pages"],
        printed,
        ours,
        printed / base_rate,
        real_ratio,
        period=(value["period_ms"], period),
        pause=(value["pause_ms"], pause),
        poll=(next_poll, None if slept is None else poll),
    )


def thresholds(folder: Path) -> list[Threshold]:
    """Look for the dirtyable memory that gives each printed pair of limits.

    Raises
    ------
    StudyError
        The table is not there or cannot be understood.
    """
    records = read(folder, THRESHOLDS, THRESHOLD_COLUMNS)
    return [_threshold(record) for record in records if record["set"] in SETS]


def _threshold(record: Record) -> Threshold:
    where = f"{THRESHOLDS}, {record['set']} {record['row']}"
    ratios = {
        "dirty_ratio": whole(record, "dirty_ratio_percent", where),
        "dirty_background_ratio": whole(record, "background_ratio_percent", where),
    }
    limit = whole(record, "dirty_thresh_kib", where) // KIB_OF_PAGE
    background = whole(record, "background_thresh_kib", where) // KIB_OF_PAGE
    about = limit * 100 // ratios["dirty_ratio"]
    # Rounding to 4096ths raises the memory that gives a limit by at most a 409th, of 10 %.
    candidates = range(about, about + about // 400 + 100)
    plain = SETS[record["set"]]
    found = next(
        (
            pages
            for pages in _near(candidates, limit, ratios, plain)
            if _core.dirty_thresholds(pages, plain=plain, **ratios) == (limit, background)
        ),
        None,
    )
    printed = whole(record, "bdi_dirty_thresh_kib", where) // KIB_OF_PAGE
    return Threshold(
        record["set"],
        whole(record, "row", where),
        limit,
        background,
        found,
        is_device_full=printed == _core.device_limit(limit, max_ratio=MAX_RATIO),
    )


def _near(candidates: range, limit: int, ratios: dict[str, int], plain: bool) -> range:
    """Narrow dirtyable memory down to what gives the limit, which grows with it."""
    low, high = candidates.start, candidates.stop
    while low < high:
        middle = (low + high) // 2
        if _core.dirty_thresholds(middle, plain=plain, **ratios)[0] < limit:
            low = middle + 1
        else:
            high = middle
    step = 100 // min(ratios.values()) + 2
    return range(low, low + step)
