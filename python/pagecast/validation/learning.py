"""What the kernel and the disk had learnt before a run, for the model `kernel`: measured, never set by hand.

The write bandwidth and what part of what was written lately went to this disk are asked for just before
time 0 (/sys/kernel/debug/bdi); the part is reckoned where that is not told (`Writeout`). With ``trace=True``
the run's own events tell the base rate of writers too, as of its first update, the limit in force before any
writer was held back, and the bandwidth where nothing else does.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pagecast.studies.learnt import Learnt
from pagecast.studies.machines import described
from pagecast.throttling import limit_before_bytes

if TYPE_CHECKING:
    from pagecast import Machine
    from pagecast.running import Measured

__all__ = ["COSTED", "learnt_options"]

COSTED: Final = "kernel"
"""The model that has such options."""


def learnt_options(
    measured: "Measured", machine: "Machine", paths: Iterable[str], share: float | None = None
) -> dict[str, str]:
    """Give what was learnt before a run as options of the model.

    Parameters
    ----------
    measured : Measured
    machine : Machine
        On which the forecast is.
    paths : iterable of str
        The files of the scenario.
    share : float, optional
        What part of what was written lately went to this disk, where the kernel does not tell; 0 to 1.

    Returns
    -------
    dict of str
        Nothing where nothing is known.
    """
    told = measured.learnt or {}
    limit, whole = told.get("dirty_limit_bytes"), told.get("whole_limit_bytes")
    traced = _traced(measured, told.get("bdi"))
    disks = _disks(machine, paths)
    if limit and whole:
        share = limit / whole
    learnt = Learnt(
        write_bandwidth_bytes_per_s=told.get("write_bandwidth_bytes_per_s") or traced[0],
        dirty_ratelimit_bytes_per_s=traced[1],
        dirty_limit_bytes=limit_before_bytes(measured),
        # Of several disks that stand for the only one here, nobody knows the parts.
        writeout_fraction=share if len(disks) == 1 else None,
    )
    options = learnt.options(next(iter(disks), ""))
    if measured.prepared_s and _gives_blocks_back(machine):
        options["prepared"] = f"{measured.prepared_s} s"
    return options


def _gives_blocks_back(machine: "Machine") -> bool:
    return any("block_free" in mount for mount in described(machine).get("mount", {}).values())


def _traced(measured: "Measured", bdi: str | None) -> tuple[float | None, float | None]:
    """Give bandwidth and base rate at the first update that was traced of this disk, or of the only one."""
    devices = measured.devices
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
