"""How large the cases of the standard suite are: by memory, dirty limit and disk of this machine."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast.calibration import facts_at
from pagecast.comparison.machines import described, disk_of

if TYPE_CHECKING:
    from pagecast._core import Machine
    from pagecast.calibration.facts import Facts

__all__ = ["MIB", "Scale", "rounded"]

MIB: Final = 1 << 20
STEP_BYTES: Final = 4 * MIB
"""Sizes of files are whole multiples of the largest call, so that all calls of a case are equal."""
KERNEL_LIMIT_SHARE: Final = 0.2
"""`vm.dirty_ratio` of a kernel that does not tell its limit: `mm/page-writeback.c`, `vm_dirty_ratio`."""


def rounded(size_bytes: float) -> int:
    """Give a size as the cases use it: a whole multiple of 4 MiB, and at least that."""
    return max(int(size_bytes) // STEP_BYTES * STEP_BYTES, STEP_BYTES)


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes that cases are made of, in bytes.

    `cache_bytes` is memory that the page cache can have, `limit_bytes` about the dirty limit; `room_bytes`
    is the room on the disk for all files of a case.
    """

    limit_bytes: int
    cache_bytes: int
    room_bytes: int

    @classmethod
    def here(cls, directory: str | os.PathLike[str], machine: "Machine") -> "Scale":
        """Read the sizes of this machine as it is now; needs no root.

        A process in a memory cgroup has the memory of that, and as much of the dirty limit as it has of the
        memory.

        Parameters
        ----------
        directory : path-like
            Where the cases will run.
        machine : Machine
            The machine to simulate them on: their files must fit on its disk, too.

        Raises
        ------
        ProbeError
            There is no such directory, it may not be written to, or it is in memory.
        StudyError
            The machine has several hosts, or no mount of a disk.
        """
        return _scale(facts_at(Path(directory)), machine)


def _scale(facts: "Facts", machine: "Machine") -> Scale:
    from pagecast import _core

    memory = facts.memory
    cache = min([memory.usable_bytes, *(group.limit_bytes for group in facts.groups)])
    limit = memory.limit_bytes or KERNEL_LIMIT_SHARE * memory.usable_bytes
    disk = described(machine)["disk"][disk_of(machine)]
    return Scale(
        limit_bytes=rounded(limit * cache / memory.usable_bytes),
        cache_bytes=rounded(cache),
        room_bytes=min(facts.mount.free_bytes, _core.parse_bytes(disk["size"])),
    )
