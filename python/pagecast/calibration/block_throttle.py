"""Whether the kernel's own throttle limits writing back to a disk: cgroups, ``blk-throttle``.

Sources: Documentation/admin-guide/cgroup-v1/blkio-controller.rst; cgroup-v2.rst, `io.max`. With cgroup v1 all
write-back is the root group's; with v2 it is that of the group whose pages they are.
"""

from collections.abc import Collection, Iterator
from pathlib import Path

from pagecast.calibration.own_cgroups import own_cgroups
from pagecast.procfs import lines

__all__ = ["is_throttled"]

_V1_LIMITS = ("blkio.throttle.write_bps_device", "blkio.throttle.write_iops_device")
_V2_LIMITS = ("wbps", "wiops")


def is_throttled(proc: Path, sys: Path, numbers: Collection[str]) -> bool:
    """Say whether a limit of writing holds for a disk.

    Parameters
    ----------
    proc, sys : Path
        Where they are mounted.
    numbers : collection of str
        "major:minor" of the disk and of the devices stacked on it.
    """
    return any(
        line.partition(" ")[0] in numbers and _limits(line.partition(" ")[2])
        for limits in _files(proc, sys)
        for line in lines(limits)
    )


def _limits(words: str) -> bool:
    """Read "1048576" of v1, or "rbps=max wbps=1048576 riops=max wiops=max" of v2."""
    if words.isdigit():
        return True
    pairs = (word.partition("=") for word in words.split())
    return any(name in _V2_LIMITS and value != "max" for name, _, value in pairs)


def _files(proc: Path, sys: Path) -> Iterator[Path]:
    for name in _V1_LIMITS:
        yield sys / "fs/cgroup/blkio" / name
    for group in own_cgroups(proc, sys, "io"):
        if group.version > 1:
            yield group.place / "io.max"
