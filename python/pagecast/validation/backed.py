"""Free memory that the host of a virtual machine has not taken back: memory that was in use a moment ago.

The rule is that of the model `kernel` (`mm/page_reporting.c`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast import procfs
from pagecast._core import Backed as Rule
from pagecast.comparison.machines import described

if TYPE_CHECKING:
    from pagecast._core import Machine
    from pagecast.result import Columns

__all__ = ["Backed", "free_blocks", "free_bytes", "takes_back"]

FREE: Final = "nr_free_pages_bytes"
"""The column of samples."""


class Backed:
    """Looks at the free memory again and again; at first none is backed but what is in small blocks."""

    def __init__(self) -> None:
        self._rule = Rule()

    @property
    def bytes(self) -> int:
        """How much is backed."""
        return self._rule.bytes

    def look(self, now_s: float, free_bytes: int | None, blocks: list[int] | None = None) -> None:
        """Take in the memory freed or taken since the last look.

        Parameters
        ----------
        now_s : float
            Of a clock that goes forward.
        free_bytes : int or None
            Free memory; None if that is not known.
        blocks : list of int, optional
            How many blocks of it there are of each order. Default: as at the last look.
        """
        if free_bytes is not None:
            self._rule.look(now_s, free_bytes, blocks)

    def follow(self, samples: "Columns", ended_s: float, free_bytes: int | None) -> None:
        """Take in a run that ended just now, and the memory that is free after its files are gone.

        Parameters
        ----------
        samples : Columns
            Of the run.
        ended_s : float
            Of the same clock as `look`.
        free_bytes : int or None
            Free memory now.
        """
        if FREE in samples and len(samples["time_s"]):
            since_s = ended_s - float(samples["time_s"][-1])
            for at_s, then in zip(samples["time_s"], samples[FREE], strict=True):
                self.look(since_s + float(at_s), int(then))
        self.look(ended_s, free_bytes)


def takes_back(machine: "Machine") -> bool:
    """Tell whether the host of a machine takes free memory back."""
    return "page_reported" in described(machine)["memory"].get("cost", {})


def free_bytes(proc: Path = procfs.PROC) -> int | None:
    """Give the free memory; None where it is not told."""
    kib = procfs.counts(procfs.lines(proc / "meminfo")).get("MemFree")
    return None if kib is None else procfs.KIB * kib


def free_blocks(proc: Path = procfs.PROC) -> list[int] | None:
    """Say how many free blocks there are of each order, in all zones; None where only root is told."""
    # "Node 0, zone   Normal   4187  17551 ..."
    zones = [line.split()[4:] for line in procfs.lines(proc / "buddyinfo")]
    return [sum(map(int, orders)) for orders in zip(*zones, strict=True)] or None
