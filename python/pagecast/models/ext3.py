"""Plays the program of a process on ext3 in the nets of reads and of writes.

A phase is a run of a net. Between phases the cached pages of files stay, but not their place in the lists and
their flags. What the nets cannot begin with is refused: dirty pages, and cached pages that are not the first
ones of a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagecast.api import Scenario
from pagecast.arguments import named
from pagecast.models.asked import Asked
from pagecast.models.ext3_nets import Done, PhaseRun, run_reads, run_writes
from pagecast.models.ext3_phases import DROP, Phase, phases_of
from pagecast.models.machine import PAGE_BYTES, left_out, mount_of, read_values, write_values
from pagecast.models.played import Level, Played, PlayedFile, PlayedOperation
from pagecast.models.programs import Programs, check_clean
from pagecast.models.refusal import Refusal
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write

__all__ = ["play_ext3"]


def play_ext3(
    scenario: Scenario, programs: Programs, hosts: Mapping[str, Any], refusal: Refusal, asked: Asked
) -> Played:
    """Play a scenario of one process on one host.

    Parameters
    ----------
    scenario : Scenario
    programs : Programs
    hosts : mapping
        Tables of the machine.
    refusal : Refusal
        Takes reasons; it is checked before a net runs.
    asked : Asked

    Returns
    -------
    Played

    Raises
    ------
    ScenarioError
        The nets cannot play it.
    """
    asked.values.check(ext3_read(), ext3_write())
    own = {name: operations for name, operations in programs.operations.items() if operations}
    if len(own) > 1:
        refusal.add(
            f"there are {len(own)} processes with operations ({named([*own], 5)}); a net of ext3 has one"
        )
    operations = next(iter(own.values()), ())
    phases = list(phases_of(operations, refusal))
    host = operations[0].host if operations else next(iter(hosts))
    if "cgroup" in hosts[host]:
        refusal.add(f"{host} has cgroups; the nets have none")
    paths = dict.fromkeys(phase.path for phase in phases if phase.path)
    mounts = {path: _mount(hosts[host], path, refusal) for path in paths}
    files = _files_at_start(programs, host, refusal)
    check_clean(scenario, programs, refusal)
    player = _Player(programs, host, hosts[host], files, mounts, refusal, asked)
    player.begin(operations[0].begins_ns if operations else 0)
    for done, phase in enumerate(phases):
        if asked.progress is not None:
            asked.progress(done / len(phases), player.now_ns / 1e9)
        player.play(phase)
    return player.finished()


@dataclass(slots=True)
class _File:
    """Pages of a file that are cached, and how many are dirty or active."""

    cached: NDArray[np.bool_]
    size_bytes: int
    dirty_pages: int = 0
    active_pages: int = 0

    def grow(self, size_bytes: int) -> None:
        """Make it so long, if it is shorter."""
        self.size_bytes = max(self.size_bytes, size_bytes)
        more = -(-self.size_bytes // PAGE_BYTES) - len(self.cached)
        self.cached = np.concatenate([self.cached, np.zeros(max(0, more), dtype=np.bool_)])

    @property
    def cached_pages(self) -> int:
        """How many pages are cached."""
        return int(self.cached.sum())


def _new_file(size_bytes: int) -> _File:
    return _File(np.zeros(-(-size_bytes // PAGE_BYTES), dtype=np.bool_), size_bytes)


def _files_at_start(programs: Programs, host: str, refusal: Refusal) -> dict[str, _File]:
    """Give the files before time 0. The cache of a host is known as a whole, so only some cases are clear."""
    files = {path: _new_file(size) for path, size in programs.sizes.items()}
    cached_bytes = programs.cached.get(host, 0)
    if len(files) > 1 and cached_bytes not in (0, sum(programs.sizes.values())):
        refusal.add("of several files a part is cached at time 0; cache all of each of them, or nothing")
    for file in files.values():
        file.cached[: -(-cached_bytes // PAGE_BYTES)] = True
    return files


def _mount(host: Mapping[str, Any], path: str, refusal: Refusal) -> Mapping[str, Any]:
    found = mount_of(host, path)
    if found is None:
        return {}
    where, mount = found
    if "disk" not in mount:
        refusal.add(f"{path} is on {where}, which has no disk of this host; the nets of ext3 need one")
    elif mount.get("type", "ext4") != "ext3":
        refusal.add(f'{path} is on {where} of type "{mount.get("type", "ext4")}"; the nets are of "ext3"')
    elif "journal_device" in mount:
        refusal.add(f"{where} has a journal_device; the nets have the log on the disk of the files")
    return mount


class _Player:
    """Plays phase after phase; the time and the files go on."""

    def __init__(
        self,
        programs: Programs,
        host: str,
        tables: Mapping[str, Any],
        files: dict[str, _File],
        mounts: Mapping[str, Mapping[str, Any]],
        refusal: Refusal,
        asked: Asked,
    ) -> None:
        self.now_ns = 0
        self._programs, self._host, self._tables = programs, host, tables
        self._files, self._mounts, self._refusal, self._asked = files, mounts, refusal, asked
        self._played = Played()
        self._left_out: dict[str, None] = {}

    def begin(self, now_ns: int) -> None:
        """Begin at a time."""
        self.now_ns = now_ns
        self._level()

    def finished(self) -> Played:
        """Give all that was played."""
        self._played.end_ns = self.now_ns
        self._played.left_out = tuple(self._left_out)
        self._tell_files("", -1)
        return self._played

    def play(self, phase: Phase) -> None:
        """Play a phase."""
        match phase.kind:
            case "read":
                self._read(phase)
            case "write":
                self._write(phase)
            case _:
                self._without_net(phase)

    def _without_net(self, phase: Phase) -> None:
        for operation in phase.operations:
            start_ns, self.now_ns = self.now_ns, self.now_ns + operation.pause_ns
            part = {operation.kind: operation.pause_ns} if operation.pause_ns else {}
            self._add(PlayedOperation(operation, start_ns, self.now_ns, part))
        if phase.kind == DROP:
            for path, file in self._files.items():
                if file.dirty_pages:
                    self._refusal.add(f"{path} is dirty at `{DROP}`; end its writes with an fsync")
                file.cached[:] = False
            self._refusal.check()
            self._level()

    def _read(self, phase: Phase) -> None:
        file = self._file(phase)
        count = file.cached_pages
        settings = read_values(self._tables, self._disk(phase))
        settings["cache_pages"] -= sum(other.cached_pages for other in self._files.values()) - count
        if not file.cached[:count].all():
            self._refusal.add(
                f"{phase.path} is read while other pages of it than its first ones are cached; drop the cache"
            )
        if count > settings["cache_pages"]:
            self._refusal.add(f"more is cached than fits into the memory as {phase.path} is read")
        is_cold = not all(file.cached[call.first : call.end].all() for call in phase.calls)
        if is_cold and any(each.dirty_pages for each in self._files.values()):
            self._refusal.add(
                f"{phase.path} is read from the disk while pages are dirty; end the writes with an fsync"
            )
        self._refusal.check()
        pages = {"file_pages": len(file.cached), "cached_pages": count, "is_random": phase.is_random}
        run = run_reads(phase, self._over({**settings, **pages}, ext3_read().values), seed=self._asked.seed)
        self._take(phase, run, file)
        missing = np.array(run.run.tokens("ext3 read'Not cached")["value"], dtype=np.int64)
        file.cached[:] = True
        file.cached[missing] = False
        self._level()

    def _write(self, phase: Phase) -> None:
        if any(each.dirty_pages for each in self._files.values()):
            self._refusal.add(
                f"{phase.path} is written while other pages are dirty; end the writes of a file with an fsync"
            )
        self._refusal.check()
        file = self._file(phase)
        mount = self._mounts[phase.path]
        settings = {"commit_pages": 1} | write_values(self._tables, self._disk(phase), mount)
        is_synchronous = phase.path in self._programs.synchronous or mount.get("write_mode") == "through"
        pages = {"file_pages": max(1, len(file.cached)), "is_synchronous": is_synchronous}
        run = run_writes(phase, self._over({**settings, **pages}, ext3_write().values), seed=self._asked.seed)
        self._take(phase, run, file)
        self._level()

    def _over(self, settings: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
        return self._asked.values.over(settings, known)

    def _file(self, phase: Phase) -> _File:
        """Give the file of a phase, as long as the phase makes it."""
        file = self._files.setdefault(phase.path, _new_file(0))
        calls = (call for operation in phase.operations for call in operation.calls)
        file.grow(max((offset + size for offset, size in calls), default=0))
        return file

    def _disk(self, phase: Phase) -> Mapping[str, Any]:
        mount = self._mounts[phase.path]
        disk: Mapping[str, Any] = self._tables["disk"][mount["disk"]]
        lines = left_out(self._tables, disk, mount, writes=phase.kind == "write")
        self._left_out.update(dict.fromkeys(lines))
        return disk

    def _take(self, phase: Phase, run: PhaseRun, file: _File) -> None:
        """Take over the operations of a phase, and the state of its file after each."""
        begin_ns = self.now_ns
        for done, last in zip(run.operations, phase.last_call, strict=True):
            self.now_ns = begin_ns + done.end_ns
            if last >= 0:
                for offset, size in done.operation.calls if phase.kind == "write" else ():
                    file.cached[offset // PAGE_BYTES : -(-(offset + size) // PAGE_BYTES)] = True
                file.dirty_pages, file.active_pages = done.levels.dirty_pages, done.levels.active_pages
            self._add(_placed(done, begin_ns, reads=phase.kind == "read"))
            if last >= 0:
                self._level(done.levels.cached_pages - file.cached_pages if phase.kind == "read" else 0)

    def _add(self, played: PlayedOperation) -> None:
        self._played.operations.append(played)
        if self._asked.each_operation:
            self._tell_files(played.operation.process, played.operation.index)

    def _level(self, more_pages: int = 0) -> None:
        """Note the levels of the memory; in a phase that goes on, more pages are cached than files have."""
        cached = more_pages + sum(file.cached_pages for file in self._files.values())
        dirty = sum(file.dirty_pages for file in self._files.values())
        levels = self._played.levels
        level = Level(self.now_ns, self._host, PAGE_BYTES * cached, PAGE_BYTES * dirty)
        if not levels or levels[-1] != level:
            levels.append(level)

    def _tell_files(self, process: str, index: int) -> None:
        for path, file in self._files.items():
            levels = (
                min(file.size_bytes, PAGE_BYTES * pages)
                for pages in (file.cached_pages, file.dirty_pages, file.active_pages)
            )
            self._played.files.append(
                PlayedFile(self.now_ns, process, index, path, self._host, file.size_bytes, *levels)
            )


def _placed(done: Done, begin_ns: int, *, reads: bool) -> PlayedOperation:
    """Give an operation of a phase at its time in the scenario."""
    size_bytes = done.operation.size_bytes
    device_bytes = min(size_bytes, PAGE_BYTES * done.device_pages) if reads else 0
    return PlayedOperation(
        done.operation,
        begin_ns + done.start_ns,
        begin_ns + done.end_ns,
        done.parts,
        size_bytes - device_bytes,
        device_bytes,
        tuple((begin_ns + start, begin_ns + end) for start, end in done.calls_ns),
    )
