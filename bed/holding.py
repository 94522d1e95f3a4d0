"""Less memory around: a process holds anonymous memory until only so much is left as was asked for."""

import mmap
import subprocess
import sys
from pathlib import Path
from typing import Final

from bed.asking import MIB
from bed.packages import BedError
from bed.undoing import Undo, started_at

__all__ = ["LEAST_LEFT_MIB", "available_mib", "held_bytes", "hold_all_but"]

LEAST_LEFT_MIB: Final = 512
"""Less is not left to the machine: it must stay usable."""

MARGIN_MIB: Final = 64
"""Of what is left, so much is never taken, not even for a moment."""
MOST_REPORTING_ORDER: Final = 10
"""A free block of 2^10 pages is the largest that there is (include/linux/mmzone.h: MAX_PAGE_ORDER, x86)."""

_REPORTING: Final = Path("/sys/module/page_reporting/parameters/page_reporting_order")


def available_mib(meminfo: str) -> int:
    """Say how much memory is available, in MiB."""
    return _kib(meminfo)["MemAvailable:"] >> 10


def _kib(meminfo: str) -> dict[str, int]:
    return {words[0]: int(words[1]) for line in meminfo.splitlines() if len(words := line.split()) >= 2}


def held_bytes(meminfo: str, left_mib: int) -> int:
    """Say how much memory must be held, in bytes, so that so much stays available.

    Raises
    ------
    BedError
        There is less than that, or held pages could be swapped out.
    """
    kib = _kib(meminfo)
    if kib["SwapTotal:"]:
        raise BedError(
            "swap is on, and what is held would go there; `swapoff -a` first, or leave out --leave"
        )
    spare = kib["MemAvailable:"] * 1024 - left_mib * MIB
    if spare < 0:
        raise BedError(f"only {available_mib(meminfo)} MiB are available; --leave {left_mib} is more")
    return spare


def _keep_from_host(undo: Undo) -> int:
    """Let the kernel give only the largest free blocks back to a host; gives their size, in bytes.

    Source: mm/page_reporting.c, ``page_reporting_order``. Smaller ones stay usable for large folios.
    """
    if _REPORTING.exists():
        undo.note("write", str(_REPORTING), _REPORTING.read_text().strip())
        _REPORTING.write_text(str(MOST_REPORTING_ORDER))
    return mmap.PAGESIZE << MOST_REPORTING_ORDER


def hold_all_but(left_mib: int, undo: Undo) -> None:
    """Start a process that holds anonymous memory, and wait until it has it.

    Raises
    ------
    BedError
        There is less than what is to be left, or what is held could be swapped out.
    """
    size = held_bytes(Path("/proc/meminfo").read_text(), left_mib)
    left = max(left_mib - MARGIN_MIB, 0) * MIB
    piece = _keep_from_host(undo)
    holder = subprocess.Popen(
        [sys.executable, "-m", "bed.holder", str(size), str(left), str(piece)],
        cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    undo.note("kill", str(holder.pid), started_at(holder.pid) or "")
    assert holder.stdout is not None
    if holder.stdout.readline() != b"held\n":
        raise BedError(f"{size // MIB} MiB of memory cannot be held")
