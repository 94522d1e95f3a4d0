"""The multi-generational lists of a host: generations by age, tiers by the number of reads.

Source: include/linux/mm_inline.h (lru_gen_folio_seq, folio_lru_refs, lru_tier_from_refs), mm/swap.c
(lru_gen_inc_refs, lru_gen_clear_refs), mm/workingset.c (lru_gen_eviction, lru_gen_refault), mm/vmscan.c
(folio_inc_gen, inc_max_seq, try_to_inc_min_seq, read_ctrl_pos, reset_ctrl_pos, get_tier_idx), of Linux 6.12
and 6.16: Linux 6.14 reworked them.
Leaves out: page tables; anonymous memory; statistics (CONFIG_LRU_GEN_STATS).
"""

from collections.abc import Iterator

from .lists import Unit, UnitList

MIN_GENERATIONS, MAX_GENERATIONS, TIERS = 2, 4, 4
BATCH = 64
MOST_REFS = 3


class Tier:
    """In pages: what came back, and what left or was protected, since the oldest generation is the oldest."""

    def __init__(self) -> None:
        self.refaulted = self.evicted = self.protected = 0
        self.average_refaulted = self.average_total = 0

    @property
    def position(self) -> tuple[int, int]:
        return self.average_refaulted + self.refaulted, self.average_total + self.evicted + self.protected

    def carry_over(self) -> None:
        refaulted, total = self.position
        self.average_refaulted, self.average_total = refaulted // 2, total // 2
        self.refaulted = self.evicted = self.protected = 0


