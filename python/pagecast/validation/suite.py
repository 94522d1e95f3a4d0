"""The standard suite: uses of a page cache, as small programs scaled to a machine.

The same cases as those of the test bed's guest (`bed/cases.py`; a test compares them), for a machine that
cannot be emptied: files are made cold before time 0, or leave the page cache by `posix_fadvise`, so that no
case needs root. At the end of a case its files are synced and removed, and this counts. No model
has been fitted to any of them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Final

from pagecast import _core
from pagecast._core import (
    compute,
    fadvise,
    fclose,
    fdatasync,
    fopen,
    fread,
    fsync,
    fwrite,
    read,
    sleep,
    unlink,
    write,
)
from pagecast.api import File, Process, Program, Scenario
from pagecast.comparison.machines import mount_of
from pagecast.errors import ScenarioError
from pagecast.tolerance import Tolerance
from pagecast.validation.case import Case
from pagecast.validation.scale import MIB, Scale, rounded

if TYPE_CHECKING:
    from pagecast._core import Machine, Operation

__all__ = ["Scale", "shuffled", "standard"]

KIB: Final = 1024
CALLS: Final = (64 * KIB, MIB, 4 * MIB)
"""Of direct I/O, or of calls that each wait for the disk."""
PAST_BYTES: Final = 96 * MIB
RANDOM_CALL_BYTES: Final = 64 * KIB
MOST_RANDOM_BYTES: Final = 1 << 30
"""16,384 calls, which take a disk that turns minutes."""
STREAM_CALL_BYTES: Final = 512
"""Of bytes through a stream of the C library, which writes and reads 4096 bytes at a time."""
EXPIRED_S: Final = 40.0
"""Dirty data is written when it is 30 s old, and somebody looks every 5 s (`vm.dirty_*_centisecs`)."""


@dataclass(frozen=True, slots=True)
class _Workload:
    """Who does what, and the files that are there before, cold: their sizes in bytes by path."""

    processes: Mapping[str, Program | Process]
    files: Mapping[str | PathLike[str], float | File] = field(default_factory=dict)


LARGE_DISK: Final = "1000 TB"
"""Larger than the files of any case."""


def standard(scale: Scale, machine: "Machine") -> tuple[Case, ...]:
    """Give the cases of the standard suite.

    Parameters
    ----------
    scale : Scale
    machine : Machine
        Its first mount of a disk is where their files are.

    Returns
    -------
    tuple of Case
        Also those that the disk has no room for: see `fitting`.

    Raises
    ------
    StudyError
        The machine has several hosts, or no mount of a disk.
    """
    mount = mount_of(machine).rstrip("/")
    cases = []
    for name, (what, make) in _CASES.items():
        workload = make(scale, mount)
        try:
            scenario = Scenario(machine, processes=workload.processes, files=workload.files)
        except ScenarioError:
            # Its files do not fit on the disk. `fitting` leaves it out, and says how much it needs.
            roomy = with_large_disks(machine)
            scenario = Scenario(roomy, processes=workload.processes, files=workload.files)
        cases.append(Case(name, what, scenario, Tolerance()))
    return tuple(cases)


def with_large_disks(machine: "Machine") -> "Machine":
    """Give a machine of one host whose disks have room for every case; all else is the same."""
    text = re.sub(r'(?m)(^\[machine\.disk\..*\]\nsize = )".*"', rf'\1"{LARGE_DISK}"', machine.to_toml())
    return _core.Machine.from_toml(text.encode(), "machine", base_dir=".", machine_dir=".")


def shuffled(count: int, seed: int) -> list[int]:
    """Give 0 to count - 1 in an order that is always the same (a linear congruential generator)."""
    keys, state = [], seed
    for index in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        keys.append((state >> 33, index))
    return [index for _, index in sorted(keys)]


def _write(path: str, size: int, *, offset: int = 0, call: int = MIB) -> "Operation":
    return write(path, size_bytes=size, offset_bytes=offset, call_bytes=call)


def _read(path: str, *, call: int = MIB) -> "Operation":
    return read(path, call_bytes=call)


def _gone(*paths: str) -> list["Operation"]:
    """Wait until the writes are on the disk, so that they do not disturb the next steps; remove it."""
    return [*map(fsync, paths), *map(unlink, paths)]


def _past_the_limit(scale: Scale, mount: str) -> _Workload:
    file = f"{mount}/fa"
    return _Workload({"app": [_write(file, 2 * scale.limit_bytes), sleep(3), *_gone(file)]})


def _with_pauses(scale: Scale, mount: str) -> _Workload:
    file, part = f"{mount}/fb", scale.limit_bytes // 2
    bursts = [step for k in range(6) for step in (_write(file, part, offset=k * part), sleep(1))]
    return _Workload({"app": [*bursts, *_gone(file)]})


def _cold_and_warm(scale: Scale, mount: str) -> _Workload:
    file = f"{mount}/fc"
    cold = fadvise(file, advice="dontneed")
    steps = [_read(file), _read(file), cold, _read(file, call=64 * KIB), unlink(file)]
    return _Workload({"app": steps}, {file: scale.cache_bytes // 4})


def _application(scale: Scale, mount: str, *, share: float) -> _Workload:
    size = rounded(scale.cache_bytes * share)
    files = [f"{mount}/d{number}" for number in (1, 2, 3, 4)]
    steps = [
        step
        for source, target in pairwise(files)
        for step in (_read(source), compute(0.5), _write(target, size))
    ]
    return _Workload({"app": [*steps, unlink(files[0]), *_gone(*files[1:])]}, {files[0]: size})


def _larger_than_memory(scale: Scale, mount: str) -> _Workload:
    file = f"{mount}/fe"
    return _Workload(
        {"app": [_read(file), _read(file), unlink(file)]}, {file: rounded(scale.cache_bytes * 1.25)}
    )


def _writers(scale: Scale, mount: str, *, count: int) -> _Workload:
    size = rounded(2 * scale.limit_bytes / count)
    files = [f"{mount}/f{number}" for number in range(count)]
    writers = {f"writer{number}": Process([_write(file, size)]) for number, file in enumerate(files)}
    readers = {
        f"reader{number}": Process([_read(file)], after=list(writers)) for number, file in enumerate(files)
    }
    end = Process(_gone(*files), after=list(readers))
    return _Workload({**writers, **readers, "end": end})


def _reader_against_writer(scale: Scale, mount: str) -> _Workload:
    size, source, target = 2 * scale.limit_bytes, f"{mount}/g1", f"{mount}/g2"
    processes = {
        "reader": Process([_read(source)]),
        "writer": Process([_write(target, size)]),
        "end": Process([*_gone(target), unlink(source)], after=["reader", "writer"]),
    }
    return _Workload(processes, {source: size})


def _overwrites(scale: Scale, mount: str) -> _Workload:
    small, large = f"{mount}/h1", f"{mount}/h2"
    again = [_write(small, rounded(scale.limit_bytes / 5))] * 20
    past = [_write(large, rounded(scale.limit_bytes * 1.5))] * 2
    return _Workload({"app": [*again, fsync(small), *past, fsync(large), unlink(small), unlink(large)]})


def _random(scale: Scale, mount: str) -> _Workload:
    file, size = f"{mount}/fi", min(rounded(scale.limit_bytes * 0.75), MOST_RANDOM_BYTES)
    call = RANDOM_CALL_BYTES

    def app() -> list["Operation"]:
        places = (shuffled(size // call, seed) for seed in (1, 2))
        writes, reads = ([place * call for place in each] for each in places)
        return [
            *(_write(file, call, offset=offset, call=call) for offset in writes),
            fsync(file),
            fadvise(file, advice="dontneed"),
            *(read(file, offset_bytes=offset, size_bytes=call, call_bytes=call) for offset in reads),
            unlink(file),
        ]

    return _Workload({"app": app}, {file: size})


def _direct(scale: Scale, mount: str) -> _Workload:
    file, size = f"{mount}/fj", min(PAST_BYTES, scale.cache_bytes)
    past = _core.open(file, flags=["O_DIRECT"])
    calls = [*(_write(file, size, call=call) for call in CALLS), *(_read(file, call=call) for call in CALLS)]
    return _Workload({"app": [past, *calls, unlink(file)]}, {file: size})


def _synchronous(scale: Scale, mount: str) -> _Workload:
    size = min(PAST_BYTES, scale.cache_bytes)
    files = {f"{mount}/k{call // KIB}k": call for call in CALLS}
    last = f"{mount}/kf"
    waits = [
        step
        for file, call in files.items()
        for step in (_core.open(file, create=True, flags=["O_SYNC"]), _write(file, size, call=call))
    ]
    places = range(0, size, MIB)
    syncs = [step for place in places for step in (_write(last, MIB, offset=place), fdatasync(last))]
    return _Workload({"app": [*waits, *syncs, *map(unlink, (*files, last))]})


def _periodic(scale: Scale, mount: str) -> _Workload:
    file = f"{mount}/fl"
    cold = fadvise(file, advice="dontneed")
    steps = [_write(file, rounded(scale.limit_bytes / 5)), sleep(EXPIRED_S), cold, _read(file)]
    return _Workload({"app": [*steps, *_gone(file)]})


def _unlink_dirty(scale: Scale, mount: str) -> _Workload:
    size, files = rounded(scale.limit_bytes * 0.8), [f"{mount}/n{number}" for number in range(4)]
    return _Workload(
        {"app": [step for file in files for step in (_write(file, size), unlink(file), sleep(0.2))]}
    )


def _stream(scale: Scale, mount: str) -> _Workload:
    file, size = f"{mount}/fo", rounded(scale.limit_bytes / 5)
    written = [
        fopen(file, mode="w"),
        fwrite(file, size_bytes=size, call_bytes=STREAM_CALL_BYTES),
        fclose(file),
    ]
    again = [fopen(file, mode="r"), fread(file, call_bytes=STREAM_CALL_BYTES), fclose(file)]
    return _Workload({"app": [*written, *again, *_gone(file)]})


_CASES: Final[dict[str, tuple[str, Callable[[Scale, str], _Workload]]]] = {
    "a_seqwrite": (
        "One process writes twice the dirty limit, is idle, and waits for the disk.",
        _past_the_limit,
    ),
    "b_pauses": (
        "Six writes of half of the dirty limit each, a second of idle time after each.",
        _with_pauses,
    ),
    "c_read": (
        "A quarter of the cache read cold, then warm, then cold with calls of 64 KiB.",
        _cold_and_warm,
    ),
    "d04_app": (
        "Three tasks, each reads a file, computes, and writes the next; a file is 0.4 of the cache.",
        partial(_application, share=0.4),
    ),
    "d08_app": (
        "The same with files of 0.8 of the cache.",
        partial(_application, share=0.8),
    ),
    "e_reread": (
        "A file a quarter larger than the cache, read twice.",
        _larger_than_memory,
    ),
    "f1_writers": (
        "One process writes twice the dirty limit, then another reads it.",
        partial(_writers, count=1),
    ),
    "f2_writers": (
        "Two processes write twice the dirty limit together, then two read it.",
        partial(_writers, count=2),
    ),
    "f4_writers": (
        "The same with four writers and four readers.",
        partial(_writers, count=4),
    ),
    "f8_writers": (
        "The same with eight writers and eight readers.",
        partial(_writers, count=8),
    ),
    "g_rw": (
        "One process reads a cold file while another writes twice the dirty limit.",
        _reader_against_writer,
    ),
    "h_overwrite": (
        "A fifth of the limit overwritten in the cache, over and over; then 1.5 times the limit, twice.",
        _overwrites,
    ),
    "i_random": (
        "Calls of 64 KiB in random order: writes over a cold file, then reads of it, cold.",
        _random,
    ),
    "j_direct": (
        "O_DIRECT with calls of three sizes, writing over a file and reading it.",
        _direct,
    ),
    "k_sync": (
        "O_SYNC with calls of three sizes; then an fdatasync after each MiB.",
        _synchronous,
    ),
    "l_periodic": (
        "A fifth of the limit is written; 40 s later what is clean by itself is dropped, and all is read.",
        _periodic,
    ),
    "n_unlink": (
        "Dirty files are removed before they are on the disk, and the limit is there for the next one.",
        _unlink_dirty,
    ),
    "o_calls4k": (
        "512 bytes at a time through a stream of the C library, written and read, within the limit.",
        _stream,
    ),
}
"""What each case is, and what makes it."""
