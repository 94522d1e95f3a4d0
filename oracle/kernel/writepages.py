"""Submitting dirty units of a file to its disk: by the flusher, or by a caller of fsync.

Source: mm/page-writeback.c (do_writepages, write_cache_pages), fs/ext4/inode.c (ext4_do_writepages: a cyclic
pass wraps within one call), mm/filemap.c (file_write_and_wait_range), mm/page-writeback.c
(wb_inode_writeback_end: a measurement of the bandwidth follows 200 ms after the last page).
Leaves out: allocation of blocks; units of extents.
"""

from ..engine import Engine, Sleep, Steps, Wait
from .clock import Clock
from .disk import Disk
from .files import File
from .lists import Unit
from .memory import Memory
from .wb import Wb
from .wbt import OTHER, SYNC


class Writepages:
    def __init__(self, engine: Engine, clock: Clock, memory: Memory):
        self.engine, self.clock, self.memory = engine, clock, memory
        self.disks: dict[Wb, Disk] = {}
        self.measuring: set[Wb] = set()

    def written(self, unit: Unit) -> None:
        """The disk has written a unit."""
        wb = unit.file.wb
        self.memory.end_writeback(unit)
        if unit.file.in_flight == 0 and wb not in self.measuring:
            self.measuring.add(wb)
            self.engine.start_at(self.clock.fires_ns(wb.interval), self._measure(wb))

    def _measure(self, wb: Wb) -> Steps:
        self.measuring.remove(wb)
        wb.update()
        yield from ()

    def _submit(self, unit: Unit) -> int:
        """A unit goes to its disk. Returns how many pages that is."""
        self.memory.start_writeback(unit)
        self.disks[unit.file.wb].write(unit)
        return unit.in_flight

    def some(self, file: File, most: int, why: str) -> Steps:
        """Up to `most` pages, from where the last pass stopped, and round once. Returns how many.

        Units that are under writeback already are left for later (WB_SYNC_NONE). Which one is next is known
        when there is room, for whoever else submits the same file has gone on meanwhile.
        """
        wb, count, start = file.wb, 0, file.writeback_index
        wb.start_estimate()
        for first, end in ((start, None), (0, start)):
            index = first
            while count < most and _next(file, index, end):
                yield from self.disks[wb].wait_for_room(why)
                if unit := _next(file, index, end):
                    count += self._submit(unit)
                    file.writeback_index = index = unit.index + 1
        if count < most:
            file.writeback_index = 0
        if wb.is_due():
            wb.update()
        return count

    def all_and_wait(self, file: File) -> Steps:
        """Everything that is dirty now, and wait until the disk has it (WB_SYNC_ALL)."""
        file.wb.start_estimate()
        has_room = False
        for unit in [file.units[index] for index in file.dirty_units]:
            while unit.in_flight > 0 and unit.dirty > 0:
                has_room = False
                yield Wait(unit.cleaned)
            if unit.dirty > 0 and not has_room:
                yield from self.disks[file.wb].wait_for_room(SYNC)
                has_room = True
            if unit.dirty > 0 and unit.in_flight == 0:
                self._submit(unit)
                has_room = False
        if file.wb.is_due():
            file.wb.update()
        cached = [unit for unit in file.units.values() if unit.in_flight > 0]
        for unit in [*cached, *file.leaving]:
            if unit.in_flight > 0:
                yield Wait(unit.cleaned)

    def later(self, file: File) -> Steps:
        """Everything that is dirty, as a process of its own (fadvise)."""
        yield Sleep(self.engine.now_ns)
        yield from self.some(file, 1 << 60, OTHER)


def _next(file: File, index: int, end: int | None) -> Unit | None:
    """The first unit from an index on that is dirty and not under writeback."""
    unit = file.next_dirty(index)
    while unit is not None and unit.in_flight > 0:
        unit = file.next_dirty(unit.index + 1)
    return unit if unit is not None and (end is None or unit.index < end) else None
