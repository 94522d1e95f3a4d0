"""Reads /proc and /sys: proc(5), Documentation/filesystems/sysfs.rst.

Values that cannot be read are None, or empty: an older kernel, a container or a user without rights has
less of it.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = [
    "KIB",
    "PROC",
    "SYS",
    "Mounted",
    "block_device",
    "chosen",
    "counts",
    "lines",
    "mounted",
    "number",
    "text",
]

PROC: Final = Path("/proc")
SYS: Final = Path("/sys")

KIB: Final = 1024
"""What "kB" stands for in `meminfo`."""


@dataclass(frozen=True, slots=True)
class Mounted:
    """A line of `self/mountinfo`."""

    identity: int
    device: str
    """The device of its files, "major:minor"; btrfs and others have one of their own, which no disk has."""
    point: str
    kind: str
    source: str
    options: str
    """Those of the mount, then those of the file system, each once."""


def text(path: Path) -> str | None:
    """Read a file without the white space around what it says."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def lines(path: Path) -> list[str]:
    """Read the lines of a file."""
    return (text(path) or "").splitlines()


def number(path: Path) -> int | None:
    """Read a file that says a number."""
    try:
        return int(text(path) or "")
    except ValueError:
        return None


def chosen(path: Path) -> str | None:
    """Read the word in brackets of a file such as "always [madvise] never"."""
    return (text(path) or "").partition("[")[2].partition("]")[0] or None


def counts(told: Iterable[str]) -> dict[str, int]:
    """Give the first number of each line by its name: "MemFree:  1024 kB", "nr_dirty 7"."""
    found = {}
    for line in told:
        name, *rest = line.replace(":", " ").split()
        if rest and rest[0].isdigit():
            found[name] = int(rest[0])
    return found


def mounted(proc: Path = PROC) -> list[Mounted]:
    """Read the mounts of this process."""
    try:
        told = os.fsdecode((proc / "self/mountinfo").read_bytes())
    except OSError:
        return []
    return [_mounted(line) for line in told.split("\n") if line]


def _mounted(line: str) -> Mounted:
    """Understand "22 21 254:1 / /data rw,noatime shared:1 - ext4 /dev/vda1 rw"."""
    before, _, after = line.partition(" - ")
    identity, _, device, _, point, options, *_ = before.split(" ")
    kind, source, more = after.split(" ", 2)
    each = dict.fromkeys(f"{options},{more}".split(","))
    return Mounted(int(identity), device, _unescaped(point), kind, _unescaped(source), ",".join(each))


def _unescaped(field: str) -> str:
    """Undo the octal of proc(5): space, tab, newline and backslash."""
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(octal, character)
    return field


def block_device(device: str, source: str, sys: Path = SYS) -> Path | None:
    """Find the place in sysfs of the block device below a file system.

    Parameters
    ----------
    device : str
        The device of its files, "major:minor".
    source : str
        The mounted device, such as "/dev/sda2": asked where no disk has that number.
    sys : Path
        Where sysfs is mounted.

    Returns
    -------
    Path or None
        Of the disk or partition, resolved; None where there is none.
    """
    place = sys / "dev/block" / device
    if not place.exists():
        try:
            its = os.stat(source).st_rdev
        except (OSError, ValueError):
            return None
        place = sys / "dev/block" / f"{os.major(its)}:{os.minor(its)}"
    return place.resolve() if place.exists() else None
