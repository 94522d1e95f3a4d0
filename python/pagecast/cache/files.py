"""Finds files, and measures how much of them is cached."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypedDict

from pagecast import _core
from pagecast.arguments import check_flag, check_path, check_progress, check_whole, check_word, listed
from pagecast.progress import Stages
from pagecast.result import Columns

__all__ = [
    "FileSystem",
    "Files",
    "Paths",
    "Problem",
    "Status",
    "as_files",
    "check_method",
    "find",
    "problems",
    "status",
]

METHODS = ("cachestat", "mincore")
"""How the kernel can be asked."""

_MOST_CELLS = 1_000_000
"""More than any picture shows."""


class Problem(NamedTuple):
    """A file that could not be looked at or changed, while others could."""

    path: str
    what: str


class FileSystem(TypedDict):
    """A file system, and a warning about its cache."""

    type: str
    mount_point: str | None
    name: str
    caution: str | None


def problems(pairs: Sequence[tuple[str, str]]) -> list[Problem]:
    """Give problems of the core as our own."""
    return [Problem(*pair) for pair in pairs]


class Files:
    """Files that were found below some paths; measure and change them as often as you like.

    Made by `find`. ``len`` gives their number.
    """

    def __init__(self, found: _core.CacheFiles) -> None:
        self._core = found

    def __len__(self) -> int:
        """Give the number of files."""
        return len(self._core)

    @property
    def paths(self) -> list[str]:
        """The names under which files were found; a file may have several."""
        return self._core.paths

    @property
    def problems(self) -> list[Problem]:
        """Files that could not be looked at."""
        return problems(self._core.problems)

    @property
    def left_out(self) -> dict[str, int]:
        """How many links, links that lead back, special files and other mounts were left out."""
        found = self._core
        return {
            "links": found.links_left_out,
            "links_back": found.links_back,
            "special_files": found.special_left_out,
            "mounts": len(found.mounts_left_out),
        }


Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Files | Sequence[Path] | Path


def find(
    paths: Sequence[Path] | Path,
    *,
    follow: bool = False,
    one_file_system: bool = False,
    progress: Stages | None = None,
) -> Files:
    """Find the files below some paths.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        Files, block devices, or directories with all that is below them.
    follow : bool
        Follow symbolic links inside directories too; a path that is given is always followed.
    one_file_system : bool
        Stay on the file system of each path.
    progress : callable, optional

    Returns
    -------
    Files

    Raises
    ------
    ProbeError
        A path that does not exist, is no file, or holds no file.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else listed("paths", paths)
    return Files(
        _core.cache_find(
            [check_path("paths", path) for path in given],
            follow=check_flag("follow", follow),
            one_file_system=check_flag("one_file_system", one_file_system),
            progress=check_progress(progress),
        )
    )


def as_files(paths: Paths, progress: Stages | None = None) -> Files:
    """Give the files of paths, unless they were found already."""
    return paths if isinstance(paths, Files) else find(paths, progress=progress)


def check_method(method: str | None) -> str | None:
    """Give how the kernel is asked, or None for the best way."""
    return None if method is None else check_word("method", method, METHODS)


@dataclass(frozen=True)
class Status:
    """Cached pages of files.

    Attributes
    ----------
    files : Columns
        ``path``, ``size_bytes``, ``allocated_bytes``, ``method``, ``file_system``, ``cached_bytes``, and,
        None where only `mincore` could be asked, ``dirty_bytes``, ``writeback_bytes``, ``evicted_bytes``,
        ``recently_evicted_bytes``; ``cells`` if a picture was asked for: the cached share of equal pieces. A
        file with several names is there once.
    problems : list of Problem
    vanished : int
        Files that were gone before they could be measured.
    other_names : int
        Names of files that were counted under another name.
    file_systems : list of FileSystem
    """

    files: Columns
    problems: list[Problem]
    vanished: int
    other_names: int
    file_systems: list[FileSystem]

    @cached_property
    def _totals(self) -> dict[str, int | None]:
        names = [name for name in self.files if name.endswith("_bytes")]
        return {"files": len(self.files)} | {name: _sum(self.files[name]) for name in names}

    def totals(self) -> dict[str, int | None]:
        """Give the number of files and the sum of each column; None where it is not known of all files.

        Returns
        -------
        dict
        """
        return dict(self._totals)


def _sum(column: list[int | None]) -> int | None:
    known = [value for value in column if value is not None]
    return sum(known) if len(known) == len(column) else None


def status(
    paths: Paths, *, method: str | None = None, cells: int = 0, progress: Stages | None = None
) -> Status:
    """Measure the cached pages of files, without changing them.

    Parameters
    ----------
    paths : Files, path-like or sequence of path-like
    method : {"cachestat", "mincore"}, optional
        How to ask the kernel; the best that it has if not given.
    cells : int
        Cut each file into so many pieces and say how much of each is cached.
    progress : callable, optional

    Returns
    -------
    Status

    Raises
    ------
    ProbeError
        A path that cannot be used, or a method that is not to be had.
    """
    check_method(method)
    cells = check_whole("cells", cells, least=0, most=_MOST_CELLS)
    files = as_files(paths, progress)
    found = _core.cache_status(files._core, method=method, cells=cells, progress=check_progress(progress))
    return Status(
        files=Columns(found["files"]),
        problems=[*files.problems, *problems(found["problems"])],
        vanished=found["vanished"],
        other_names=found["other_names"],
        file_systems=found["file_systems"],
    )
