"""What a process does: reads, writes, memory that it touches first; unit by unit.

Source: mm/filemap.c (filemap_read, filemap_get_pages, generic_perform_write), mm/memory.c (anonymous faults).
Leaves out: locks between writers of a file; reading a page that is written in part.
"""

from dataclasses import dataclass, field

from ..engine import Engine, Signal, Steps, Wait, to_ns
from ..machine import Machine
from ..policy import Call
from .disk import Disk, Request
from .files import File
from .flusher import Flusher
from .journal import Journal
from .memory import Memory
from .readahead import Stream, Window, most_pages, on_mark, on_miss
from .reporting import Reporting
from .settings import PAGE, Options, pages
from .throttle import Dirtier, Throttle
from .wb import Wb


@dataclass
class Task:
    name: str
    dirtier: Dirtier
    streams: dict[str, Stream] = field(default_factory=dict)  # by path


@dataclass(frozen=True)
class Piece:
    """The part of a call that lies in one unit."""

    index: int
    start: int  # byte of the file
    end: int
    calls: int  # system calls that begin in it
    request: int  # pages from its start to the end of its system call

    def pages_in(self, unit_bytes: int) -> tuple[int, int]:
        """Its pages, counted from the beginning of the unit."""
        base = self.index * unit_bytes
        return (self.start - base) // PAGE, pages(self.end - base)


