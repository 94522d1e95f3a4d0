"""Reads the properties of a machine: read from /proc and /sys, nothing measured, nothing guessed.

Whatever cannot be read is None. Left out: memory that other programs will need later; the memory is free
memory and pages of files now.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast import procfs
from pagecast.calibration.block_throttle import is_throttled
from pagecast.calibration.fits import limit_share
from pagecast.calibration.own_cgroups import own_cgroups

__all__ = ["Device", "Facts", "Group", "Memory", "Mount", "read_facts"]

PAGE_BYTES: Final = 4096
SECTOR_BYTES: Final = 512
"""The logical block of a disk that does not say otherwise."""

CLOCK_MONOTONIC_COARSE: Final = 6
"""Its resolution is a tick (`kernel/time/posix-timers.c: posix_get_coarse_res`)."""

VM: Final = (
    "dirty_ratio",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_background_bytes",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
    "min_free_kbytes",
    "watermark_scale_factor",
)
LIMIT_FILES: Final = {1: "memory.limit_in_bytes", 2: "memory.max"}
UNLIMITED_BYTES: Final = 1 << 60
"""cgroup v1 has no word for it: the largest number of pages stands for no limit."""


@dataclass(frozen=True, slots=True)
class Memory:
    """`usable_bytes` is free or holds files now; of it `reserve_bytes` are never dirtyable."""

    total_bytes: int
    usable_bytes: int
    reserve_bytes: int | None
    background_bytes: int | None
    limit_bytes: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """A memory cgroup with a limit: ours, or one that it is in."""

    path: str
    version: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a directory is."""

    point: str
    kind: str
    source: str
    options: str
    size_bytes: int
    free_bytes: int


@dataclass(frozen=True, slots=True)
class Device:
    """The disk below a file system: the whole disk of a partition, the lowest of stacked ones."""

    name: str
    stack: tuple[str, ...]
    """From the file system down: ("vda1", "vda"), ("dm-0", "sda2", "sda")."""
    model: str | None
    is_rotational: bool | None
    scheduler: str | None
    nr_requests: int | None
    """None where the driver takes bios and has no queue of requests: zram, brd, pmem."""
    max_sectors_kb: int | None
    read_ahead_kb: int | None
    write_cache: str | None
    wbt_lat_usec: int | None
    min_ratio: float | None
    max_ratio: float | None
    strict_limit: bool | None
    stable_writes: bool
    queue_depth: int | None = None
    """Of SCSI devices: what write-back throttling counts with."""
    is_throttled: bool = False
    """Whether a cgroup limits writing to it: bios wait before its queue, any number of them."""
    logical_block_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it."""

    cores: int
    kernel_release: str
    lru: str
    hz: int
    vm: dict[str, int]
    huge_pages: str | None
    nodes: tuple[int, ...]
    memory: Memory
    groups: tuple[Group, ...]
    mount: Mount
    device: Device | None

    @property
    def kernel_version(self) -> str:
        """Its first two numbers."""
        return _version(self.kernel_release)


def _version(release: str) -> str:
    major, minor = release.split(".")[:2]
    return f"{major}.{''.join(digit for digit in minor if digit.isdigit())}"


def read_facts(directory: Path, *, root: Path = Path("/")) -> Facts:
    """Read the properties of a machine and of the disk below a directory.

    Parameters
    ----------
    directory : Path
        There must be one of this name.
    root : Path
        Where proc and sys are.

    Returns
    -------
    Facts

    Raises
    ------
    OSError
        If the kernel does not even tell its memory, or the directory is not there.
    """
    proc, sys = root / "proc", root / "sys"
    vm = {name: number for name in VM if (number := procfs.number(proc / "sys/vm" / name)) is not None}
    release = (proc / "sys/kernel/osrelease").read_text().strip()
    mount, device = _mount(directory, proc)
    return Facts(
        cores=len(os.sched_getaffinity(0)),
        kernel_release=release,
        lru=_lru(sys),
        hz=round(1 / time.clock_getres(CLOCK_MONOTONIC_COARSE)),
        vm=vm,
        huge_pages=procfs.chosen(sys / "kernel/mm/transparent_hugepage/enabled"),
        nodes=tuple(_nodes(sys)),
        memory=_memory(proc, limit_share(vm, _version(release))),
        groups=tuple(_groups(proc, sys)),
        mount=mount,
        device=_device(proc, sys, device, mount.source),
    )


def _lru(sys: Path) -> str:
    enabled = procfs.text(sys / "kernel/mm/lru_gen/enabled")
    return "mglru" if enabled and int(enabled, 16) != 0 else "two-list"


def _memory(proc: Path, share: float | None) -> Memory:
    meminfo = procfs.counts((proc / "meminfo").read_text().splitlines())
    vmstat = procfs.counts(procfs.lines(proc / "vmstat"))
    usable = procfs.KIB * sum(meminfo.get(name, 0) for name in ("MemFree", "Active(file)", "Inactive(file)"))
    background, limit = (
        vmstat[name] * PAGE_BYTES if name in vmstat else None
        for name in ("nr_dirty_background_threshold", "nr_dirty_threshold")
    )
    reserve = max(int(usable - limit / share), 0) if limit is not None and share is not None else None
    return Memory(procfs.KIB * meminfo["MemTotal"], usable, reserve, background, limit)


def _nodes(sys: Path) -> Iterator[int]:
    """Give the memory of each node that has some."""
    for node in sorted((sys / "devices/system/node").glob("node[0-9]*")):
        for line in procfs.lines(node / "meminfo"):
            if "MemTotal:" in line and (size := int(line.split()[3]) * procfs.KIB):
                yield size


def _groups(proc: Path, sys: Path) -> Iterator[Group]:
    """Give the groups with a limit, from our own up."""
    for group in own_cgroups(proc, sys, "memory"):
        limit = procfs.number(group.place / LIMIT_FILES[group.version])
        if limit is not None and limit < UNLIMITED_BYTES:
            path = "/" + str(group.place.relative_to(group.tree)).lstrip(".")
            yield Group(path, group.version, limit)


def _mount(directory: Path, proc: Path) -> tuple[Mount, str]:
    """Give the mount of a directory, and the number of its device."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        space = os.fstatvfs(descriptor)
        device = os.fstat(descriptor).st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        wanted = procfs.counts(procfs.lines(proc / f"self/fdinfo/{descriptor}")).get("mnt_id")
    finally:
        os.close(descriptor)
    size = (space.f_blocks - space.f_bfree + space.f_bavail) * space.f_frsize
    free = space.f_bavail * space.f_frsize
    for each in procfs.mounted(proc):
        if each.identity == wanted or (wanted is None and each.device == number):
            return Mount(each.point, each.kind, each.source, each.options, size, free), number
    return Mount("/", "unknown", "unknown", "", size, free), number


