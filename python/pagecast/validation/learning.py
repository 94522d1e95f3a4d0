"""The estimates of kernel, disk and host before a run, for the model `kernel`: measured, never set by hand.

The write bandwidth and this disk's part of the recent writes are read just before time 0
(/sys/kernel/debug/bdi); the part is reckoned where that is not told (`Writeout`). With ``trace=True`` the
run's own events tell the base rate of writers too, as of its first update, the limit in force before any
writer was throttled, and the bandwidth where nothing else does. What of the free memory the host of a
virtual machine has not taken back is reckoned, too (`Backed`).
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pagecast.comparison.learnt import Learnt
from pagecast.comparison.machines import described
from pagecast.throttling import limit_before_bytes
from pagecast.validation.backed import Backed, free_blocks, free_bytes, takes_back
from pagecast.validation.writeout import Writeout

if TYPE_CHECKING:
    from pagecast._core import Machine
    from pagecast.running import Measured, Plan

__all__ = ["COSTED", "Learning"]

COSTED: Final = "kernel"
"""The model that has such options."""


class Learning:
    """Looks at disks and free memory before and after each of several runs."""

    def __init__(self) -> None:
        self._writeout = Writeout()
        self._backed = Backed()
        self._backed_bytes = 0
        self._free_blocks: list[int] | None = None

    def before(self, plan: "Plan") -> None:
        """Look just before a run.

        Parameters
        ----------
        plan : Plan
            Of the run.
        """
        self._writeout.look()
        self._free_blocks = free_blocks()
        self._backed.look(time.monotonic(), free_bytes(), self._free_blocks)
        # Files that are made before time 0 leave the memory that they took.
        self._backed_bytes = max(self._backed.bytes, plan.prepared_bytes)

    def after(self, plan: "Plan", measured: "Measured", machine: "Machine") -> dict[str, str]:
        """Look after it, and give the estimates from before it.

        Parameters
        ----------
        plan : Plan
        measured : Measured
            What came of it.
        machine : Machine
            On which the forecast is.

        Returns
        -------
        dict of str
            Options of the model; nothing where nothing is known.
        """
        self._backed.follow(measured.samples, time.monotonic(), free_bytes())
        bdi = (measured.learnt or {}).get("bdi")
        share = self._writeout.share(bdi, plan.prepared_bytes)
        options = _of_disk(measured, _disks(machine, plan.paths), share)
        if measured.prepared_s and _gives_blocks_back(machine):
            options["prepared"] = f"{measured.prepared_s} s"
        if takes_back(machine):
            options["backed"] = f"{self._backed_bytes} B"
            if self._free_blocks:
                options["free_blocks"] = " ".join(map(str, self._free_blocks))
        return options


def _of_disk(measured: "Measured", disks: set[str], share: float | None) -> dict[str, str]:
    """Give the kernel's values, or else those of its events; `share` is the disk's part of writing."""
    told = measured.learnt or {}
    limit, whole = told.get("dirty_limit_bytes"), told.get("whole_limit_bytes")
    bandwidth, base_rate = _traced(measured, told.get("bdi"))
    if limit and whole:
        share = limit / whole
    learnt = Learnt(
        write_bandwidth_bytes_per_s=told.get("write_bandwidth_bytes_per_s") or bandwidth,
        dirty_ratelimit_bytes_per_s=base_rate,
        dirty_limit_bytes=limit_before_bytes(measured),
        # Of several disks that stand for the only one here, nobody knows the parts.
        writeout_fraction=share if len(disks) == 1 else None,
    )
    return learnt.options(next(iter(disks), ""))


def _gives_blocks_back(machine: "Machine") -> bool:
    return any("block_free" in mount for mount in described(machine).get("mount", {}).values())


def _traced(measured: "Measured", bdi: str | None) -> tuple[float | None, float | None]:
    """Give bandwidth and base rate at the first update that was traced of this disk, or of the only one."""
    devices = measured.bdi
    traced = devices["device"]
    if bdi not in traced:
        # Where files have a number of their own (btrfs), so has their write-back.
        if len(set(traced)) != 1:
            return None, None
        bdi = traced[0]
    names = ("avg_write_bandwidth_bytes_per_s", "dirty_ratelimit_bytes_per_s")
    bandwidth, rate = (float(devices[name][traced.index(bdi)]) for name in names)
    return bandwidth, rate


def _disks(machine: "Machine", paths: Iterable[str]) -> set[str]:
    """Name the disks of the machine that files are on."""
    mounts = {path.rstrip("/") + "/": mount for path, mount in described(machine).get("mount", {}).items()}
    nearest = (max((each for each in mounts if path.startswith(each)), key=len, default="") for path in paths)
    return {str(mounts[each]["disk"]) for each in nearest if "disk" in mounts.get(each, {})}
