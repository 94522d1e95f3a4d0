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
import contextlib
import errno
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bed.ending import run_to_the_end, undisturbed
from bed.packages import BedError

__all__ = [
    "Bed", "Undo", "act", "available_mib", "check", "check_memory", "held_bytes", "hold", "make", "plan",
    "undoing",
]  # fmt: skip

MIB: Final = 1 << 20
KINDS: Final = ("zram", "queue")
LEAST_LEFT_MIB: Final = 512
"""Less is not left to the machine: it must stay usable."""

MARGIN_MIB: Final = 64
"""Of what is left, so much is never taken, not even for a moment."""
MOST_REPORTING_ORDER: Final = 10
"""A free block of 2^10 pages is the largest that there is (include/linux/mmzone.h: MAX_PAGE_ORDER, x86)."""

_TOOLS: Final = ("mke2fs", "mount", "umount", "losetup")
_CONTROL: Final = Path("/sys/class/zram-control")
_BLKIO: Final = Path("/sys/fs/cgroup/blkio")
_REPORTING: Final = Path("/sys/module/page_reporting/parameters/page_reporting_order")
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_WAIT_S: Final = 10.0


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
    add("--kind", choices=KINDS, default="queue", help="a queue without end (zram), or one with")
    add("--size", type=int, default=8192, metavar="MIB")
    add("--write", type=int, default=100, metavar="MIB_PER_S")
    add("--read", type=int, default=200, metavar="MIB_PER_S")
    add("--queue", type=int, default=128, metavar="REQUESTS", help="how many may wait, of kind queue")
    add("--leave", type=int, metavar="MIB", help="hold memory until this much is available; else hold none")
    add("--dry-run", action="store_true", help="say what would be done, and do nothing")
    return parser


def _asked(options: argparse.Namespace) -> Bed:
    for name, least in (("size", 64), ("write", 1), ("read", 1), ("queue", 4)):
        if getattr(options, name) < least:
            raise BedError(f"--{name} {getattr(options, name)} is too little; {least} is the least")
    if options.leave is not None and options.leave < LEAST_LEFT_MIB:
        raise BedError(f"--leave {options.leave} would leave the machine less than {LEAST_LEFT_MIB} MiB")
    return Bed(
        options.kind, options.size, options.write * MIB, options.read * MIB, options.queue, options.leave
    )


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


def available_mib(meminfo: str) -> int:
    """Say how much memory is available, in MiB."""
    return _kib(meminfo)["MemAvailable:"] >> 10


def _kib(meminfo: str) -> dict[str, int]:
    return {words[0]: int(words[1]) for line in meminfo.splitlines() if len(words := line.split()) >= 2}


def held_bytes(meminfo: str, left_mib: int) -> int:
    """Say how much memory must be held, in bytes, so that so much stays available.

    Raises
    ------
    BedError
        There is less than that, or held pages could be swapped out.
    """
    kib = _kib(meminfo)
    if kib["SwapTotal:"]:
        raise BedError(
            "swap is on, and what is held would go there; `swapoff -a` first, or leave out --leave"
        )
    spare = kib["MemAvailable:"] * 1024 - left_mib * MIB
    if spare < 0:
        raise BedError(f"only {available_mib(meminfo)} MiB are available; --leave {left_mib} is more")
    return spare


class Undo:
    """What must be undone, in a file that outlives this process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._boot = _BOOT.read_text().strip()
        self._steps: list[list[str]] = []

    def note(self, *step: str) -> None:
        """Note a step: before what it undoes is done, where that does not choose the name itself."""
        self._steps.append(list(step))
        scratch = self._path.with_suffix(".new")
        scratch.write_text(json.dumps({"boot": self._boot, "steps": self._steps}))
        scratch.replace(self._path)

    def left_over(self) -> bool:
        """Read what an earlier process left; what is older than the machine's last start is gone."""
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return False
        if found["boot"] == self._boot:
            self._steps = found["steps"]
        return bool(self._steps)

    def all(self) -> list[str]:
        """Undo everything, the last step first; gives what could not be undone."""
        failed = [problem for step in reversed(self._steps) if (problem := _undone(step))]
        self._steps = []
        if not failed:
            self._path.unlink(missing_ok=True)
        return failed


def _undone(step: Sequence[str]) -> str | None:
    """Undo one step; what is gone already needs nothing. Gives what went wrong."""
    kind, *words = step
    try:
        match kind:
            case "kill":
                pid, started = words
                if _started(int(pid)) == started:
                    os.kill(int(pid), signal.SIGKILL)
            case "umount":
                if os.path.ismount(words[0]):
                    _patiently("umount", words[0])
            case "detach":
                if Path(f"/sys/block/{Path(words[0]).name}/loop").exists():
                    _patiently("losetup", "--detach", words[0])
            case "rmdir":
                if Path(words[0]).is_dir():
                    Path(words[0]).rmdir()
            case "write":
                Path(words[0]).write_text(words[1])
            case "remove":
                zram = Path(f"/sys/block/zram{words[0]}")
                if zram.exists():
                    (zram / "reset").write_text("1")
                    (_CONTROL / "hot_remove").write_text(words[0])
    except OSError as error:
        if error.errno == errno.ENODEV:  # a limit of a device that is gone is gone too
            return None
        return f"{' '.join(step)}: {error}"
    except BedError as error:
        return f"{' '.join(step)}: {error}"
    return None


