"""Evicts and warms files, and verifies it."""

from dataclasses import dataclass
from types import TracebackType
from typing import Any

from pagecast import _core
from pagecast.arguments import check_flag, check_progress, check_word
from pagecast.cache.files import (
    Files,
    FileSystem,
    Paths,
    Problem,
    as_files,
    check_method,
    problems,
)
from pagecast.progress import Stages
from pagecast.result import Columns

__all__ = ["Eviction", "Lock", "Warming", "drop", "evict", "lock", "warm"]


@dataclass(frozen=True)
class _Change:
    """The result of any change: each file, what could not be changed, and what the files are on."""

    files: Columns
    problems: list[Problem]
    vanished: int
    file_systems: list[FileSystem]


@dataclass(frozen=True)
class Eviction(_Change):
    """The result of an eviction.

    Attributes
    ----------
    files : Columns
        ``path``, ``size_bytes``, ``allocated_bytes``, ``method``, ``file_system``, then ``cached``,
        ``dirty``, ``writeback``, ``evicted`` and ``recently_evicted``, each as ``_before_bytes`` and
        ``_after_bytes`` (None where that is not known), and ``reasons``: why something may have stayed.
    problems : list of Problem
    vanished : int
    file_systems : list of FileSystem
    """

    @property
    def stayed(self) -> list[int]:
        """The rows of files of which something stayed, or of which that is not known."""
        return [row for row, after in enumerate(self.files["cached_after_bytes"]) if after != 0]

    @property
    def is_cold(self) -> bool:
        """Whether the kernel says of every file that nothing of it is cached."""
        return not self.stayed and not self.problems


def evict(
    paths: Paths, *, sync: bool = True, method: str | None = None, progress: Stages | None = None
) -> Eviction:
    """Drop files from the page cache, for everybody who uses them.

    Parameters
    ----------
    paths : Files, path-like or sequence of path-like
    sync : bool
        Make dirty data durable first; dirty pages cannot be dropped.
    method : {"cachestat", "mincore"}, optional
        How to find the pages that stayed.
    progress : callable, optional

    Returns
    -------
    Eviction

    Raises
    ------
    ProbeError
        A path that cannot be used.
    """
    check_method(method)
    check_flag("sync", sync)
    files = as_files(paths, progress)
    done = _core.cache_evict(files._core, method=method, sync=sync, progress=check_progress(progress))
    return Eviction(**_answer(files, done))


@dataclass(frozen=True)
class Warming(_Change):
    """The result of warming.

    Attributes
    ----------
    files : Columns
        ``path``, ``size_bytes``, ``allocated_bytes``, ``method``, ``file_system``, ``cached_before_bytes``,
        ``data_bytes`` (the file without its holes) and ``cached_after_bytes`` (of the data).
    problems : list of Problem
    vanished : int
    file_systems : list of FileSystem
    """

    @property
    def missing(self) -> list[int]:
        """The rows of files of which some data is not cached."""
        pairs = zip(self.files["data_bytes"], self.files["cached_after_bytes"], strict=True)
        return [row for row, (data, cached) in enumerate(pairs) if cached < data]

    @property
    def is_warm(self) -> bool:
        """Whether all data of every file is cached."""
        return not self.missing and not self.problems


def warm(paths: Paths, *, method: str | None = None, progress: Stages | None = None) -> Warming:
    """Read files into the page cache; holes are left out, as they need no device.

    Parameters
    ----------
    paths : Files, path-like or sequence of path-like
    method : {"cachestat", "mincore"}, optional
        How to find the cached pages.
    progress : callable, optional

    Returns
    -------
    Warming

    Raises
    ------
    ProbeError
        A path that cannot be used, or more than fits into memory.
    """
    check_method(method)
    files = as_files(paths, progress)
    done = _core.cache_warm(files._core, method=method, progress=check_progress(progress))
    return _warming(files, done)


def _warming(files: Files, done: dict[str, Any]) -> Warming:
    return Warming(**_answer(files, done))


def _answer(files: Files, done: dict[str, Any]) -> dict[str, Any]:
    return done | {
        "files": Columns(done["files"]),
        "problems": [*files.problems, *problems(done["problems"])],
    }


class Lock:
    """Files that stay in memory until `release`, or until the ``with`` block ends.

    Attributes
    ----------
    warming : Warming
        The bytes read for it.
    """

    def __init__(self, held: _core.CacheLock, warming: Warming) -> None:
        self._core = held
        self.warming = warming

    @property
    def locked_bytes(self) -> int:
        """How much is locked, in whole pages; 0 after `release`."""
        return self._core.locked_bytes

    def release(self) -> None:
        """Let go; the files stay cached until the kernel needs the memory."""
        self._core.release()

    def __enter__(self) -> "Lock":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock(paths: Paths, *, method: str | None = None, progress: Stages | None = None) -> Lock:
    """Read files into memory and lock them there (mlock).

    Parameters
    ----------
    paths : Files, path-like or sequence of path-like
    method : {"cachestat", "mincore"}, optional
    progress : callable, optional

    Returns
    -------
    Lock

    Raises
    ------
    NotAllowedError
        More than RLIMIT_MEMLOCK; nothing has been read.
    ProbeError
        A path that cannot be used, or more than fits into memory.
    """
    check_method(method)
    files = as_files(paths, progress)
    held, done = _core.cache_lock(files._core, method=method, progress=check_progress(progress))
    return Lock(held, _warming(files, done))


def drop(
    what: str = "all", *, sync: bool = True, progress: Stages | None = None
) -> tuple[dict[str, int], dict[str, int]]:
    """Drop the caches of the whole machine; needs root.

    Parameters
    ----------
    what : {"pages", "slab", "all"}
        Clean pages of files; dentries, inodes and other slabs; both.
    sync : bool
        Write all dirty data first; dirty pages cannot be dropped.
    progress : callable, optional

    Returns
    -------
    before, after : dict
        The memory of the machine: ``free_bytes``, ``cached_bytes``, ``dirty_bytes`` and others.

    Raises
    ------
    NotAllowedError
        Not root.
    """
    check_word("what", what, ("pages", "slab", "all"))
    return _core.cache_drop(what, sync=check_flag("sync", sync), progress=check_progress(progress))