def _device(proc: Path, sys: Path, number: str, source: str) -> Device | None:
    """Read the values of sysfs for the disk below a file system."""
    place = procfs.block_device(number, source, sys)
    if place is None:
        return None
    stack = list(_below(place))
    # What is asked of a stack is asked at its top; the queue is at its bottom. Partitions have neither.
    top = next((disk for disk in stack if (disk / "queue").is_dir()), stack[-1])
    disk = stack[-1]
    rotational = procfs.number(disk / "queue/rotational")
    bdi = sys / "class/bdi" / (procfs.text(top / "dev") or "none")
    fine = [procfs.number(bdi / name) for name in ("min_ratio_fine", "max_ratio_fine")]
    plain = [procfs.number(bdi / name) for name in ("min_ratio", "max_ratio")]
    least, most = (
        part / 10_000 if part is not None else whole for part, whole in zip(fine, plain, strict=True)
    )
    strict = procfs.number(bdi / "strict_limit")
    return Device(
        name=disk.name,
        stack=tuple(each.name for each in stack),
        model=procfs.text(disk / "device/model"),
        is_rotational=None if rotational is None else bool(rotational),
        scheduler=procfs.chosen(disk / "queue/scheduler"),
        nr_requests=procfs.number(disk / "queue/nr_requests"),
        max_sectors_kb=procfs.number(disk / "queue/max_sectors_kb"),
        read_ahead_kb=procfs.number(top / "queue/read_ahead_kb"),
        write_cache=procfs.text(disk / "queue/write_cache"),
        wbt_lat_usec=procfs.number(disk / "queue/wbt_lat_usec"),
        min_ratio=least,
        max_ratio=most,
        strict_limit=None if strict is None else bool(strict),
        stable_writes=bool(procfs.number(top / "queue/stable_writes")),
        queue_depth=procfs.number(disk / "device/queue_depth"),
        is_throttled=is_throttled(proc, sys, [procfs.text(each / "dev") or "" for each in stack]),
        logical_block_bytes=procfs.number(top / "queue/logical_block_size"),
    )


def _below(place: Path) -> Iterator[Path]:
    """Give a block device, then the disk of a partition, then the first that a stacked one is made of."""
    yield place
    if (place / "partition").exists():
        yield from _below(place.parent)
        return
    slaves = sorted((place / "slaves").glob("*")) if (place / "slaves").is_dir() else []
    if slaves:
        yield from _below(slaves[0].resolve())
