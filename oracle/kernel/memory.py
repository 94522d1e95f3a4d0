"""The memory of a host: free, anonymous, cache; and what of the cache is dirty.

Source: mm/page_alloc.c (__alloc_pages_slowpath, calculate_totalreserve_pages), mm/page-writeback.c
(folio_account_dirtied, folio_account_cleaned, __folio_end_writeback, folio_mark_dirty), mm/truncate.c.
Leaves out: zones and nodes (all memory is one), fragmentation.
"""

from collections.abc import Callable

from ..engine import Engine, Signal, Sleep, Steps, Wait, to_ns
from ..policy import ImpossibleError
from .clock import Clock
from .files import File
from .generation_reclaim import GenerationReclaim
from .generations import Generations
from .limits import Limits, dirtyable, limits
from .lists import Lists, Unit
from .reclaim import Reclaim
from .settings import PAGE, Options, Vm, pages
from .throttle import Levels
from .wb import Wb
from .zones import Watermarks


class Memory:
    """`flush_all` asks every flusher of the host to write all that is dirty."""

    def __init__(self, engine: Engine, clock: Clock, size: int, vm: Vm, options: Options):
        self.engine, self.clock, self.vm = engine, clock, vm
        self.total = size // PAGE - pages(options.kernel_bytes)
        asked = None if options.reserve_bytes is None else pages(options.reserve_bytes)
        self.marks = Watermarks.of(size, vm, asked)
        self.reserve = self.marks.high if asked is None else asked
        self.unit_pages = options.unit_bytes // PAGE
        self.anonymous_bytes = 0
        self.dirty = self.in_flight = 0  # NR_FILE_DIRTY, NR_WRITEBACK
        self.rewritten = 0  # what both count
        self.lists: Lists | Generations
        self.reclaim: Reclaim | GenerationReclaim
        if options.lru == "mglru":
            self.lists = Generations(options.lru_is_reworked)
            self.reclaim = GenerationReclaim(self, self.lists)
        else:
            self.lists = Lists()
            self.reclaim = Reclaim(self, self.lists)
        self.flush_all: Callable[[], None] = lambda: None
        self.cleaned = Signal()  # happens whenever a unit has been written

    @property
    def free(self) -> int:
        return self.total - pages(self.anonymous_bytes) - self.lists.pages

    def limits(self) -> Limits:
        return limits(self.vm, dirtyable(self.free, self.reserve, self.lists.pages))

    def levels(self) -> Levels:
        return Levels(self.limits(), self.dirty, self.in_flight)

    # -- taking memory -------------------------------------------------------------------
    def make_room(self, wanted: int) -> Steps:
        """Wait until so many pages can be taken; take them at once after this."""
        while not self.has_room(wanted):
            if self.in_flight == 0 and self.dirty == 0 and not self.has_locked_units():
                raise ImpossibleError("out of memory")
            self.flush_all()
            yield Wait(self.cleaned) if self.in_flight else Sleep(self.engine.now_ns + to_ns(0.1))

    def has_room(self, wanted: int) -> bool:
        if self.free - wanted < self.marks.low:
            self.reclaim.background()
        if self.free - wanted < self.marks.min:
            self.reclaim.direct(self.marks.min + wanted)
        return self.free - wanted >= self.marks.min

    def has_locked_units(self) -> bool:
        return any(unit.is_locked for unit in self.lists.units())

    # -- the cache -----------------------------------------------------------------------
    def add(self, file: File, index: int, pages: int, is_read: bool) -> Unit:
        """Make a unit at the head of a list: the inactive one, if it is no recent refault."""
        unit = Unit(file, index, pages)
        file.units[index] = unit
        if is_read:
            self.lists.refault(unit)
        else:
            file.shadows.pop(index, None)
        self.lists.insert(unit)
        return unit

    def drop(self, unit: Unit, is_evicted: bool = False) -> None:
        """A unit that is not under writeback leaves; what is dirty of it will not be written."""
        self.clean(unit, unit.dirty_to, unit.dirty_to)
        if is_evicted:
            self.lists.evict(unit)
        else:
            self.lists.remove(unit)
        unit.is_cached = False
        del unit.file.units[unit.index]

    def cut_off(self, unit: Unit) -> None:
        """A unit goes with the end of its file; what is under writeback only when it has been written."""
        if unit.in_flight == 0:
            self.drop(unit)
            return
        self.clean(unit, unit.dirty_to, unit.dirty_to)
        unit.is_cached = False
        del unit.file.units[unit.index]

    def cut(self, unit: Unit, size: int) -> None:
        """Only the first `size` pages of a unit stay."""
        if size < unit.pages:
            self.clean(unit, min(unit.dirty_from, size), min(unit.dirty_to, size))
            self.lists.resize(unit, size)

    # -- dirt ----------------------------------------------------------------------------
    def make_dirty(self, unit: Unit, start: int, end: int) -> int:
        """The pages [start, end) have been written to. Returns how many are newly dirty."""
        before, rewritten = unit.dirty, unit.rewritten
        if before == 0:
            unit.file.add_dirty(unit)
            unit.dirty_from, unit.dirty_to = start, end
        else:
            unit.dirty_from, unit.dirty_to = min(unit.dirty_from, start), max(unit.dirty_to, end)
        unit.is_reclaim = False
        new = unit.dirty - before
        self.dirty += new
        self.rewritten += unit.rewritten - rewritten
        unit.file.wb.reclaimable += new
        unit.file.wb.dirtied += new
        return new

    def clean(self, unit: Unit, start: int, end: int) -> None:
        """Only [start, end) is dirty from now on."""
        self.rewritten -= unit.rewritten
        if unit.dirty > 0:
            gone = unit.dirty - (end - start)
            self.dirty -= gone
            unit.file.wb.reclaimable -= gone
            if start == end:
                unit.file.remove_dirty(unit)
        unit.dirty_from, unit.dirty_to = start, end
        self.rewritten += unit.rewritten

    def start_writeback(self, unit: Unit) -> None:
        """All that is dirty of a unit goes to the disk."""
        wb: Wb = unit.file.wb
        count, unit.flight_from = unit.dirty, unit.dirty_from
        self.clean(unit, unit.dirty_to, unit.dirty_to)
        unit.in_flight, unit.cleaned = count, Signal()
        self.in_flight += unit.in_flight
        wb.in_flight += unit.in_flight
        wb.files_in_flight += unit.file.in_flight == 0
        unit.file.in_flight += 1

    def note_written(self, unit: Unit) -> None:
        """The file has blocks there, written just now, unless it has been cut meanwhile."""
        end = min(unit.flight_from + unit.in_flight, unit.pages if unit.is_cached else 0)
        first = unit.index * self.unit_pages
        for page in range(unit.flight_from, end):
            unit.file.written_ns[first + page] = self.engine.now_ns

    def end_writeback(self, unit: Unit) -> None:
        wb, count = unit.file.wb, unit.in_flight
        self.note_written(unit)
        self.rewritten -= unit.rewritten
        unit.in_flight = 0
        self.in_flight -= count
        wb.in_flight -= count
        wb.written += count
        wb.fractions.add(wb.share, count, self.clock.now(), wb.most)
        unit.file.in_flight -= 1
        wb.files_in_flight -= unit.file.in_flight == 0
        if unit.is_reclaim:
            unit.is_reclaim = False
            if unit.is_cached and unit.dirty == 0 and not unit.is_locked:
                self.lists.rotate(unit)
        if not unit.is_cached:  # cut off meanwhile
            self.lists.remove(unit)
        self.engine.happen(unit.cleaned)
        cleaned, self.cleaned = self.cleaned, Signal()
        self.engine.happen(cleaned)
