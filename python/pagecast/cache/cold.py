"""Runs a command cold and warm, and finds the sources of the bytes that it read."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pagecast import _core
from pagecast.arguments import check_flag, check_progress, check_whole, texts
from pagecast.cache.changes import evict, warm
from pagecast.cache.files import Files, FileSystem, Paths, as_files, check_method, status
from pagecast.errors import ProbeError
from pagecast.progress import Stages

__all__ = ["Run", "Trial", "cold"]


@dataclass(frozen=True)
class Run:
    """One run of the command.

    Attributes
    ----------
    state : {"cold", "warm"}
        State of the files before.
    repetition : int
        From 1.
    is_prepared : bool
        Whether the kernel said, right before the run, that the files were in that state.
    stayed : list of (str, int, list of str)
        Before a cold run: files that could not be evicted, how many bytes of them stayed (-1: not known), and
        why that may be.
    wall_s, user_s, system_s : float
    exit_code : int
        128 + signal if one ended it.
    read_calls_bytes : int or None
        Bytes that it and its children got from read calls, of all files, pipes and terminals; not those
        read through mappings. None where the kernel keeps that from us.
    device_read_bytes : int
        Bytes fetched from devices for them, with read-ahead.
    memory_read_bytes : int or None
        Bytes of the read calls that needed no device: `read_calls_bytes` less `device_read_bytes`, at least
        0.
    major_faults : int
        Page faults that waited for a device: reading through mappings.
    whole_device_read_bytes : dict
        By the name of each device below the files: what it read meanwhile, for everybody.
    size_bytes, cached_before_bytes, cached_after_bytes : int
        The files: how large they are, and what of them was cached.
    group_peak_bytes : int or None
        The most memory that the cgroup used so far.
    """

    state: Literal["cold", "warm"]
    repetition: int
    is_prepared: bool
    stayed: list[tuple[str, int, list[str]]]
    wall_s: float
    user_s: float
    system_s: float
    exit_code: int
    read_calls_bytes: int | None
    device_read_bytes: int
    memory_read_bytes: int | None
    major_faults: int
    whole_device_read_bytes: dict[str, int]
    size_bytes: int
    cached_before_bytes: int
    cached_after_bytes: int
    group_peak_bytes: int | None

    @property
    def device_share(self) -> float | None:
        """The share of the bytes read that a device delivered; None if that is not known or nothing was."""
        if self.memory_read_bytes is None:
            return None
        read = self.memory_read_bytes + self.device_read_bytes
        return self.device_read_bytes / read if read else None


@dataclass(frozen=True)
class Trial:
    """All runs of a command.

    Attributes
    ----------
    command : list of str
    runs : list of Run
        In the order in which they were made: cold, warm, cold, ...
    file_systems : list of FileSystem
        File systems of the files.
    memory_bytes : int or None
        Limit of the cgroup.
    cgroup_version : int or None
    out_of_memory_kills : int
    """

    command: list[str]
    runs: list[Run]
    file_systems: list[FileSystem]
    memory_bytes: int | None
    cgroup_version: int | None
    out_of_memory_kills: int


def cold(
    paths: Paths,
    command: Sequence[str],
    *,
    runs: int = 1,
    memory_bytes: int | None = None,
    show_output: bool = False,
    method: str | None = None,
    progress: Stages | None = None,
    on_run: Callable[[Run], object] | None = None,
) -> Trial:
    """Run a command with its files evicted, then with its files in memory, `runs` times each, alternating.

    Before a cold run the files are evicted, before a warm one they are read into the cache; both are
    verified. With `memory_bytes` a warm run is simply the one after a cold run, in the same cgroup: pages are
    charged to the group of the process that reads them first, and that must be the command.

    Parameters
    ----------
    paths : Files, path-like or sequence of path-like
        Files that the command reads.
    command : sequence of str
    runs : int
    memory_bytes : int, optional
        Run it in a memory cgroup that may use so much.
    show_output : bool
        Let the command write to stderr; otherwise its stdout is thrown away, and stderr shows only its
        stderr.
    method : {"cachestat", "mincore"}, optional
    progress : callable, optional
    on_run : callable, optional
        Is called with each run when it has ended.

    Returns
    -------
    Trial

    Raises
    ------
    NotAllowedError
        No cgroup can be made.
    ProbeError
        A path or a command that cannot be used, or more than fits into memory.
    """
    command = texts("command", command)
    if not command:
        raise ProbeError("there is no command to run")
    runs = check_whole("runs", runs, least=1)
    check_flag("show_output", show_output)
    check_method(method)
    check_progress(progress)
    if memory_bytes is not None:
        memory_bytes = check_whole("memory_bytes", memory_bytes, least=1)
    _core.find_command(command[0])
    files = as_files(paths, progress)
    group = _group(memory_bytes)
    trial = _Trial(files, list(command), group, show_output, method, progress)
    done = []
    try:
        for repetition in range(1, runs + 1):
            for state in ("cold", "warm"):
                done.append(trial.run(state, repetition))
                if on_run is not None:
                    on_run(done[-1])
        kills = group.out_of_memory_kills if group else 0
        systems = status(files, method=method, progress=progress).file_systems
        return Trial(list(command), done, systems, memory_bytes, group.version if group else None, kills)
    finally:
        if group:
            group.close()


def _group(memory_bytes: int | None) -> _core.MemoryGroup | None:
    if memory_bytes is None:
        return None
    total = _core.memory_counters()["total_bytes"]
    if memory_bytes >= total:
        limit, there = _core.format_bytes(memory_bytes), _core.format_bytes(total)
        raise ProbeError(f"a limit of {limit} limits nothing: this machine has {there}; give less")
    return _core.MemoryGroup(memory_bytes)


@dataclass(frozen=True)
class _Trial:
    files: Files
    command: list[str]
    group: _core.MemoryGroup | None
    show_output: bool
    method: str | None
    progress: Stages | None

    def run(self, state: Literal["cold", "warm"], repetition: int) -> Run:
        stayed, least, most = self._prepare(state)
        size, before = self._cached()
        figures = _core.run_command(
            self.command,
            paths=_places(self.files.paths),
            group=self.group,
            show_output=self.show_output,
            progress=self.progress,
        )
        after = self._cached()[1]
        calls, device = figures["read_calls_bytes"], figures["device_read_bytes"]
        return Run(
            state=state,
            repetition=repetition,
            is_prepared=not stayed and least <= before <= most,
            stayed=stayed,
            **figures,
            memory_read_bytes=None if calls is None else max(calls - device, 0),
            size_bytes=size,
            cached_before_bytes=before,
            cached_after_bytes=after,
            group_peak_bytes=self.group.peak_bytes if self.group else None,
        )

    def _prepare(self, state: str) -> tuple[list[tuple[str, int, list[str]]], int, float]:
        """Bring the files into a state; gives what stayed, and how many bytes should be cached then."""
        if state == "warm":
            if self.group is not None:
                return [], 0, math.inf
            done = warm(self.files, method=self.method, progress=self.progress)
            return [], sum(done.files["data_bytes"]), math.inf
        evicted = evict(self.files, method=self.method, progress=self.progress)
        path, after, why = (evicted.files[name] for name in ("path", "cached_after_bytes", "reasons"))
        stayed = [(path[row], -1 if after[row] is None else after[row], why[row]) for row in evicted.stayed]
        return [*stayed, *((trouble.path, -1, [trouble.what]) for trouble in evicted.problems)], 0, 0

    def _cached(self) -> tuple[int, int]:
        columns = status(self.files, method=self.method, progress=self.progress).files
        return sum(columns["size_bytes"]), sum(columns["cached_bytes"])


def _places(paths: list[str]) -> list[str]:
    """Give one file of each directory: enough to find the devices below."""
    return list({os.path.dirname(path): path for path in paths}.values())
