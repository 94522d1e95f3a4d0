"""The two lists of a host, and what an access does to a unit of the cache.

Source: mm/swap.c (folio_mark_accessed, lru_deactivate_file, folio_rotate_reclaimable), mm/workingset.c.
Leaves out: the batches per processor in which the kernel puts pages on lists. The multi-generational lists
are in `generations`.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..engine import Signal

if TYPE_CHECKING:
    from .files import File


@dataclass(eq=False)
class Unit:
    """A stretch of a file that is cached from its beginning: as one large folio."""

    file: "File"
    index: int
    pages: int = 0
    dirty_from: int = 0  # the pages [dirty_from, dirty_to) are dirty
    dirty_to: int = 0
    in_flight: int = 0  # pages under writeback,
    flight_from: int = 0  # from this one on
    is_active: bool = False
    is_referenced: bool = False
    was_active: bool = False  # PG_workingset; with generations: read several times
    refs: int = 0  # LRU_REFS_MASK: with generations, how often it was read besides
    seq: int = 0  # its generation
    is_reclaim: bool = False  # to be evicted as soon as it is written
    is_marker: bool = False  # PG_readahead
    is_cached: bool = True
    users: int = 0  # tasks that copy into it just now
    arrived: Signal | None = None  # happens when it has been read
    cleaned: Signal = field(default_factory=Signal)  # happens when it has been written

    @property
    def dirty(self) -> int:
        return self.dirty_to - self.dirty_from

    @property
    def rewritten(self) -> int:
        """Pages that are dirty again while they are under writeback."""
        return min(self.dirty, self.in_flight)

    @property
    def is_clean(self) -> bool:
        return self.dirty == 0 and self.in_flight == 0

    @property
    def is_locked(self) -> bool:
        return self.users > 0 or self.arrived is not None


class UnitList(OrderedDict[Unit, None]):
    """From the tail (first to go) to the head."""


class Lists:
    def __init__(self) -> None:
        self.inactive, self.active = UnitList(), UnitList()
        self.inactive_pages = self.active_pages = 0
        self.age = 0  # pages evicted and pages activated, ever
        self.activating_refaults = 0  # units, ever

    @property
    def pages(self) -> int:
        return self.inactive_pages + self.active_pages

    def units(self) -> Iterator[Unit]:
        yield from self.inactive
        yield from self.active

    def insert(self, unit: Unit) -> None:
        """Put a unit at the head of the list that it says."""
        if unit.is_active:
            self.active[unit] = None
            self.active_pages += unit.pages
        else:
            self.inactive[unit] = None
            self.inactive_pages += unit.pages

    def remove(self, unit: Unit) -> None:
        if unit.is_active:
            del self.active[unit]
            self.active_pages -= unit.pages
        else:
            del self.inactive[unit]
            self.inactive_pages -= unit.pages

    def resize(self, unit: Unit, pages: int) -> None:
        if unit.is_active:
            self.active_pages += pages - unit.pages
        else:
            self.inactive_pages += pages - unit.pages
        unit.pages = pages

    # -- moves ---------------------------------------------------------------------------
    def mark_accessed(self, unit: Unit) -> None:
        if not unit.is_referenced:
            unit.is_referenced = True
        elif not unit.is_active:
            self.activate(unit)
            unit.is_referenced = False

    def activate(self, unit: Unit) -> None:
        self.remove(unit)
        unit.is_active = True
        self.insert(unit)
        self.age += unit.pages

    def deactivate(self, unit: Unit) -> None:
        """To the inactive head; keeps what is known of accesses."""
        self.remove(unit)
        unit.is_active = False
        self.insert(unit)

    def deactivate_file(self, unit: Unit) -> None:
        """It could not be dropped: it goes as soon as it is written."""
        unit.is_reclaim = True
        self.deactivate(unit)

    def rotate(self, unit: Unit) -> None:
        """To the inactive tail: the next to go."""
        self.deactivate(unit)
        self.inactive.move_to_end(unit, last=False)

    # -- refaults ------------------------------------------------------------------------
    def evict(self, unit: Unit) -> None:
        """Take a unit out and leave its shadow."""
        unit.file.shadows[unit.index] = (self.age, unit.was_active)
        self.remove(unit)
        self.age += unit.pages

    def refault(self, unit: Unit) -> None:
        """A unit is about to be inserted by a read: was it evicted not long ago?"""
        shadow = unit.file.shadows.pop(unit.index, None)
        if shadow is not None and self.age - shadow[0] <= self.active_pages:
            unit.is_active, unit.was_active = True, bool(shadow[1])
            self.activating_refaults += 1
            self.age += unit.pages
