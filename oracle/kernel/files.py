"""A file as the cache of one host sees it: an inode.

Source: include/linux/fs.h (dirtied_when, writeback_index), mm/filemap.c.
Leaves out: holes; metadata, which is never dirty.
"""

from bisect import bisect_left, insort

from .lists import Unit
from .wb import Wb


class File:
    def __init__(self, path: str, wb: Wb):
        self.path, self.wb = path, wb
        self.units: dict[int, Unit] = {}  # by index
        # of evicted units: age of the list, was active; with generations: the oldest one, read often, refs
        self.shadows: dict[int, tuple[int, ...]] = {}
        self.dirty_units: list[int] = []  # ascending
        self.in_flight = 0  # units under writeback
        self.leaving: list[Unit] = []  # cut off while under writeback: they leave when they are written
        self.written_ns: dict[int, int] = {}  # by page: when the disk got it last
        # -- the journal's
        self.stamp = -1  # the jiffy of its times
        self.transaction = 0  # in which it changed last
        # -- the flusher's
        self.is_dirty = False  # I_DIRTY: stays until the flusher has seen it
        self.is_listed = False
        self.is_syncing = False
        self.dirtied_when = 0
        self.writeback_index = 0  # where the next cyclic pass starts

    def next_dirty(self, index: int) -> Unit | None:
        """The first dirty unit from an index on."""
        at = bisect_left(self.dirty_units, index)
        return self.units[self.dirty_units[at]] if at < len(self.dirty_units) else None

    def add_dirty(self, unit: Unit) -> None:
        insort(self.dirty_units, unit.index)

    def remove_dirty(self, unit: Unit) -> None:
        del self.dirty_units[bisect_left(self.dirty_units, unit.index)]
