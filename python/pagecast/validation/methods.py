"""The suite of methods: ways to write and to make writes durable, with calls of five sizes or none.

The standard suite tests the page cache, this one the cost of a call: past the cache, waiting
for the disk with each call, waiting after it, through a buffer of the C library, and through a mapping. Each
case of calls writes a new file and then over it, as a file system has more to do for a file that grows. What
removing it takes is not part of them: the folder of a run is removed after it. No model has been fitted to
any of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Final, Literal

from pagecast import _core
from pagecast._core import (
    fclose,
    fopen,
    fread,
    fsync,
    fwrite,
    mmap_read,
    mmap_write,
    msync,
    read,
    setvbuf,
    write,
)
from pagecast.api import File, Process, Program, Scenario
from pagecast.comparison.machines import described, disk_of, mount_of
from pagecast.tolerance import Tolerance
from pagecast.validation.case import Case
from pagecast.validation.scale import MIB, Scale, rounded

if TYPE_CHECKING:
    from pagecast._core import Machine, Operation

__all__ = ["methods"]

KIB: Final = 1024
CALLS: Final = {KIB: 512, 4 * KIB: 512, 64 * KIB: 256, MIB: 64, 32 * MIB: 4}
"""Calls of each size: what a disk of 200 MB/s that flushes in a millisecond does in half of a second."""
STREAM_BYTES: Final = 128 * MIB
"""Bytes of a stream stay in memory, where fewer would be too quick to be measured."""
MAPPED_BYTES: Final = 256 * MIB
MAPPED_TIMES: Final = 4
"""As often is a file in memory touched, where once would be too short to be measured."""
LEAST_PARTS: Final = 4
"""A file is no larger than this part of the cache, one that is to stay in memory of the dirty limit."""
PIECE_BYTES: Final = 512
"""Of bytes through a stream of the C library."""
FLOOD_BYTES: Final = 1e9
LEAST_FLOOD_PARTS: Final = 2
"""A flood is no larger than this part of the dirty limit: its writer is not throttled."""
SMALL_BYTES: Final = 4 * KIB
SMALL_SYNCS: Final = 64
DEFAULT_BLOCK: Final = "512 B"
"""`logical_block_size` of a disk that does not say it."""

CALLS_TOLERANCE: Final = Tolerance(total=0.15)
FLOOD_TOLERANCE: Final = Tolerance(total=0.20)


@dataclass(frozen=True, slots=True)
class _Calls:
    """A file, the bytes of a call, and those of all."""

    file: str
    call: int
    size: int

    def write(self) -> "Operation":
        return write(self.file, size_bytes=self.size, call_bytes=self.call)


def methods(scale: Scale, machine: "Machine") -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """Give the cases of the suite of methods.

    Parameters
    ----------
    scale : Scale
    machine : Machine
        Its first mount of a disk is where their files are.

    Returns
    -------
    cases : tuple of Case
        Also those that the disk has no room for: see `fitting`.
    left_out : tuple of str
        A sentence for each that the disk does not allow: O_DIRECT moves whole blocks.

    Raises
    ------
    StudyError
        The machine has several hosts, or no mount of a disk.
    """
    mount = mount_of(machine).rstrip("/")
    block = _block_bytes(machine)
    cases, left_out = [], []
    for method, (what, make) in _METHODS.items():
        for call in CALLS:
            name = f"{method}_{call // MIB}m" if call >= MIB else f"{method}_{call // KIB}k"
            if method == "direct" and call % block:
                left_out.append(f"{name}: O_DIRECT moves whole blocks, here of {block} B; it is left out")
                continue
            steps = make(_Calls(f"{mount}/{name}", call, _size(method, call, scale)))
            scenario = Scenario(machine, processes={"app": steps})
            cases.append(Case(name, what.format(_shown(call)), scenario, CALLS_TOLERANCE))
    for name, (what, is_cached, touch) in _MAPPINGS.items():
        file = f"{mount}/{name}"
        size = rounded(min(MAPPED_BYTES, scale.limit_bytes / LEAST_PARTS))
        there: dict[str | PathLike[str], float | File] = {}
        if is_cached is not None:
            there[file] = File(size_bytes=size, cached_bytes=size if is_cached else 0)
        scenario = Scenario(machine, processes={"app": touch(_Calls(file, MIB, size))}, files=there)
        cases.append(Case(name, what, scenario, CALLS_TOLERANCE))
    for name, (what, flood) in _FLOODS.items():
        processes, file = flood(mount)
        size = rounded(min(FLOOD_BYTES, scale.limit_bytes / LEAST_FLOOD_PARTS))
        dirty = File(size_bytes=size, cached_bytes=size, dirty_bytes=size)
        scenario = Scenario(machine, processes=processes, files={file: dirty})
        cases.append(Case(name, what, scenario, FLOOD_TOLERANCE))
    return tuple(cases), tuple(left_out)


def _block_bytes(machine: "Machine") -> int:
    disk = described(machine)["disk"][disk_of(machine)]
    return _core.parse_bytes(disk.get("logical_block_size", DEFAULT_BLOCK))


def _shown(call: int) -> str:
    return f"{call // MIB} MiB" if call >= MIB else f"{call // KIB} KiB"


def _size(method: str, call: int, scale: Scale) -> int:
    """Give the size of a file: whole calls, and at least one."""
    is_stream = method == "stdio"
    wanted = STREAM_BYTES if is_stream else call * CALLS[call]
    most = (scale.limit_bytes if is_stream else scale.cache_bytes) // LEAST_PARTS
    return max(min(wanted, most) // call, 1) * call


def _direct(calls: _Calls) -> list["Operation"]:
    past = _core.open(calls.file, create=True, flags=["O_DIRECT"])
    again = read(calls.file, call_bytes=calls.call)
    return [past, calls.write(), calls.write(), again]


def _waiting(calls: _Calls, *, flag: Literal["O_SYNC", "O_DSYNC"]) -> list["Operation"]:
    waits = _core.open(calls.file, create=True, flags=[flag])
    return [waits, calls.write(), calls.write()]


def _syncing(calls: _Calls) -> list["Operation"]:
    file, call = calls.file, calls.call
    once = [
        step
        for offset in range(0, calls.size, call)
        for step in (write(file, size_bytes=call, offset_bytes=offset, call_bytes=call), fsync(file))
    ]
    return [*once, *once]


def _stream(calls: _Calls) -> list["Operation"]:
    def through(mode: Literal["r", "w", "r+"], pieces: "Operation") -> list["Operation"]:
        buffer = setvbuf(calls.file, size_bytes=calls.call)
        return [fopen(calls.file, mode=mode), buffer, pieces, fclose(calls.file)]

    written = fwrite(calls.file, size_bytes=calls.size, call_bytes=PIECE_BYTES)
    again = fread(calls.file, call_bytes=PIECE_BYTES)
    return [*through("w", written), *through("r+", written), *through("r", again)]


def _read_mapped(calls: _Calls) -> list["Operation"]:
    return [mmap_read(calls.file) for _ in range(MAPPED_TIMES)]


def _read_mapped_once(calls: _Calls) -> list["Operation"]:
    return [mmap_read(calls.file)]


def _write_mapped(calls: _Calls) -> list["Operation"]:
    return [mmap_write(calls.file), mmap_write(calls.file), msync(calls.file)]


def _map_folios(calls: _Calls) -> list["Operation"]:
    writes = [mmap_write(calls.file) for _ in range(MAPPED_TIMES)]
    return [calls.write(), *_read_mapped(calls), *writes]


def _flood(mount: str, *, is_written: bool) -> tuple[Mapping[str, Program | Process], str]:
    """Make a small file durable again and again behind another one; give the path of that as well."""
    flood, small = f"{mount}/flood", f"{mount}/small"
    syncs = [
        step
        for offset in range(0, SMALL_SYNCS * SMALL_BYTES, SMALL_BYTES)
        for step in (write(small, size_bytes=SMALL_BYTES, offset_bytes=offset), fsync(small))
    ]
    return {"small": syncs, **({"flood": [fsync(flood)]} if is_written else {})}, flood


_METHODS: Final[dict[str, tuple[str, Callable[[_Calls], list["Operation"]]]]] = {
    "direct": (
        "O_DIRECT with calls of {}: a new file written, written over, and read.",
        _direct,
    ),
    "sync": (
        "O_SYNC with calls of {}: a new file written, and written over.",
        partial(_waiting, flag="O_SYNC"),
    ),
    "dsync": (
        "O_DSYNC with calls of {}: a new file written, and written over.",
        partial(_waiting, flag="O_DSYNC"),
    ),
    "fsync": (
        "A write of {} and an fsync, again and again: a new file written, and written over.",
        _syncing,
    ),
    "stdio": (
        "512 bytes at a time through a stream of the C library whose buffer is of {}: a new file written, "
        "written over, and read.",
        _stream,
    ),
}
"""What each case is, with the size of its calls, and what makes it."""

_MAPPINGS: Final[dict[str, tuple[str, bool | None, Callable[[_Calls], list["Operation"]]]]] = {
    "mmap_cached": ("A file in the cache is read through a shared mapping, four times.", True, _read_mapped),
    "mmap_cold": ("A cold file is read through a shared mapping.", False, _read_mapped_once),
    "mmap_written": (
        "A file in the cache is written over twice through a shared mapping, and made durable by msync.",
        True,
        _write_mapped,
    ),
    "mmap_folios": (
        "A new file is written with calls of 1 MiB, then read and written over through a shared mapping, "
        "four times each.",
        None,
        _map_folios,
    ),
}
"""What each case is, whether its file is cached or cold before time 0, or not there, and what makes it."""

_FLOODS: Final[dict[str, tuple[str, Callable[[str], tuple[Mapping[str, Program | Process], str]]]]] = {
    "flood_dirty": (
        "A small file is written and synced, 4 KiB at a time, while 1 GB of another file is dirty.",
        partial(_flood, is_written=False),
    ),
    "flood_written": (
        "The same while another process waits until that 1 GB is on the disk.",
        partial(_flood, is_written=True),
    ),
}
