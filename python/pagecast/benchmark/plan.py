"""Plans the measurements of a benchmark before anything is touched."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from pagecast import _core
from pagecast.arguments import (
    check_mapping,
    check_number,
    check_path,
    check_text,
    listed,
    texts,
    written,
)
from pagecast.errors import ArgumentError

__all__ = [
    "ACCESSES",
    "BLOCK_BYTES",
    "DEFAULT_CALLS",
    "DEFAULT_SIZE",
    "LARGEST_CALL",
    "MODES",
    "SETTINGS",
    "Cell",
    "Plan",
    "call_text",
    "direction",
]

MODES = ("buffered", "direct")
"""Through the page cache, or past it (O_DIRECT)."""

ACCESSES = ("write-new", "overwrite", "read-cold", "read-warm")
"""Writing new files, overwriting cached ones, reading files that are not cached, reading cached ones."""

SETTINGS = tuple(_core.DIRTY_SETTINGS)
"""Settings that may be changed for the time of a benchmark."""

BLOCK_BYTES = 4096
"""Calls are multiples of it: as O_DIRECT requires."""

LARGEST_CALL = 16 << 20
_MOST = 2**53
DEFAULT_CALLS = (4 << 10, 64 << 10, 1 << 20)
DEFAULT_SIZE = 256 << 20


class Cell(NamedTuple):
    """One field of the matrix.

    Attributes
    ----------
    target : {"file", "device"}
    mode : {"buffered", "direct"}
    access : {"write-new", "overwrite", "read-cold", "read-warm"}
    call_bytes : int
    threads : int
    """

    target: str
    mode: str
    access: str
    call_bytes: int
    threads: int

    @property
    def direction(self) -> str:
        """Which way bytes go: "read" or "write"."""
        return direction(self.access)

    @property
    def call_text(self) -> str:
        """The size of a call for a person."""
        return call_text(self.call_bytes)

    def __str__(self) -> str:
        """Give it for a person: "buffered write new, 64 KiB, 2 threads"."""
        on = "" if self.target == "file" else " of the device"
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return f"{self.mode} {self.access.replace('-', ' ')}{on}, {self.call_text}, {threads}"

    def asked(self) -> dict[str, Any]:
        """Give it as the core takes it."""
        return {
            "mode": self.mode,
            "access": self.access,
            "on_device": self.target == "device",
            "call_bytes": self.call_bytes,
            "threads": self.threads,
        }


def call_text(call_bytes: int) -> str:
    """Give the size of a call as it was asked for: "64 KiB"."""
    kib = call_bytes // 1024
    return f"{kib} KiB" if kib % 1024 else f"{kib // 1024} MiB"


def direction(access: str) -> str:
    """Give which way bytes go: "read" or "write"."""
    return "read" if access.startswith("read") else "write"


@dataclass(frozen=True)
class Plan:
    """The matrix and how it is measured.

    Parameters
    ----------
    calls : sequence of int
        Bytes of a call: multiples of 4096 up to 16 MiB.
    threads : sequence of int, optional
        One, and as many as there are processors, if not given.
    modes, accesses : sequence of str
        Some of `MODES` and of `ACCESSES`.
    size_bytes : int
        Bytes that all threads of a cell read or write together.
    repetitions : int
    limit_s : float
        No measurement takes longer; the bytes moved until then count.
    device : path-like, optional
        A block device that is measured too; its content is lost.
    settings : dict
        Kernel settings (`vm.dirty_*`) for the time of the benchmark.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        A value that is not possible.
    """

    calls: Sequence[int] = DEFAULT_CALLS
    threads: Sequence[int] = ()
    modes: Sequence[str] = MODES
    accesses: Sequence[str] = ACCESSES
    size_bytes: int = DEFAULT_SIZE
    repetitions: int = 3
    limit_s: float = 10.0
    device: Path | None = None
    settings: dict[str, int] | None = None

    def __post_init__(self) -> None:
        cores = len(os.sched_getaffinity(0))
        chosen = {
            "calls": _each_once("calls", self.calls or DEFAULT_CALLS),
            "threads": _each_once("threads", self.threads or (1, cores)),
            "modes": _known("mode", self.modes, MODES),
            "accesses": _known("access", self.accesses, ACCESSES),
            "device": None if self.device is None else Path(self.device),
            "settings": check_mapping("settings", self.settings, "{'vm.dirty_ratio': 40}"),
            "size_bytes": _whole("size_bytes", self.size_bytes),
            "repetitions": _whole("repetitions", self.repetitions),
            "limit_s": check_number("limit_s", self.limit_s, of="seconds"),
        }
        for name, value in chosen.items():
            object.__setattr__(self, name, value)
        for call in self.calls:
            if call % BLOCK_BYTES or not BLOCK_BYTES <= call <= LARGEST_CALL:
                raise ArgumentError(f"a call of {call} bytes is no multiple of 4096 up to 16777216 (16 MiB)")
        if min(self.threads) < 1 or self.repetitions < 1 or self.size_bytes < 1 or not self.limit_s > 0:
            raise ArgumentError("threads, repetitions, size_bytes and limit_s must be greater than 0")
        if max(*self.threads, self.repetitions, self.size_bytes, self.limit_s) > _MOST:
            raise ArgumentError(f"threads, repetitions, size_bytes and limit_s must be {_MOST} at most")
        for setting, wanted in (self.settings or {}).items():
            _check_setting(setting, wanted)

    def cells(self) -> Iterator[Cell]:
        """Give every field of the matrix, in the order in which they are measured."""
        for target in ("file", *(("device",) if self.device else ())):
            for threads in self.threads:
                for call in self.calls:
                    for mode in self.modes:
                        for access in self.accesses:
                            yield Cell(target, mode, access, call, threads)

    def written_bytes(self) -> int:
        """Give about how much is written in all; less if measurements reach the limit."""
        once = sum(self._share(cell) for cell in self.cells() if cell.direction == "write")
        made = 0 if self.accesses[0] == "write-new" else sum(map(self._whole, self.threads))
        return self.repetitions * (once + made)

    def read_bytes(self) -> int:
        """Give about how much is read in all, without the reads that fill the cache."""
        return self.repetitions * sum(self._share(cell) for cell in self.cells() if cell.direction == "read")

    def _share(self, cell: Cell) -> int:
        return self._whole(cell.threads)

    def _whole(self, threads: int) -> int:
        return self.size_bytes // threads // BLOCK_BYTES * BLOCK_BYTES * threads

    def needed(self) -> dict[str, Any]:
        """Give the values that the core checks."""
        return {
            "size_bytes": self.size_bytes,
            "call_bytes": max(self.calls),
            "threads": max(self.threads),
            "is_cached": not {"overwrite", "read-warm"}.isdisjoint(self.accesses),
        }

    def check(self, dir: str | os.PathLike[str]) -> dict[str, Any]:
        """Check that it can be measured in a directory; changes nothing.

        Parameters
        ----------
        dir : path-like

        Returns
        -------
        dict
            ``file_system``, ``caution`` (a warning about it, or None), ``device`` (the name of the block
            device below, or None), ``free_bytes``, ``available_bytes``.

        Raises
        ------
        ProbeError
            There is no such directory, it is in memory, or there is not enough room or memory; the device is
            none, in use or too small.
        NotAllowedError
            The directory or the device may not be written to.
        """
        place = _core.bench_check(check_path("dir", dir), **self.needed())
        if self.device is not None:
            _core.bench_check_device(self.device, size_bytes=self.size_bytes)
        return place


def _each_once(name: str, values: Sequence[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_whole(name, value) for value in listed(name, values)))


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"{name}: {written(value)} is no whole number")
    return value


def _known(name: str, words: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    chosen = texts(name, words)
    for word in chosen:
        if word not in known:
            raise ArgumentError(f"there is no {name} {word!r}; there are {', '.join(known)}")
    return tuple(word for word in known if word in chosen) or tuple(known)


def _check_setting(name: str, value: int) -> None:
    check_text("setting", name)
    if name not in SETTINGS:
        nearest = get_close_matches(name, SETTINGS, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(SETTINGS)}"
        raise ArgumentError(f"{name} is no setting that can be changed here; {hint}")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise ArgumentError(f"{name} = {written(value)}: is no whole number from 0")
