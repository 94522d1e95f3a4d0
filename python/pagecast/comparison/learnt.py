"""Gives a kernel's estimates of a disk before time 0 as options of the model `kernel`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Learnt"]

KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class Learnt:
    """What is known of it; None and False where it is not.

    `dirty_limit_bytes` is the limit in force, of all disks together. `writeout_fraction` is this disk's
    part of the bytes written lately, 0 to 1, and `completions_bytes` their number, where it was small.
    """

    write_bandwidth_bytes_per_s: float | None = None
    dirty_ratelimit_bytes_per_s: float | None = None
    dirty_limit_bytes: float | None = None
    writeout_fraction: float | None = None
    completions_bytes: float | None = None

    def options(self, disk: str) -> dict[str, str]:
        """Give it as options of the model.

        Parameters
        ----------
        disk : str
            The disk that is written to.
        """
        rates: Mapping[str, float | None] = {
            "write_bandwidth": self.write_bandwidth_bytes_per_s,
            "dirty_ratelimit": self.dirty_ratelimit_bytes_per_s,
        }
        known = {name: f"{rate / KIB:.0f} KiB/s" for name, rate in rates.items() if rate}
        if self.dirty_limit_bytes:
            known["dirty_limit"] = f"{self.dirty_limit_bytes / KIB:.0f} KiB"
        if self.writeout_fraction:
            known["writeout_fraction"] = f"{disk} {100 * min(self.writeout_fraction, 1.0):.3g} %"
            if self.completions_bytes is not None:
                known["completions"] = f"{self.completions_bytes / KIB:.0f} KiB"
        return known