def _patiently(*words: str) -> None:
    """Run a command that fails as long as somebody still uses the device."""
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            _run(*words)
            return
        except BedError:
            if time.monotonic() > until:
                raise
        time.sleep(0.2)


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BedError(f"{' '.join(words)}: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return done.stdout.strip()


def _started(pid: int) -> str | None:
    """Give when a process was started, in ticks: with its number, that names one process for ever."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


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
    if not _CONTROL.exists():
        subprocess.run(["modprobe", "zram"], capture_output=True, check=False)
    if not _CONTROL.exists():
        raise BedError("this kernel has no zram; use the guest")
    if not (_BLKIO / "blkio.throttle.write_bps_device").exists():
        raise BedError(f"no controller blkio of cgroup v1 at {_BLKIO}; use the guest")


def make(folder: Path, bed: Bed, undo: Undo) -> Path:
    """Make the bed; gives where the disk is mounted."""
    number = (_CONTROL / "hot_add").read_text().strip()
    undo.note("remove", number)
    block = zram = Path(f"/dev/zram{number}")
    Path(f"/sys/block/zram{number}/disksize").write_text(f"{bed.size_mib}M")
    if bed.left_mib is not None and bed.is_filled:
        _fill(zram, bed.size_mib)
    if bed.kind == "queue":
        block = Path(_run("losetup", "--find", "--show", "--direct-io=on", str(zram)))
        undo.note("detach", str(block))
        Path(f"/sys/block/{block.name}/queue/nr_requests").write_text(str(bed.queue))
    _run("mke2fs", "-q", "-t", "ext4", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", str(block))
    mount = folder / "disk"
    mount.mkdir(exist_ok=True)
    undo.note("umount", str(mount))
    _run("mount", "-t", "ext4", "-o", "noatime", str(block), str(mount))
    device = Path(f"/sys/block/zram{number}/dev").read_text().strip()
    for way, rate in (("write", bed.write_bytes_per_s), ("read", bed.read_bytes_per_s)):
        limit = _BLKIO / f"blkio.throttle.{way}_bps_device"
        undo.note("write", str(limit), f"{device} 0")
        limit.write_text(f"{device} {rate}")
    if bed.left_mib is not None:
        held = held_bytes(Path("/proc/meminfo").read_text(), bed.left_mib)
        _hold(held, max(bed.left_mib - MARGIN_MIB, 0) * MIB, _keep_from_host(undo), undo)
    return mount


def _keep_from_host(undo: Undo) -> int:
    """Let the kernel give only the largest free blocks back to a host; gives their size, in bytes.

    Source: mm/page_reporting.c, ``page_reporting_order``. Smaller ones stay usable for large folios.
    """
    if _REPORTING.exists():
        undo.note("write", str(_REPORTING), _REPORTING.read_text().strip())
        _REPORTING.write_text(str(MOST_REPORTING_ORDER))
    return mmap.PAGESIZE << MOST_REPORTING_ORDER


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


def _hold(size: int, left: int, piece: int, undo: Undo) -> None:
    """Start a process that holds anonymous memory, and wait until it has it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", f"from bed.disk import hold; hold({size}, {left}, {piece})"],
        cwd=Path(__file__).parents[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    undo.note("kill", str(holder.pid), _started(holder.pid) or "")
    assert holder.stdout is not None
    if holder.stdout.readline() != b"held\n":
        raise BedError(f"{size // MIB} MiB of memory cannot be held")


def hold(size: int, left: int, piece: int) -> None:
    """Hold anonymous memory until standard input ends, so also when whoever started this is gone.

    `left` bytes more are touched and given back, but for a page of each `piece`. Hosts of virtual machines
    take free memory back where it is whole, and its first touch then takes the host many times as long as
    the kernel here: what a write costs would depend on how long ago the memory was used.
    """
    Path("/proc/self/oom_score_adj").write_text("1000")  # whoever needs memory comes before this
    memory = mmap.mmap(-1, max(size + left, mmap.PAGESIZE), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for start in range(0, len(memory), mmap.PAGESIZE):
        memory[start] = 1
    for start in range(0, left // piece * piece, piece):
        memory.madvise(mmap.MADV_DONTNEED, start + mmap.PAGESIZE, piece - mmap.PAGESIZE)
    print("held", flush=True)
    sys.stdin.read()


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    before = words.index("--") if "--" in words else len(words)
    options, command = _parser().parse_intermixed_args(words[:before]), words[before + 1 :]
    folder: Path = options.folder.resolve()
    bed = _asked(options)
    if options.dry_run:
        lines = [*plan(folder, bed), "run the command, and undo all of this"]
        print("\n".join(["bed disk would, as root:", *(f"- {line}" for line in lines)]))
        return 0
    if not command:
        raise BedError("write the command to run after --: python -m bed disk DIR -- COMMAND")
    check()
    check_memory(Path("/proc/meminfo").read_text(), bed)
    with undoing(folder) as undo:
        mount = make(folder, bed, undo)
        return run_to_the_end(command, os.environ | {"BED_DISK": str(mount)})


@contextlib.contextmanager
def undoing(folder: Path) -> Iterator[Undo]:
    """Undo what an earlier run has left in this folder, and at the end all that is noted meanwhile.

    Raises
    ------
    BedError
        The folder cannot be used, or something cannot be undone.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BedError(f"{folder}: cannot be used ({error})") from error
    undo = Undo(folder / "undo.json")
    if undo.left_over():
        print("bed: undoing what an earlier run has left", file=sys.stderr)
        _finish(undo)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield undo
    except OSError as error:
        raise BedError(str(error)) from error
    finally:
        with undisturbed():
            _finish(undo)


def _finish(undo: Undo) -> None:
    if failed := undo.all():
        raise BedError("could not be undone: " + "; ".join(failed))
