"""Making room with generations: what leaves the cache when memory runs short.

Source: mm/vmscan.c (balance_pgdat, set_initial_priority, try_to_shrink_lruvec, get_nr_to_scan,
should_run_aging, evict_folios, scan_folios, sort_folio), of Linux 6.12 and 6.16.
Leaves out: what `reclaim` leaves out; ageing put off at the lowest priority. A unit is scanned as a whole.
"""

from typing import TYPE_CHECKING

from .generations import BATCH, MIN_GENERATIONS, Generations

if TYPE_CHECKING:
    from .memory import Memory

FIRST_PRIORITY = 6
MOST_SCANNED = 64 * BATCH


class GenerationReclaim:
    def __init__(self, memory: "Memory", lists: Generations):
        self.memory, self.lists = memory, lists
        self.taken = self.dirty = 0  # pages of this run: isolated or dirty, dirty and not under writeback
        self.scanned = self.reclaimed = 0  # pages, of this pass

    def background(self) -> None:
        """kswapd, from low to high."""
        self.taken = self.dirty = 0
        priority, high = FIRST_PRIORITY, self.memory.marks.high
        while priority >= 1 and self.memory.free < high:
            self._pass(priority, high)
            if self.scanned < high or not self.reclaimed:
                priority -= 1

    def direct(self, wanted_free: int) -> None:
        """By whoever needs memory: until so much is free, or all has been looked at."""
        self.taken = self.dirty = 0
        idle = 0
        while self.memory.free < wanted_free and idle < 4 * MIN_GENERATIONS:
            for priority in range(FIRST_PRIORITY, -1, -1):
                self._pass(priority, wanted_free)
                idle = 0 if self.reclaimed else idle + 1

    def _pass(self, priority: int, wanted_free: int) -> None:
        self.scanned = self.reclaimed = counted = 0
        while self.memory.free < wanted_free:
            if self._should_age():
                self.lists.age()
                break
            most = self.lists.pages >> priority
            batch = self._evict_batch(wanted_free)
            counted += batch
            if not batch or counted >= most:
                break
        if self.dirty > 0 and self.dirty == self.taken:
            self.memory.flush_all()

    def _should_age(self) -> bool:
        lists = self.lists
        following = lists.max_seq - lists.min_seq
        if following != MIN_GENERATIONS or lists.is_reworked:
            return following <= MIN_GENERATIONS
        young, old = lists.sizes[lists.max_seq], lists.sizes[lists.min_seq]
        return young * MIN_GENERATIONS > lists.pages or old * (MIN_GENERATIONS + 2) < lists.pages

    def _evict_batch(self, wanted_free: int) -> int:
        """Scan the tail of the oldest generation. Returns what counts as scanned."""
        lists, scanned, isolated = self.lists, 0, 0
        last_evicted = lists.last_evicted_tier()
        is_evictable = lists.max_seq - lists.min_seq >= MIN_GENERATIONS
        while is_evictable and lists.oldest and scanned < MOST_SCANNED and isolated < BATCH:
            if self.memory.free >= wanted_free:
                break
            unit = next(iter(lists.oldest))
            scanned += unit.pages
            tier, is_saturated = lists.tier(unit), lists.is_saturated(unit)
            if tier > last_evicted or is_saturated:
                if not (is_saturated and lists.is_reworked):
                    lists.tiers[tier].protected += unit.pages
                lists.promote(unit, is_reclaim=False)
            elif not unit.is_clean or unit.is_locked:
                self.taken += unit.dirty
                self.dirty += unit.dirty if unit.in_flight == 0 else 0
                lists.promote(unit, is_reclaim=True)
            else:
                isolated += unit.pages
                self.memory.drop(unit, is_evicted=True)
        self.taken += isolated
        self.scanned += isolated
        self.reclaimed += isolated
        counted = scanned if isolated or scanned >= MOST_SCANNED else 0
        return counted + lists.drop_empty()
