"""How much may be dirty. All in pages.

Source: mm/page-writeback.c (global_dirtyable_memory, domain_dirty_limits, dirty_freerun_ceiling,
dirty_poll_interval, update_dirty_limit).
Leaves out: real-time tasks (a quarter more), memory cgroups, limits per node.
"""

from dataclasses import dataclass

from .clock import log2
from .settings import PAGE, Vm, pages


@dataclass(frozen=True)
class Limits:
    limit: int  # the kernel's thresh
    background: int

    @property
    def freerun(self) -> int:
        """Up to here nobody is delayed."""
        return (self.limit + self.background) // 2

    def poll_interval(self, dirty: int) -> int:
        """After how many pages a task that runs free is checked again."""
        return 1 << (log2(self.limit - dirty) // 2) if self.limit > dirty else 1


def dirtyable(free: int, reserve: int, file: int) -> int:
    """Free memory beyond the reserve, and what the file lists hold."""
    return free - min(free, reserve) + file + 1


def limits(vm: Vm, available: int) -> Limits:
    limit = _part(vm.dirty_bytes, vm.dirty_ratio, available)
    background = _part(vm.dirty_background_bytes, vm.dirty_background_ratio, available)
    return Limits(limit, limit // 2 if background >= limit else background)


def _part(size: int, percent: int, available: int) -> int:
    return pages(size) if size else percent * PAGE // 100 * available // PAGE


class HardLimit:
    """Where writers stop: jumps up with the limit, follows it down slowly."""

    def __init__(self, first: int, interval: int):
        self.value, self.stamp, self.interval = first, 0, interval

    def at(self, limit: int) -> int:
        return max(limit, self.value)

    def update(self, now: int, limit: int, dirty: int) -> None:
        if now < self.stamp + self.interval:
            return
        self.stamp = now
        target = max(limit, dirty)
        if self.value < limit:
            self.value = limit
        elif self.value > target:
            self.value -= (self.value - target) // 32
