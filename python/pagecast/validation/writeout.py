"""Computes a disk's part of the bytes written lately, where the kernel does not tell: debugfs is for root.

The kernel gives each disk that part of the dirty limit, and forgets half of the written bytes every 3 s
(`VM_COMPLETIONS_PERIOD_LEN`, mm/page-writeback.c). Here the disks' own counters stand for its, from the first
look on. They count direct I/O, too, which does not matter where one disk does nearly all of
the writing, as in a measurement.
"""

import time
from pathlib import Path
from typing import Final

from pagecast import procfs

__all__ = ["Writeout"]

HALVED_S: Final = 3.0
SECTOR_BYTES: Final = 512
WRITTEN: Final = 6
"""The place of "write sectors" in `stat` of a disk (Documentation/block/stat.rst)."""


class Writeout:
    """Looks at the disks that hold file systems, again and again.

    Parameters
    ----------
    proc, sys : Path
        Where they are mounted.
    """

    def __init__(self, proc: Path = procfs.PROC, sys: Path = procfs.SYS) -> None:
        self._proc, self._sys = proc, sys
        self._at_s: float | None = None
        self._written: dict[str, int] = {}
        self._lately: dict[str, float] = {}

    def look(self, now_s: float | None = None) -> None:
        """Read the bytes that each disk has written since the last look.

        Parameters
        ----------
        now_s : float, optional
            A time of one's own clock.
        """
        now_s = time.monotonic() if now_s is None else now_s
        kept = 1.0 if self._at_s is None else 0.5 ** ((now_s - self._at_s) / HALVED_S)
        written = {disk: self._written_of(disk) for disk in self._disks()}
        self._lately = {
            disk: kept * self._lately.get(disk, 0.0) + now - self._written.get(disk, now)
            for disk, now in written.items()
        }
        self._written, self._at_s = written, now_s

    def share(self, disk: str | None, more_bytes: int = 0) -> float | None:
        """Give the part of a disk.

        Parameters
        ----------
        disk : str or None
            Its numbers, "254:0".
        more_bytes : int
            Bytes written to it since the last look.

        Returns
        -------
        float or None
            0 to 1; None if the disk is not known, or nobody has written.
        """
        if disk not in self._lately:
            return None
        own = self._lately[disk] + more_bytes
        whole = sum(self._lately.values()) + more_bytes
        return own / whole if whole > 0 else None

    def _disks(self) -> set[str]:
        """Give the numbers of the whole disks that hold mounted file systems."""
        found = set()
        for each in procfs.mounted(self._proc):
            place = procfs.block_device(each.device, each.source, self._sys)
            if place is None:
                continue
            disk = place.parent if (place / "partition").exists() else place
            if (number := procfs.text(disk / "dev")) is not None:
                found.add(number)
        return found

    def _written_of(self, disk: str) -> int:
        fields = (procfs.text(self._sys / "dev/block" / disk / "stat") or "").split()
        return SECTOR_BYTES * int(fields[WRITTEN]) if len(fields) > WRITTEN else 0