class Generations:
    def __init__(self, is_reworked: bool) -> None:
        self.is_reworked = is_reworked
        self.min_seq, self.max_seq = 0, MIN_GENERATIONS + 1
        self.generations: dict[int, UnitList] = {seq: UnitList() for seq in range(MAX_GENERATIONS)}
        self.sizes = dict.fromkeys(self.generations, 0)  # pages
        self.tiers = [Tier() for _ in range(TIERS)]

    @property
    def pages(self) -> int:
        return sum(self.sizes.values())

    def units(self) -> Iterator[Unit]:
        for generation in self.generations.values():
            yield from generation

    @property
    def oldest(self) -> UnitList:
        return self.generations[self.min_seq]

    # -- where a unit is -----------------------------------------------------------------
    def insert(self, unit: Unit) -> None:
        """Put a unit at the head of the generation for its kind."""
        if unit.is_reclaim and not unit.is_clean:
            seq = self.max_seq - 1
        elif self.is_reworked:
            distance = MAX_GENERATIONS - (1 if unit.was_active else 0)
            seq = max(self.max_seq - distance + 1, self.min_seq)
        elif self.min_seq + MIN_GENERATIONS >= self.max_seq:
            seq = self.min_seq
        else:
            seq = self.min_seq + 1
        self._put(unit, seq)

    def _put(self, unit: Unit, seq: int) -> None:
        unit.seq = seq
        self.generations[seq][unit] = None
        self.sizes[seq] += unit.pages

    def remove(self, unit: Unit) -> None:
        del self.generations[unit.seq][unit]
        self.sizes[unit.seq] -= unit.pages

    def resize(self, unit: Unit, pages: int) -> None:
        self.sizes[unit.seq] += pages - unit.pages
        unit.pages = pages

    def promote(self, unit: Unit, is_reclaim: bool) -> None:
        """From the oldest generation to the next: to its tail if it is protected by the rules before 6.14."""
        self.remove(unit)
        unit.is_referenced, unit.refs = False, 0
        if not self.is_reworked:
            unit.was_active = False
        unit.is_reclaim = unit.is_reclaim or is_reclaim
        self._put(unit, self.min_seq + 1)
        if not is_reclaim and not self.is_reworked:
            self.generations[unit.seq].move_to_end(unit, last=False)

    def deactivate_file(self, unit: Unit) -> None:
        """It could not be dropped."""
        unit.is_referenced = False
        if self.is_reworked:
            unit.refs, unit.was_active = 0, False
            if unit.seq == self.min_seq:
                return
        self.remove(unit)
        self.insert(unit)
        unit.is_reclaim = True

    def rotate(self, unit: Unit) -> None:
        """It has been written: the next to go."""
        self.remove(unit)
        self._put(unit, self.min_seq)
        self.oldest.move_to_end(unit, last=False)

    # -- generations ---------------------------------------------------------------------
    def age(self) -> None:
        self.max_seq += 1
        self.generations[self.max_seq] = UnitList()
        self.sizes[self.max_seq] = 0

    def drop_empty(self) -> bool:
        """Whether the oldest generation is another than before."""
        before = self.min_seq
        while self.min_seq + MIN_GENERATIONS <= self.max_seq and not self.oldest:
            del self.generations[self.min_seq], self.sizes[self.min_seq]
            self.min_seq += 1
        if self.min_seq > before:
            for tier in self.tiers:
                tier.carry_over()
        return self.min_seq > before

    # -- reads ---------------------------------------------------------------------------
    def mark_accessed(self, unit: Unit) -> None:
        if not unit.is_referenced:
            unit.is_referenced = True
            if self.is_reworked:
                unit.refs = 0
        elif not self.is_reworked and not unit.was_active:
            unit.was_active = True
        elif unit.refs < MOST_REFS:
            unit.refs += 1
        else:
            unit.was_active = True

    def refs(self, unit: Unit) -> int:
        if not self.is_reworked:
            return unit.refs + unit.was_active
        return unit.refs + 1 if unit.is_referenced else 0

    def _tier(self, refs: int, was_active: bool) -> int:
        if not self.is_reworked:
            return refs.bit_length()  # order_base_2(refs + 1)
        return TIERS - 1 if was_active else max(refs - 1, 0).bit_length()

    def tier(self, unit: Unit) -> int:
        return self._tier(self.refs(unit), unit.was_active)

    def is_saturated(self, unit: Unit) -> bool:
        return self.refs(unit) == MOST_REFS + 1 and (unit.was_active or not self.is_reworked)

    def last_evicted_tier(self) -> int:
        first, other = (2, 3) if self.is_reworked else (1, 2)
        refaulted, total = self.tiers[0].position
        for number, tier in enumerate(self.tiers[1:]):
            back, left = tier.position
            if back >= BATCH and back * (total + BATCH) * first > (refaulted + 1) * left * other:
                return number
        return TIERS - 1

    # -- eviction and coming back --------------------------------------------------------
    def evict(self, unit: Unit) -> None:
        """Take a unit out and leave its shadow."""
        if not unit.is_referenced:
            unit.refs = 0
            unit.was_active = unit.was_active and self.is_reworked
        refs = self.refs(unit)
        self.tiers[self._tier(refs, unit.was_active)].evicted += unit.pages
        is_kept = unit.was_active if self.is_reworked else refs > 0
        unit.file.shadows[unit.index] = (self.min_seq, is_kept, max(refs - 1, 0))
        self.remove(unit)

    def refault(self, unit: Unit) -> None:
        """A unit is about to be inserted by a read: was it evicted not long ago?"""
        shadow = unit.file.shadows.pop(unit.index, None)
        if shadow is None:
            return
        seq, was_active, refs = shadow[0], bool(shadow[1]), shadow[2]
        if self.is_reworked and abs(self.max_seq - seq) < MAX_GENERATIONS:
            self.tiers[self._tier(refs + 1, was_active)].refaulted += unit.pages
            unit.was_active, unit.refs = was_active, 0 if was_active else refs
        elif not self.is_reworked and seq == self.min_seq:
            refs += was_active
            self.tiers[self._tier(refs, was_active)].refaulted += unit.pages
            if refs >= MOST_REFS:
                unit.was_active, unit.refs = True, MOST_REFS
