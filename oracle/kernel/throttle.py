"""How writers are slowed down: the position ratio, the pause, the next check.

Source: mm/page-writeback.c (pos_ratio_polynom, wb_position_ratio, wb_max_pause, wb_min_pause,
balance_dirty_pages, domain_dirty_freerun, wb_dirty_exceeded, balance_dirty_pages_ratelimited_flags),
in its integers. A ratio of 1 is 1024; rates are pages/s, pauses jiffies.
Leaves out: cgroups, pages leaked by tasks that ended, signals.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..engine import Steps
from .clock import Clock, log2, power_of_2_from
from .limits import HardLimit, Limits
from .wb import Wb

POLL_PAGES = 32
EXCEEDED_POLL_PAGES = 8


def cubic(setpoint: int, dirty: int, hard: int) -> int:
    """1 + ((setpoint - dirty) / (hard - setpoint))^3, from 0 to 2."""
    distance, span = (setpoint - dirty) << 10, (hard - setpoint) | 1
    x = distance // span if distance >= 0 else -(-distance // span)
    return min(max(((x * x >> 10) * x >> 10) + 1024, 0), 2048)


def position_ratio(limits: Limits, hard: int, dirty: int, part: int, wb_dirty: int, bandwidth: int) -> int:
    """How much faster than the base rate a writer may be; `part` is the disk's part of the limit."""
    if dirty >= hard:
        return 0
    setpoint = (limits.freerun + hard) // 2
    ratio = cubic(setpoint, dirty, hard)
    part = min(part, limits.limit)
    x = (part << 16) // (limits.limit | 1)
    wb_setpoint = setpoint * x >> 16
    span = (limits.limit - part + 8 * bandwidth) * x >> 16
    end = wb_setpoint + span
    if wb_dirty < end - span // 4:
        ratio = ratio * (end - wb_dirty) // ((end - wb_setpoint) | 1)
    else:
        ratio //= 4
    half = part // 2
    if wb_dirty < half:
        ratio = ratio * half // wb_dirty if wb_dirty > half // 8 else ratio * 8
    return ratio


def strict_ratio(limits: Limits, hard: int, dirty: int, own: Limits, wb_dirty: int) -> int:
    """The same on a strict disk with these limits of its own."""
    if dirty >= hard or wb_dirty >= own.limit or own.freerun in (0, own.limit):
        return 0
    ratio = cubic((limits.freerun + hard) // 2, dirty, hard)
    return min(ratio, cubic(own.freerun, wb_dirty, own.limit))


def max_pause(wb_dirty: int, bandwidth: int, hz: int) -> int:
    return min(wb_dirty // (1 + bandwidth // power_of_2_from(1 + hz // 8)) + 1, max(hz // 5, 1))


def min_pause(longest: int, task_rate: int, rate: int, bandwidth: int, hz: int) -> tuple[int, int]:
    """The shortest pause worth sleeping, and after how many pages to check again."""
    second = power_of_2_from(hz)
    target = max(1, hz // 100)
    if log2(bandwidth) > log2(rate):
        target += (log2(bandwidth) - log2(rate)) * (10 * hz) // 1024
    target = min(target, 1 + longest // 2)
    pages = rate * target // second
    if pages < POLL_PAGES:
        target = longest
        pages = rate * target // second
        if pages > POLL_PAGES:
            pages = POLL_PAGES
            target = hz * POLL_PAGES // rate
    if hz * pages // (task_rate + 1) > longest:
        target = longest
        pages = task_rate * target // second
    return (1 + target // 2 if pages >= POLL_PAGES else target), pages


@dataclass
class Dirtier:
    """What the kernel keeps of a task that writes."""

    cpu: int
    dirtied: int = 0  # pages since the last check
    check_after: int = POLL_PAGES  # nr_dirtied_pause
    paused_when: int | None = None  # end of the last pause


@dataclass(frozen=True)
class Levels:
    """What of a host's memory is dirty, and its limits at this moment."""

    limits: Limits
    dirty: int
    in_flight: int


class Throttle:
    """The checks of one host. `wake(wb)` starts the background writeback of a disk, if none is going on.

    `sleeps(wb)` is told before a writer to a disk pauses.
    """

    def __init__(
        self,
        clock: Clock,
        hard: HardLimit,
        levels: Callable[[], Levels],
        wake: Callable[[Wb], None],
        sleeps: Callable[[Wb], None],
        cpus: int,
    ):
        self.clock, self.hard, self.levels, self.wake, self.sleeps = clock, hard, levels, wake, sleeps
        self.by_cpu = [0] * cpus  # pages dirtied since somebody was checked there
        self.ratelimit_pages = max(16, hard.value // (32 * cpus))

    def account(self, task: Dirtier, pages: int) -> None:
        task.dirtied += pages
        self.by_cpu[task.cpu] += pages

    def check(self, task: Dirtier, wb: Wb) -> Steps:
        """Before each unit that is written: is a check due?"""
        due = min(task.check_after, EXCEEDED_POLL_PAGES) if wb.is_exceeded else task.check_after
        if task.dirtied >= due:
            self.by_cpu[task.cpu] = 0
        elif self.by_cpu[task.cpu] >= self.ratelimit_pages:
            self.by_cpu[task.cpu] = due = 0
        if task.dirtied >= due:
            yield from self._balance(task, wb, task.dirtied)

    def _balance(self, task: Dirtier, wb: Wb, dirtied: int) -> Steps:
        clock, hz = self.clock, self.clock.hz
        while True:
            now = clock.now()
            levels = self.levels()
            limits, dirty = levels.limits, levels.dirty + levels.in_flight
            own = wb.limits_of(limits, dirty)
            domain, level = (own, wb.dirty) if wb.is_strict else (limits, dirty)
            if levels.dirty > limits.background or level > domain.freerun:
                self.wake(wb)
            if level <= domain.freerun:
                task.paused_when, task.dirtied = now, 0
                task.check_after = domain.poll_interval(level)
                return
            wb.is_exceeded = wb.dirty > own.limit and (wb.is_strict or dirty > limits.limit)
            hard = self.hard.at(limits.limit)
            if wb.is_strict:
                position = strict_ratio(limits, hard, dirty, own, wb.dirty)
            else:
                position = position_ratio(limits, hard, dirty, own.limit, wb.dirty, wb.average)
            if wb.is_due():
                wb.update_throttled(limits, self.hard, dirty, position)
            task_rate = wb.ratelimit * position >> 10
            longest = max_pause(wb.dirty, wb.average, hz)
            shortest, check_after = min_pause(longest, task_rate, wb.ratelimit, wb.average, hz)
            if task_rate == 0:
                pause = longest
            else:
                period = hz * dirtied // task_rate
                pause = period - (0 if task.paused_when is None else now - task.paused_when)
                if pause < shortest:
                    if pause < -hz:
                        task.paused_when, task.dirtied = now, 0
                    elif period:
                        # If there was no pause the kernel counts from 0: long ago, by its jiffies.
                        last = now - 2 * hz if task.paused_when is None else task.paused_when
                        task.paused_when = last + period
                        task.dirtied = 0
                    elif task.check_after <= dirtied:
                        task.check_after += dirtied
                    return
                if pause > longest:
                    now += min(pause - longest, longest)
                    pause = longest
            self.sleeps(wb)
            yield clock.sleep(pause)
            task.paused_when, task.dirtied = now + pause, 0
            task.check_after = check_after
            if task_rate:
                return
