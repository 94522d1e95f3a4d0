"""The flusher of a disk: when it runs, which inodes it takes, how much of each.

Source: fs/fs-writeback.c (wb_workfn, wb_do_writeback, wb_writeback, writeback_sb_inodes, queue_io,
writeback_chunk_size, requeue_inode, redirty_tail, __mark_inode_dirty), mm/page-writeback.c
(wb_over_bg_thresh, wb_inode_writeback_end).
Leaves out: queued works (sync), several file systems on a disk, dirtytime, the CPU that it takes.
"""

from ..engine import Engine, Steps
from .clock import Clock
from .files import File
from .limits import HardLimit
from .memory import Memory
from .settings import Vm
from .wb import Wb
from .wbt import BACKGROUND, OTHER
from .writepages import Writepages

MIN_PAGES = 1024  # MIN_WRITEBACK_PAGES


def chunk_pages(bandwidth: int, dirty_limit: int, left: int) -> int:
    """How much of one inode at a time: half a second's worth, in steps of 4 MiB."""
    return (min(bandwidth // 2, dirty_limit // 8, left) + MIN_PAGES) // MIN_PAGES * MIN_PAGES


class Flusher:
    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        alarm: Clock,
        memory: Memory,
        wb: Wb,
        hard: HardLimit,
        writepages: Writepages,
        vm: Vm,
    ):
        self.engine, self.clock, self.memory, self.wb = engine, clock, memory, wb
        self.hard, self.writepages = hard, writepages
        self.interval = clock.of_centisecs(vm.dirty_writeback_centisecs)
        self.alarm, self.delay = alarm, alarm.of_centisecs(vm.dirty_writeback_centisecs)
        self.expire = clock.of_centisecs(vm.dirty_expire_centisecs)
        self.b_dirty: list[File] = []  # by dirtied_when; what is first is served first
        self.b_io: list[File] = []
        self.b_more_io: list[File] = []
        self.visited: File | None = None  # taken from b_io; the kernel leaves it there meanwhile
        self.last_old_flush = -self.interval
        self.wants_all = False  # WB_start_all
        self.is_active = False  # the work function runs
        self.in_progress = False  # WB_writeback_running
        self.is_pending = False  # it shall run again
        self.timer = 0  # number of the timer that counts; 0: none
        self.timers = 0

    # -- inodes --------------------------------------------------------------------------
    @property
    def has_inodes(self) -> bool:
        return bool(self.b_dirty or self.b_io or self.b_more_io or self.visited)

    def mark_dirty(self, file: File) -> None:
        """Something was written to a file."""
        if file.is_dirty:
            return
        file.is_dirty = True
        if file.is_syncing or file.is_listed:
            return
        file.dirtied_when = self.clock.now()
        was_idle = not self.has_inodes
        self.b_dirty.append(file)
        file.is_listed = True
        if was_idle:
            self._wake_delayed()

    def forget(self, file: File) -> None:
        """A file is deleted."""
        for files in (self.b_dirty, self.b_io, self.b_more_io):
            if file in files:
                files.remove(file)
        file.is_dirty = file.is_listed = False

    # -- waking --------------------------------------------------------------------------
    def start_background(self) -> None:
        if not self.in_progress:
            self._wake()

    def start_all(self) -> None:
        if self.has_inodes and not self.wants_all:
            self.wants_all = True
            self._wake()

    def _wake(self) -> None:
        self.timer = 0
        self.is_pending = True
        if not self.is_active:
            self.is_active = True
            self.engine.start_at(self.engine.now_ns, self._run())

    def _wake_delayed(self) -> None:
        if self.timer or self.is_pending or not self.interval:
            return
        self.timers += 1
        self.timer = self.timers
        self.engine.start_at(self.alarm.fires_ns(self.delay), self._ring(self.timer))

    def _ring(self, timer: int) -> Steps:
        if timer == self.timer:
            self._wake()
        yield from ()

    # -- works ---------------------------------------------------------------------------
    def _run(self) -> Steps:
        while self.is_pending:
            self.is_pending = False
            self.in_progress = True
            if self.wants_all:
                yield from self._writeback("all", self.memory.dirty)
                self.wants_all = False
            if self.interval and self.clock.now() >= self.last_old_flush + self.interval:
                self.last_old_flush = self.clock.now()
                yield from self._writeback("kupdate", self.memory.dirty)
            if self._is_over_background():
                yield from self._writeback("background", 1 << 60)
            self.in_progress = False
            if self.has_inodes:
                self._wake_delayed()
        self.is_active = False

    def _is_over_background(self) -> bool:
        background, dirty = self.memory.limits().background, self.memory.dirty
        return dirty > background or self.wb.reclaimable > self.wb.part_of(background, dirty)

    def _writeback(self, work: str, left: int) -> Steps:
        cutoff = self.clock.now()
        while left > 0 and (work != "background" or self._is_over_background()):
            is_queued = not self.b_io
            if is_queued:
                if work != "all":
                    cutoff = self.clock.now() - (self.expire if work == "kupdate" else 0)
                self._queue_io(cutoff)
            pages, progress = yield from self._inodes(cutoff, left, OTHER if work == "all" else BACKGROUND)
            left -= pages
            if is_queued and not progress:
                break

    def _queue_io(self, cutoff: int) -> None:
        """The unfinished ones, then those that have been dirty for long enough, the oldest first."""
        self.b_io, self.b_more_io = self.b_more_io, []
        while self.b_dirty and self.b_dirty[0].dirtied_when <= cutoff:
            self.b_io.append(self.b_dirty.pop(0))

    def _inodes(self, cutoff: int, left: int, why: str) -> Steps:
        """A chunk of each inode of b_io, for 100 ms. Returns the pages, and whether anything was done."""
        started, pages, progress = self.clock.now(), 0, 0
        while self.b_io:
            self.visited = file = self.b_io.pop(0)
            chunk = chunk_pages(self.wb.average, self.hard.value, left - pages)
            file.is_listed, file.is_syncing = False, True
            count = yield from self.writepages.some(file, chunk, why)
            self.visited, file.is_syncing = None, False
            file.is_dirty = bool(file.dirty_units)
            pages += count
            progress += count + (not file.is_dirty)
            self._requeue(file, is_used_up=count >= chunk, cutoff=cutoff)
            if progress and (self.clock.now() > started + self.clock.hz // 10 or left <= pages):
                break
        return pages, progress

    def _requeue(self, file: File, is_used_up: bool, cutoff: int) -> None:
        if not file.is_dirty:
            return
        file.is_listed = True
        if is_used_up and file.dirtied_when <= cutoff:
            self.b_more_io.append(file)
        else:
            if self.b_dirty and file.dirtied_when < self.b_dirty[-1].dirtied_when:
                file.dirtied_when = self.clock.now()
            self.b_dirty.append(file)