def pieces(call: Call, unit_bytes: int) -> list[Piece]:
    size = call.call_bytes or max(call.size, 1)
    found, start = [], call.offset
    while start < call.end:
        index = start // unit_bytes
        end = min((index + 1) * unit_bytes, call.end)
        calls = -(-(end - call.offset) // size) - -(-(start - call.offset) // size)
        call_end = min(call.offset + ((start - call.offset) // size + 1) * size, call.end)
        found.append(Piece(index, start, end, calls, pages(call_end) - start // PAGE))
        start = end
    return found


class Tasks:
    """The processes of one host."""

    def __init__(
        self,
        engine: Engine,
        machine: Machine,
        host: str,
        memory: Memory,
        throttle: Throttle,
        flushers: dict[Wb, Flusher],
        disks: dict[Wb, Disk],
        journals: dict[Wb, Journal],
        options: Options,
    ):
        self.engine, self.machine, self.host, self.memory = engine, machine, host, memory
        self.throttle, self.flushers, self.disks, self.options = throttle, flushers, disks, options
        self.cost, self.ram = machine.hosts[host].cost, machine.hosts[host].memory
        self.journals = journals
        self.reporting = Reporting(engine, memory, options.backed_bytes, options.free_blocks)
        self.unit_pages = options.unit_bytes // PAGE
        self.copying = 0  # threads that copy just now
        self.tasks: dict[str, Task] = {}

    def task(self, name: str) -> Task:
        if name not in self.tasks:
            cpu = len(self.tasks) % len(self.throttle.by_cpu)
            self.tasks[name] = Task(name, Dirtier(cpu))
        return self.tasks[name]

    # -- processor -----------------------------------------------------------------------
    def _work(self, seconds: float) -> Steps:
        yield self.machine.computing(self.host, to_ns(seconds))

    def _copy(self, size: int, is_write: bool, seconds: float, speed: float = 1.0) -> Steps:
        """Copy so many bytes; `seconds` for everything else. Threads share the memory equally."""
        ram, cost = self.ram, self.cost
        total = ram.write_bytes_per_s if is_write else ram.read_bytes_per_s
        own = cost.copy_write_bytes_per_s if is_write else cost.copy_read_bytes_per_s
        rate = own or ram.per_thread_bytes_per_s or total
        self.copying += 1
        yield from self._work((seconds + size / min(rate, total / self.copying)) / speed)
        self.copying -= 1

    # -- anonymous memory ----------------------------------------------------------------
    def touch(self, size: int) -> Steps:
        """Take new anonymous memory, a unit at a time."""
        for start in range(0, size, self.options.unit_bytes):
            part = min(self.options.unit_bytes, size - start)
            yield from self._take(part)
            yield from self._work(pages(part) * self.cost.fault_s)

    def _take(self, size: int) -> Steps:
        yield from self.memory.make_room(pages(size))
        self.memory.anonymous_bytes += size
        yield from self._work(self._reported())

    def _reported(self) -> float:
        """What it takes to touch the pages that were taken just now."""
        return self.reporting.look() * self.cost.page_reported_s

    # -- writing -------------------------------------------------------------------------
    def write(self, call: Call, file: File) -> Steps:
        task = self.task(call.process)
        for piece in pieces(call, self.options.unit_bytes):
            yield from self.throttle.check(task.dirtier, file.wb)
            yield from self._write(task, file, piece, is_longer=piece.end > call.file_size)

    def _write(self, task: Task, file: File, piece: Piece, is_longer: bool) -> Steps:
        first, end = piece.pages_in(self.options.unit_bytes)
        unit = file.units.get(piece.index)
        while unit is not None and unit.arrived is not None:
            yield Wait(unit.arrived)
            unit = file.units.get(piece.index)
        new = max(0, end - (unit.pages if unit else 0))
        if new > 0:
            yield from self.memory.make_room(new)
            unit = file.units.get(piece.index)  # it may be gone, or have come, meanwhile
            new = max(0, end - (unit.pages if unit else 0))
            if unit is None:
                unit = self.memory.add(file, piece.index, new, is_read=False)
            elif new > 0:
                self.memory.lists.resize(unit, end)
        assert unit is not None
        old = max(0, end - first - new)
        unit.users += 1
        cost = self.cost
        seconds = piece.calls * cost.call_s + new * cost.page_insert_s + old * cost.page_lookup_s
        seconds += self._reported()
        is_slow = new > 0 and file.in_flight > 0
        speed = cost.flushing_factor if is_slow else 1.0
        yield from self._copy(piece.end - piece.start, True, seconds, speed)
        unit.users -= 1
        self.journals[file.wb].write(file, is_longer)
        if unit.is_cached and unit.pages >= end:
            self.throttle.account(task.dirtier, self.memory.make_dirty(unit, first, end))
            self.flushers[file.wb].mark_dirty(file)

    # -- reading -------------------------------------------------------------------------
    def read(self, call: Call, file: File) -> Steps:
        task = self.task(call.process)
        stream = task.streams.get(call.path)
        if stream is None or stream.last_end != call.offset:  # opened again, or elsewhere
            stream = task.streams[call.path] = Stream()
        for piece in pieces(call, self.options.unit_bytes):
            yield from self._read(task, file, piece, call, stream)

    def _read(self, task: Task, file: File, piece: Piece, call: Call, stream: Stream) -> Steps:
        first, end = piece.pages_in(self.options.unit_bytes)
        file_pages = pages(call.file_size)
        most = most_pages(
            piece.request, self.options.read_ahead_bytes // PAGE, self.options.request_bytes // PAGE
        )
        while True:
            unit, inserted = file.units.get(piece.index), 0
            if unit is None or (unit.pages < end and unit.arrived is None):
                page, last_page = piece.start // PAGE, self._last_page(stream)
                if unit is not None:
                    page = max(page, piece.index * self.unit_pages + unit.pages)
                before = self._cached_before(file, page, most)
                window = on_miss(page, piece.request, last_page, before, most)
                yield from self._make_room(file, piece.index, file_pages)
                inserted = self._submit(task, file, window, file_pages, stream)
                unit = file.units.get(piece.index)
                if unit is None:
                    continue  # what there was of it has gone to make room: once more
            unit.users += 1
            if unit.is_marker:
                unit.is_marker = False
                inserted += self._submit(task, file, on_mark(stream, most), file_pages, stream)
            yield from self._work(inserted * self.cost.page_insert_s + self._reported())
            if unit.arrived is not None:
                yield Wait(unit.arrived)
            if unit.is_cached and unit.pages >= end:
                break
            unit.users -= 1  # truncated meanwhile
        if stream.last_end <= piece.index * self.options.unit_bytes:
            self.memory.lists.mark_accessed(unit)  # not again if the last read ended in it
        seconds = piece.calls * self.cost.call_s + (end - first) * self.cost.page_lookup_s
        if call.is_fresh:
            yield from self._take(piece.end - piece.start)
            seconds += pages(piece.end - piece.start) * self.cost.fault_s
        yield from self._copy(piece.end - piece.start, False, seconds)
        unit.users -= 1
        stream.last_end = piece.end
        size = call.call_bytes or call.size
        if piece.end == call.end:
            stream.last_call_end = piece.end
        elif piece.end - call.offset >= size:  # a call may end within a unit
            stream.last_call_end = call.offset + (piece.end - call.offset) // size * size

    def _last_page(self, stream: Stream) -> int:
        """The last page of the last call; the rest of its unit came with it."""
        return -(-stream.last_call_end // self.options.unit_bytes) * self.unit_pages - 1

    def _cached_before(self, file: File, page: int, most: int) -> int:
        """How many pages just before this one are cached, up to `most`."""
        count = 0
        while count < most and page - count > 0:
            index, within = divmod(page - count - 1, self.unit_pages)
            unit = file.units.get(index)
            if unit is None or unit.pages <= within:
                break
            count += within + 1
        return min(count, most)

    def _missing(self, file: File, index: int, file_pages: int) -> int:
        """How many pages of a unit are to be read."""
        unit = file.units.get(index)
        if unit is not None and unit.arrived is not None:
            return 0
        wanted = min(self.unit_pages, file_pages - index * self.unit_pages)
        return max(0, wanted - (unit.pages if unit else 0))

    def _make_room(self, file: File, index: int, file_pages: int) -> Steps:
        yield from self.memory.make_room(self._missing(file, index, file_pages))

    def _read_in(self, task: Task, file: File, request: Request) -> None:
        if request:
            self.disks[file.wb].read(task.name, request)

    def _submit(self, task: Task, file: File, window: Window, file_pages: int, stream: Stream) -> int:
        """Read the units of a window that are not there, as far as there is room. Returns the pages."""
        size, inserted = self.unit_pages, 0
        request: Request = []
        most = max(1, self.options.request_bytes // self.options.unit_bytes)  # units of a request
        first, end = window.start // size, -(-min(window.start + window.size, file_pages) // size)
        if window.later:
            stream.size, stream.end = window.size, end * size
        for index in range(first, end):
            missing = self._missing(file, index, file_pages)
            if missing == 0 or len(request) == most:
                self._read_in(task, file, request)
                request = []
            if missing == 0:
                continue
            if not self.memory.has_room(missing):
                end = index  # read-ahead does not wait for memory
                break
            missing = self._missing(file, index, file_pages)  # what there was may have gone to make room
            unit = file.units.get(index)
            if unit is None:
                unit = self.memory.add(file, index, missing, is_read=True)
            else:
                self.memory.lists.resize(unit, unit.pages + missing)
            unit.arrived = Signal()
            request.append((unit, missing))
            inserted += missing
        self._read_in(task, file, request)
        marker = max(first, (window.start + window.size - window.later) // size)
        marked = file.units.get(min(marker, end - 1))
        if window.later and marked is not None and end * size < file_pages:
            marked.is_marker = True
        return inserted
