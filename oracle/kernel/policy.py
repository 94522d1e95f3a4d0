"""The policy `kernel`: the parts of each host put together.

Source: the other files of this folder name theirs.
Leaves out: files on another host.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from ..engine import NS, Engine, Sleep, Steps, Wait, to_ns
from ..machine import Machine
from ..policy import Call, ImpossibleError, Policy
from .clock import Clock
from .disk import Disk
from .files import File
from .flusher import Flusher
from .fractions import Fractions
from .journal import Journal
from .limits import HardLimit
from .lists import Unit
from .memory import Memory
from .settings import PAGE, Options, pages
from .tasks import Tasks
from .throttle import Throttle
from .wb import Wb, millionths
from .wbt import Throttling
from .writepages import Writepages


@dataclass(frozen=True)
class Sample:
    """The memory of a host at a time, in bytes; `dirty` and `writeback` share what is `rewritten`."""

    time_s: float
    dirty: int
    writeback: int
    rewritten: int
    cached: int
    anonymous: int
    free: int
    limit: int
    background: int


class HostCache:
    """The page cache of one host and all that works for it."""

    def __init__(self, engine: Engine, machine: Machine, name: str, options: Options):
        self.engine, self.machine, self.name = engine, machine, name
        host = machine.hosts[name]
        self.clock = Clock(engine, options.hz, options.has_timer_wheel)
        alarm = Clock(engine, options.flusher_hz or options.hz)
        self.memory = Memory(engine, self.clock, host.memory_bytes, host.vm, options)
        self.memory.flush_all = self.flush_all
        first = options.dirty_limit_bytes
        limit = self.memory.limits().limit if first is None else pages(first)
        self.hard = HardLimit(limit, max(options.hz // 5, 1))
        self.writepages = Writepages(engine, self.clock, self.memory)
        fractions = Fractions(options.hz, host.cores)
        self.wbs: dict[str, Wb] = {}  # by disk
        self.journals: dict[Wb, Journal] = {}
        self.flushers: dict[Wb, Flusher] = {}
        all_min_ratios = sum(millionths(disk.bdi.min_ratio) for disk in host.disks.values())
        for number, (disk, device) in enumerate(host.disks.items()):
            wb = Wb(number, self.clock, fractions, options, device.bdi, all_min_ratios)
            self.wbs[disk] = wb
            self.journals[wb] = Journal(self.clock)
            self.writepages.disks[wb] = self.disk(disk, options)
            self.flushers[wb] = Flusher(
                engine, self.clock, alarm, self.memory, wb, self.hard, self.writepages, host.vm
            )
        self.throttle = Throttle(
            self.clock,
            self.hard,
            self.memory.levels,
            lambda wb: self.flushers[wb].start_background(),
            self.sleeps,
            host.cores,
        )
        self.tasks = Tasks(
            engine,
            machine,
            name,
            self.memory,
            self.throttle,
            self.flushers,
            self.writepages.disks,
            self.journals,
            options,
        )
        self.files: dict[str, File] = {}  # by path
        self.cut_in_flight: dict[str, list[Unit]] = {}  # by path: what who cut it waits for,
        self.cut_seconds: dict[str, float] = {}  # and how long it takes then to give its blocks back
        self.unit_pages = options.unit_bytes // PAGE

    def disk(self, name: str, options: Options) -> Disk:
        engine, machine = self.engine, self.machine
        disk = Disk(engine, machine, self.name, options, self.writepages.written)
        settings = machine.hosts[self.name].disks[name].wbt
        mounts = [mount for mount in machine.mounts.values() if (mount.host, mount.disk) == (self.name, name)]
        if settings is not None:
            # fs/ext4/page-io.c: ext4_io_submit does not ask wbc_to_write_flags.
            marks_background = bool(mounts) and mounts[0].file_system != "ext4"
            disk.throttling = Throttling(engine, settings, marks_background, disk.wake)
        return disk

    def sleeps(self, wb: Wb) -> None:
        throttling = self.writepages.disks[wb].throttling
        if throttling is not None:
            throttling.saw_sleep()

    def file(self, path: str) -> File:
        if path not in self.files:
            mount = self.machine.mount_of(path)
            if mount.host != self.name:
                raise ImpossibleError(f"{path} is on {mount.host}: the oracle's kernel has local files only")
            self.files[path] = File(path, self.wbs[mount.disk])
        return self.files[path]

    def flush_all(self) -> None:
        for flusher in self.flushers.values():
            flusher.start_all()

    def preload(self, path: str, size: int) -> None:
        """Cached without having been accessed, as after writing."""
        file, left = self.file(path), pages(size)
        for index in range(-(-left // self.unit_pages)):
            count = min(self.unit_pages, left - index * self.unit_pages)
            if not self.memory.has_room(count):
                raise ImpossibleError(f"no room for {path} at the start")
            self.memory.add(file, index, count, is_read=False)
        self.tasks.reporting.look()

    def cut(self, path: str, size: int) -> None:
        file, left = self.file(path), pages(size)
        on_their_way = [
            u for u in file.units.values() if u.in_flight > 0 and (u.index + 1) * self.unit_pages > left
        ]
        self.cut_in_flight[path] = on_their_way
        self.cut_seconds[path] = self.give_blocks_back(file, left, on_their_way)
        file.leaving = [unit for unit in (*file.leaving, *on_their_way) if unit.in_flight > 0]
        for unit in list(file.units.values()):
            stays = left - unit.index * self.unit_pages
            if stays <= 0:
                self.memory.cut_off(unit)
            else:
                self.memory.cut(unit, stays)
        for index in [i for i in file.shadows if i * self.unit_pages >= left]:
            del file.shadows[index]

    def give_blocks_back(self, file: File, left: int, on_their_way: list[Unit]) -> float:
        """Of the pages from `left` on; those on their way are written first. What that takes."""
        cost = self.machine.mount_of(file.path).cost
        within_s = math.inf if cost.block_free_within_s is None else cost.block_free_within_s
        gone = {page: written for page, written in file.written_ns.items() if page >= left}
        for unit in on_their_way:
            first = unit.index * self.unit_pages + unit.flight_from
            gone |= dict.fromkeys(range(max(left, first), first + unit.in_flight), self.engine.now_ns)
        file.written_ns = {page: ns for page, ns in file.written_ns.items() if page < left}
        lately = sum((self.engine.now_ns - written) / NS <= within_s for written in gone.values())
        return cost.file_free_s + lately * cost.block_free_s if lately else 0.0

    def unlink(self, path: str) -> None:
        self.cut(path, 0)
        file = self.files.pop(path)
        self.flushers[file.wb].forget(file)

    def drop_clean(self) -> None:
        for file in self.files.values():
            for unit in [u for u in file.units.values() if u.is_clean and not u.is_locked]:
                self.memory.drop(unit)

    def dont_need(self, path: str) -> None:
        """Clean units go; dirty ones are written, and go when room is needed."""
        file = self.file(path)
        if file.dirty_units:
            self.engine.start_at(self.engine.now_ns, self.writepages.later(file))
        for unit in list(file.units.values()):
            if unit.is_locked:
                continue
            if unit.is_clean:
                self.memory.drop(unit)
            else:
                self.memory.lists.deactivate_file(unit)

    def sample(self) -> Sample:
        memory, limits = self.memory, self.memory.limits()
        return Sample(
            self.engine.now_ns / NS,
            memory.dirty * PAGE,
            memory.in_flight * PAGE,
            memory.rewritten * PAGE,
            memory.lists.pages * PAGE,
            memory.anonymous_bytes,
            memory.free * PAGE,
            limits.limit * PAGE,
            limits.background * PAGE,
        )


class Kernel(Policy):
    def __init__(self, engine: Engine, machine: Machine, **options: Any):
        super().__init__(engine, machine)
        self.options = replace(Options(), **options)
        assert self.options.unit_bytes % PAGE == 0
        self.hosts = {name: HostCache(engine, machine, name, self.options) for name in machine.hosts}
        self.samples: dict[str, list[Sample]] = {name: [] for name in self.hosts}
        engine.start_at(0, self._watch())

    def _watch(self) -> Steps:
        while True:
            for name, host in self.hosts.items():
                self.samples[name].append(host.sample())
            yield Sleep(self.engine.now_ns + to_ns(self.options.sample_s))

    def cached(self, host: str, path: str) -> int:
        """How many bytes of a file are cached, in whole pages."""
        file = self.hosts[host].files.get(path)
        return sum(unit.pages for unit in file.units.values()) * PAGE if file else 0

    def dirty(self, host: str, path: str) -> int:
        """How many bytes of a file are dirty and not under writeback."""
        file = self.hosts[host].files.get(path)
        return sum(unit.dirty for unit in file.units.values()) * PAGE if file else 0

    def written(self, host: str, disk: str) -> int:
        """How many bytes a disk has written."""
        return self.hosts[host].wbs[disk].written * PAGE

    # -- operations ----------------------------------------------------------------------
    def read(self, call: Call) -> Steps:
        host = self.hosts[call.host]
        yield from host.tasks.read(call, host.file(call.path))

    def write(self, call: Call) -> Steps:
        host = self.hosts[call.host]
        file = host.file(call.path)
        yield from host.tasks.write(call, file)
        if self.machine.mount_of(call.path).write_through:
            yield from host.writepages.all_and_wait(file)

    def fsync(self, host: str, path: str) -> Steps:
        cache = self.hosts[host]
        file = cache.file(path)
        yield from cache.writepages.all_and_wait(file)
        yield from cache.journals[file.wb].commit(file, self.machine.mount_of(path).cost.commit_s)

    def alloc(self, host: str, size: int) -> Steps:
        yield from self.hosts[host].tasks.touch(size)

    def give_back(self, host: str, size: int) -> None:
        self.hosts[host].memory.anonymous_bytes -= size

    def cut(self, host: str, path: str) -> Steps:
        for unit in self.hosts[host].cut_in_flight.pop(path, []):
            if unit.in_flight > 0:
                yield Wait(unit.cleaned)
        yield self.after(self.hosts[host].cut_seconds.pop(path, 0.0))

    def after(self, seconds: float) -> Sleep:
        return Sleep(self.engine.now_ns + to_ns(seconds))

    def preload(self, host: str, path: str, size: int) -> None:
        self.hosts[host].preload(path, size)

    def truncate(self, host: str, path: str, size: int) -> None:
        self.hosts[host].cut(path, size)

    def unlink(self, host: str, path: str) -> None:
        self.hosts[host].unlink(path)

    def dont_need(self, host: str, path: str) -> None:
        self.hosts[host].dont_need(path)

    def drop_caches(self, host: str) -> None:
        self.hosts[host].drop_clean()
