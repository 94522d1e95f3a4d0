"""Making room: what leaves the cache when memory runs short.

What it models: below the low watermark kswapd scans the lists, more of them in each pass, until the high one
is reached; who needs memory below the min watermark scans himself. Takes no time.
Source: mm/vmscan.c (balance_pgdat, do_try_to_free_pages, prepare_scan_control, shrink_lruvec,
shrink_inactive_list, shrink_folio_list, shrink_active_list, inactive_is_low).
Leaves out: anonymous memory (there is no swap), slab, the sleeps of reclaim_throttle, mapped pages. A unit
is scanned as a whole; what a pass scans too much of a list the next ones scan less.
"""

import math
from typing import TYPE_CHECKING

from .lists import Lists, Unit

if TYPE_CHECKING:
    from .memory import Memory

PRIORITY = 12
BATCH = 32


def inactive_is_low(inactive: int, active: int) -> bool:
    gigabytes = (inactive + active) >> 18
    ratio = math.isqrt(10 * gigabytes) if gigabytes else 1
    return inactive * ratio < active


class Reclaim:
    def __init__(self, memory: "Memory", lists: Lists):
        self.memory, self.lists = memory, lists
        self.refaults_seen = 0  # activating refaults by the end of the last reclaim
        self.budget = {"inactive": 0, "active": 0}  # pages left to scan
        self.scanned = self.reclaimed = 0  # inactive pages, of this pass

    def background(self) -> None:
        """kswapd, from low to high."""
        priority = PRIORITY
        while priority >= 1 and self.memory.free < self.memory.marks.high:
            self._pass(priority)
            if self.scanned < self.memory.marks.high or not self.reclaimed:
                priority -= 1
        self._end()

    def direct(self, wanted_free: int) -> None:
        """By whoever needs memory: until so much is free."""
        for is_forced in (False, True):
            for priority in range(PRIORITY, -1, -1):
                if self.memory.free < wanted_free:
                    self._pass(priority, is_forced)
        self._end()

    def _end(self) -> None:
        self.refaults_seen = self.lists.activating_refaults

    def _pass(self, priority: int, is_forced: bool = False) -> None:
        lists = self.lists
        self.scanned = self.reclaimed = 0
        self.budget["inactive"] += lists.inactive_pages >> priority
        may_deactivate = (
            is_forced
            or lists.activating_refaults != self.refaults_seen
            or inactive_is_low(lists.inactive_pages, lists.active_pages)
        )
        if may_deactivate:
            self.budget["active"] += lists.active_pages >> priority
        else:
            self.budget["active"] = min(self.budget["active"], 0)
        while max(self.budget.values()) > 0:
            self._shrink_inactive()
            self._shrink_active()

    def _take(self, name: str) -> list[Unit]:
        """The next batch from the tail of a list."""
        units = self.lists.active if name == "active" else self.lists.inactive
        batch: list[Unit] = []
        count = 0
        for unit in units:
            if count >= min(BATCH, self.budget[name]):
                break
            batch.append(unit)
            count += unit.pages
        self.budget[name] = self.budget[name] - count if batch else min(self.budget[name], 0)
        return batch

    def _shrink_active(self) -> None:
        for unit in self._take("active"):
            unit.was_active = True
            self.lists.deactivate(unit)

    def _shrink_inactive(self) -> None:
        batch = self._take("inactive")
        all_dirty = bool(batch)
        self.scanned += sum(unit.pages for unit in batch)
        for unit in batch:
            all_dirty = all_dirty and unit.dirty > 0 and unit.in_flight == 0
            if unit.is_locked:
                self.lists.deactivate(unit)
            elif not unit.is_clean:
                unit.is_reclaim = True
                self.lists.activate(unit)
            else:
                self.reclaimed += unit.pages
                self.memory.drop(unit, is_evicted=True)
        if all_dirty:
            self.memory.flush_all()
