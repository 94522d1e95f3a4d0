"""Free memory that the host of a virtual machine has not taken back: what was in use a moment ago.

The rule is that of the model `kernel` (`mm/page_reporting.c`): what becomes free is still backed, what is
taken was backed first, and every 2 s a sixteenth of the free memory is reported. Left out: that the last
free memory is not.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast.studies.machines import described

if TYPE_CHECKING:
    from pagecast import Columns, Machine

__all__ = ["Backed", "free_bytes", "takes_back"]

FREE: Final = "nr_free_pages_bytes"
"""The column of samples."""

DELAY_S: Final = 2.0
"""`PAGE_REPORTING_DELAY`."""
PASSES: Final = 16
"""Of the free memory, one part in so many is reported at a time."""


class Backed:
    """Looks at the free memory again and again; at first none is backed."""

    def __init__(self) -> None:
        self.bytes = 0.0
        self._free: float | None = None
        self._pass_s = 0.0

    def look(self, now_s: float, free: float | None) -> None:
        """See what has become free or was taken since the last look.

        Parameters
        ----------
        now_s : float
            Of a clock that goes forward.
        free : float or None
            Bytes that nobody uses; None if that is not known.
        """
        if free is None:
            return
        before = free if self._free is None else self._free
        while self.bytes and self._pass_s <= now_s:
            self.bytes = max(0.0, self.bytes - before / PASSES)
            self._pass_s += DELAY_S
        if not self.bytes:
            self._pass_s = now_s + DELAY_S
        self.bytes = max(0.0, self.bytes + free - before)
        self._free = free

    def follow(self, samples: "Columns", ended_s: float, free: float | None) -> None:
        """See what a run did that ended just now, and what is free after its files are gone.

        Parameters
        ----------
        samples : Columns
            Of the run.
        ended_s : float
            Of the same clock as `look`.
        free : float or None
            Bytes that nobody uses now.
        """
        if FREE in samples and len(samples["time_s"]):
            since_s = ended_s - float(samples["time_s"][-1])
            for at_s, then in zip(samples["time_s"], samples[FREE], strict=True):
                self.look(since_s + float(at_s), float(then))
        self.look(ended_s, free)


def takes_back(machine: "Machine") -> bool:
    """Tell whether the host of a machine takes free memory back."""
    return "page_reported" in described(machine)["memory"].get("cost", {})


def free_bytes(proc: Path = Path("/proc")) -> float | None:
    """Give the free memory; None where it is not told."""
    try:
        lines = (proc / "meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemFree:")), None)
