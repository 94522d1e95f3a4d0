"""``python -m bed disk``: a disk in memory of this machine, with a rate that is kept, and less memory around.

A file system on zram, or on a loop device on zram, whose queue has an end. The block layer's throttle
(cgroup v1, controller blkio) holds it to its rates; a process holds anonymous memory until only so much is
left as was asked for. In that case the disk is filled with noise first: zram takes memory for what is
written, and what is left must not depend on that. Why root: devices, mounts and the throttle are the
administrator's. Whatever is changed is noted in ``undo.json`` before it is done, and undone at the end, or at
the next start if this one was killed.
Left out: machines that use the io controller of cgroup v2: it limits buffered writes only of a cgroup with
a dirty limit of its own, which would be another case. There the guest is the bed.
"""

import argparse
import mmap
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bed.asking import MIB, add_dry_run, at_least, parsed_with_command, say_plan
from bed.ending import run_to_the_end
from bed.holding import LEAST_LEFT_MIB, held_bytes, hold_all_but
from bed.packages import BedError
from bed.undoing import ZRAM, Undo, run, undoing

__all__ = ["Bed", "act", "add_disk", "check", "check_memory", "make", "plan"]

KINDS: Final = ("zram", "queue")

_TOOLS: Final = ("mke2fs", "mount", "umount", "losetup")
_BLKIO: Final = Path("/sys/fs/cgroup/blkio")


@dataclass(frozen=True, slots=True)
class Bed:
    """What is asked for: `left_mib` is the memory to leave, None for all of it.

    `is_filled` says that the disk gets all its memory first: what will be written may be anything.
    """

    kind: str
    size_mib: int
    write_bytes_per_s: int
    read_bytes_per_s: int
    queue: int
    left_mib: int | None
    is_filled: bool = True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bed disk",
        usage="%(prog)s [options] DIR -- COMMAND",
        description="Run a command on a disk in memory of this machine. Needs root; undoes all changes.",
        epilog="COMMAND finds the disk as $BED_DISK.",
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the disk is mounted at DIR/disk")
    add("--size", type=at_least(64), default=8192, metavar="MIB")
    add("--queue", type=at_least(4), default=128, metavar="REQUESTS", help="how many may wait, of kind queue")
    add_disk(parser, kind="queue", write=100, read=200)
    add_dry_run(parser)
    return parser


def add_disk(parser: argparse.ArgumentParser, *, kind: str, write: int, read: int) -> None:
    """Add what is asked of a disk in memory and of the memory beside it; rates in MiB/s."""
    add = parser.add_argument
    add("--kind", choices=KINDS, default=kind, help="a queue without end (zram), or one with")
    add("--write", type=at_least(1), default=write, metavar="MIB_PER_S")
    add("--read", type=at_least(1), default=read, metavar="MIB_PER_S")
    add(
        "--leave", type=at_least(LEAST_LEFT_MIB), metavar="MIB",
        help="hold memory until this much is available; else hold none",
    )  # fmt: skip


def plan(folder: Path, bed: Bed) -> list[str]:
    """Say in lines what will be done."""
    lines = [f"make a new zram device of {bed.size_mib} MiB; files of one repeated byte take no memory there"]
    if bed.left_mib is not None and bed.is_filled:
        lines.append("fill it with noise, so that it has all its memory before the rest is held")
    if bed.kind == "queue":
        lines.append(f"put a loop device on it, with {bed.queue} requests at most")
    lines.append(f"make ext4 on it, and mount that at {folder}/disk")
    lines.append(
        f"limit it to {bed.write_bytes_per_s // MIB} MiB/s write and "
        f"{bed.read_bytes_per_s // MIB} MiB/s read in {_BLKIO}"
    )
    if bed.left_mib is not None:
        lines.append(f"hold anonymous memory until {bed.left_mib} MiB are available")
    return lines


def check_memory(meminfo: str, bed: Bed) -> None:
    """Check that the disk, filled, and what is to be left fit into the memory.

    Raises
    ------
    BedError
        They do not.
    """
    if bed.left_mib is not None:
        spare = held_bytes(meminfo, bed.left_mib)
        if bed.is_filled and spare < bed.size_mib * MIB:
            raise BedError(
                f"a disk of {bed.size_mib} MiB and --leave {bed.left_mib} are more memory than is available; "
                f"the largest --size is {spare // MIB}"
            )


def check() -> None:
    """Check that the disk can be made here, and make nothing.

    Raises
    ------
    BedError
        It cannot; the text says what is missing.
    """
    if os.geteuid() != 0:
        raise BedError(
            "disk needs root: devices, mounts and limits are the administrator's. The guest needs none"
        )
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        raise BedError(f"{missing[0]} is not here; it is in the packages e2fsprogs, mount and util-linux")
    if not ZRAM.exists():
        subprocess.run(["modprobe", "zram"], capture_output=True, check=False)
    if not ZRAM.exists():
        raise BedError("this kernel has no zram; use the guest")
    if not (_BLKIO / "blkio.throttle.write_bps_device").exists():
        raise BedError(f"no controller blkio of cgroup v1 at {_BLKIO}; use the guest")


def make(folder: Path, bed: Bed, undo: Undo) -> Path:
    """Make the bed; gives where the disk is mounted."""
    number = (ZRAM / "hot_add").read_text().strip()
    undo.note("remove", number)
    block = zram = Path(f"/dev/zram{number}")
    Path(f"/sys/block/zram{number}/disksize").write_text(f"{bed.size_mib}M")
    if bed.left_mib is not None and bed.is_filled:
        _fill(zram, bed.size_mib)
    if bed.kind == "queue":
        block = Path(run("losetup", "--find", "--show", "--direct-io=on", str(zram)))
        undo.note("detach", str(block))
        Path(f"/sys/block/{block.name}/queue/nr_requests").write_text(str(bed.queue))
    run("mke2fs", "-q", "-t", "ext4", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", str(block))
    mount = folder / "disk"
    mount.mkdir(exist_ok=True)
    undo.note("umount", str(mount))
    run("mount", "-t", "ext4", "-o", "noatime", str(block), str(mount))
    device = Path(f"/sys/block/zram{number}/dev").read_text().strip()
    for way, rate in (("write", bed.write_bytes_per_s), ("read", bed.read_bytes_per_s)):
        limit = _BLKIO / f"blkio.throttle.{way}_bps_device"
        undo.note("write", str(limit), f"{device} 0")
        limit.write_text(f"{device} {rate}")
    if bed.left_mib is not None:
        hold_all_but(bed.left_mib, undo)
    return mount


def _fill(block: Path, size_mib: int) -> None:
    """Write noise to all of a device, past the page cache."""
    noise = mmap.mmap(-1, MIB)  # O_DIRECT wants whole pages
    noise.write(os.urandom(MIB))
    device = os.open(block, os.O_WRONLY | os.O_DIRECT)
    try:
        for _ in range(size_mib):
            os.write(device, noise)
    finally:
        os.close(device)


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    options, command = parsed_with_command(_parser(), words)
    folder: Path = options.folder.resolve()
    bed = Bed(
        options.kind, options.size, options.write * MIB, options.read * MIB, options.queue, options.leave
    )
    if options.dry_run:
        say_plan("disk", "as root", [*plan(folder, bed), "run the command, and undo all of this"])
        return 0
    check()
    check_memory(Path("/proc/meminfo").read_text(), bed)
    with undoing(folder) as undo:
        mount = make(folder, bed, undo)
        return run_to_the_end(command, os.environ | {"BED_DISK": str(mount)})
