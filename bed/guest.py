"""A small guest in virtual time: its clock counts instructions, so that a busy host does not matter.

One start of the guest plays one case, a few times in a row, so that a case gives the same figures whatever
else is recorded. Source of the emulator's options: the manual of QEMU 7.2, "-icount".
Left out: the emulator's own throttle of disks (`throttling.bps-write=`), which follows the host's clock and
not the guest's (block/throttle-groups.c); the disk and its limits are inside of the guest (guest/disk.sh).
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bed import nfs
from bed.initramfs import MODULES, Archive, libraries_of, load_order
from bed.nfs import Nfs
from bed.packages import BedError, Packages

__all__ = ["SCHEDULERS", "FileSystem", "Guest", "NullDisk", "Settings", "command", "kernel_line"]

HERE: Final = Path(__file__).parent

PROCESSOR: Final = "qemu64,-rdrand"
"""Without rdrand nothing in the guest is random. A richer processor makes the emulator's copying slower."""

DEADLINE_S: Final = 1800
"""A case that takes longer on the host is stopped."""


PROGRAMS: Final = (
    "cp", "dash", "dd", "fio", "git", "head", "mkdir", "rm", "seq", "sort", "sqlite3", "strace", "tar", "tcc",
)  # fmt: skip
"""What cases with programs may run beside the shell and the rest of busybox."""

SCHEDULERS: Final = {"none": "", "mq-deadline": "", "kyber": "kyber_iosched", "bfq": "bfq"}
"""Schedulers of the kernel, and the module of each that is not built in."""

_RUNTIME: Final = "usr/lib/x86_64-linux-gnu/tcc"
"""What the C compiler needs beside its program."""


@dataclass(frozen=True, slots=True)
class NullDisk:
    """A disk of null_blk (Documentation/block/null_blk.rst), by the names of its attributes.

    `size` and `cache_size` are in MiB, `mbps` in MiB/s for reading and writing together (0: no limit). A
    volatile cache of 0 is none.
    """

    size: int = 2048
    completion_nsec: int = 100_000
    mbps: int = 100
    hw_queue_depth: int = 64
    submit_queues: int = 1
    cache_size: int = 0
    fua: int = 1

    def attributes(self) -> str:
        """Give them as the guest is told; `irqmode` 2 is the timer that ends requests."""
        told = {field: getattr(self, field) for field in self.__slots__} | {"irqmode": 2}
        return ",".join(f"{name}={value}" for name, value in told.items())


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The file system on the disk: `kind` as mke2fs knows it, its mount options, and its journal in MiB."""

    kind: str = "ext4"
    options: tuple[str, ...] = ()
    journal_mib: int = 0
    """0: what mke2fs gives it."""
    has_journal_device: bool = False
    """Whether the journal is all of a second disk like the first one."""

    @property
    def mount(self) -> str:
        """The options of mount(8)."""
        return ",".join(("noatime", *self.options))

    @property
    def modules(self) -> tuple[str, ...]:
        """The kernel modules of its file system, beside that of ext4, which each guest has."""
        return ("xfs",) if self.kind == "xfs" else ()

    @property
    def is_plain(self) -> bool:
        """Whether it is what a guest has by default."""
        return self == FileSystem()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the guest is like. Memory in MiB, rates in bytes per second, limits in percent.

    `cgroup_bytes` is the memory of the cgroup (v2) that the case runs in, 0 for none; it is limited by
    `cgroup_file`. `disk` is a name that guest/disk.sh knows.
    """

    memory_mib: int = 2048
    disk: str = "zram"
    write_bytes_per_s: int = 100 << 20
    read_bytes_per_s: int = 200 << 20
    dirty_ratio: int = 20
    dirty_background_ratio: int = 10
    cgroup_bytes: int = 0
    cgroup_file: str = "memory.max"
    repetitions: int = 3
    null: NullDisk = field(default_factory=NullDisk)
    file_system: FileSystem = field(default_factory=FileSystem)
    scheduler: str = ""
    """Of null_blk; empty for what the kernel takes."""
    nfs: Nfs | None = None
    """Where cases are played on a mount of NFS instead of a disk."""
    modules: tuple[str, ...] = ()
    """More modules of the kernel."""

    @property
    def has_programs(self) -> bool:
        """Whether the guest has fio, strace and the programs that are traced; they take memory."""
        return self.disk == "null"


def kernel_line(settings: Settings, case: str) -> str:
    """Write the kernel's command line; what begins with BED_ is in the first program's environment."""
    told = {
        "CASE": case,
        "REPETITIONS": settings.repetitions,
        "DISK": settings.disk,
        "WRITE_BPS": settings.write_bytes_per_s,
        "READ_BPS": settings.read_bytes_per_s,
        "DIRTY_RATIO": settings.dirty_ratio,
        "DIRTY_BACKGROUND_RATIO": settings.dirty_background_ratio,
        "CGROUP_BYTES": settings.cgroup_bytes,
        "CGROUP_FILE": settings.cgroup_file,
        "NULL": settings.null.attributes() if settings.disk == "null" else "",
        "SCHEDULER": settings.scheduler,
        "FS": settings.file_system.kind,
        "MOUNT": settings.file_system.mount,
        "JOURNAL": settings.file_system.journal_mib,
        "JOURNAL_DEVICE": int(settings.file_system.has_journal_device),
        **({"NFS": ""} if settings.nfs is None else settings.nfs.words()),
    }
    kernel = "console=ttyS0 panic=-1 quiet nokaslr mitigations=off"
    if persistent := _persistent_mib(settings):
        kernel += f" memmap={persistent}M!4G"
    return " ".join([kernel, *(f"BED_{name}={value}" for name, value in told.items())])


def _persistent_mib(settings: Settings) -> int:
    """Persistent memory of the guest: all that lies above 4 GiB (Documentation/admin-guide: memmap=)."""
    return nfs.PERSISTENT_MIB if settings.nfs is not None and not settings.nfs.has_own_kernel else 0


def _memory(settings: Settings) -> list[str]:
    if persistent := _persistent_mib(settings):
        below = ["-machine", f"pc,max-ram-below-4g={settings.memory_mib}M"]
        return [*below, "-m", str(settings.memory_mib + persistent)]
    return ["-m", str(settings.memory_mib)]


def command(
    packages: Packages, kernel: Path, initramfs: Path, out: Path, settings: Settings, case: str
) -> list[str]:
    """Give the emulator's command: the unpacked program with the unpacked loader and libraries."""
    root = packages.root
    folders = sorted({path.parent for path in root.glob("**/x86_64-linux-gnu/*.so*")})
    loader = next(path for path in root.glob("**/x86_64-linux-gnu/ld-linux-x86-64.so.2"))
    return [
        str(loader), "--library-path", ":".join(map(str, folders)), f"{root}/usr/bin/qemu-system-x86_64",
        "-L", f"{root}/usr/share/qemu", "-L", f"{root}/usr/share/seabios",
        "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off",
        "-rtc", "base=2024-01-01,clock=vm", "-smp", "1", "-cpu", PROCESSOR, *_memory(settings),
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-serial", "stdio", "-monitor", "none",
        "-kernel", str(kernel), "-initrd", str(initramfs), "-append", kernel_line(settings, case),
        "-virtfs", f"local,path={out},mount_tag=out,security_model=none",
    ]  # fmt: skip


class Guest:
    """The guest of a bed's folder: made of `packages` and of the program that plays cases."""

    def __init__(self, folder: Path, packages: Packages, player: Path) -> None:
        self._folder = folder
        self._packages = packages
        self._player = player

    def play(
        self, case: str, text: str, settings: Settings, out: Path, *, files: Mapping[str, str] | None = None
    ) -> None:
        """Start the guest, let it play a case, and wait until it is off.

        Parameters
        ----------
        case : str
            Its name.
        text : str
            Its steps.
        settings : Settings
        out : Path
            Where the guest puts ``platform.txt`` and a folder for each repetition; emptied before.
        files : mapping of str, optional
            Texts that the steps need in the folder /cases, by name.

        Raises
        ------
        BedError
            The guest did not come to its end; what it said is in ``console.txt`` in `out`.
        """
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        initramfs = self._folder / "initramfs"
        initramfs.write_bytes(self._initramfs(settings, {f"{case}.pct": text, **(files or {})}))
        kernel = next(self._packages.kernel.glob("boot/vmlinuz-*"))
        words = command(self._packages, kernel, initramfs, out, settings, case)
        modules = next(self._packages.root.glob("**/x86_64-linux-gnu/qemu"))
        environment = os.environ | {"QEMU_MODULE_DIR": str(modules)}
        console = out / "console.txt"
        with console.open("wb") as log:
            try:
                subprocess.run(
                    words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    check=True, timeout=DEADLINE_S, preexec_fn=lambda: os.nice(5),
                )  # fmt: skip
            except (subprocess.SubprocessError, OSError) as error:
                raise BedError(f"{case}: the emulator failed; see {console} ({error})") from error
        said = re.findall(r"^bed: (.*?)\r?$", console.read_text(errors="replace"), re.MULTILINE)
        if said[-1:] != ["done"]:
            raise BedError(f"{case}: the guest stopped early; what it said is in {console}")

    def _initramfs(self, settings: Settings, cases: Mapping[str, str]) -> bytes:
        root = self._packages.root
        archive = Archive()
        archive.console()
        for folder in ("proc", "sys", "dev", "tmp", "data"):
            archive.folder(folder)
        for name in ("init", "disk.sh", "cgroup.sh", *nfs.SCRIPTS):
            archive.add(name, (HERE / "guest" / Path(name).name).read_bytes(), mode=0o755)
        programs = {
            "bin/busybox": next(root.glob("**/bin/busybox")),
            "mke2fs": next(root.glob("**/sbin/mke2fs")),
            "losetup": next(root.glob("**/sbin/losetup")),
            "play": self._player,
        }
        if settings.has_programs:
            programs |= {f"usr/bin/{name}": _program(root, name) for name in PROGRAMS}
            if settings.file_system.kind == "xfs":
                programs["mkfs.xfs"] = next(root.glob("**/sbin/mkfs.xfs"))
            _add_runtime(archive, root)
        if settings.nfs is not None:
            programs |= {"ip": _program(root, "ip"), "tc": next(root.glob("**/sbin/tc"))}
            if settings.nfs.has_own_kernel:
                programs["linux.uml"] = root / "usr/bin/linux.uml"
        for name, path in programs.items():
            archive.add(name, path.read_bytes(), mode=0o755)
        for name, path in _libraries(programs.items(), root).items():
            archive.add(f"lib/x86_64-linux-gnu/{name}", path.read_bytes(), mode=0o755)
        archive.link("lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
        wanted: tuple[str, ...] = MODULES
        if settings.disk == "null":
            scheduler = filter(None, [SCHEDULERS.get(settings.scheduler)])
            wanted = (*MODULES, "null_blk", *settings.file_system.modules, *scheduler)
        if settings.nfs is not None:
            wanted = (*wanted, *nfs.MODULES)
            if settings.nfs.has_own_kernel:
                of_server = load_order(next(root.glob("usr/lib/uml/modules/*")), nfs.SERVER_MODULES)
                _add_modules(archive, "uml", of_server)
        wanted = (*wanted, *settings.modules)
        modules = load_order(next(self._packages.kernel.glob("**/lib/modules/*")), wanted)
        _add_modules(archive, "modules", modules)
        for name, text in cases.items():
            archive.add(f"cases/{name}", text.encode())
        return archive.to_bytes()


def _add_modules(archive: Archive, folder: str, modules: Iterable[tuple[str, bytes]]) -> None:
    """Add modules, and the file `order` with the names and options that are given to insmod."""
    options = {"null_blk.ko": " nr_devices=0"}
    lines = [f"{name}{options.get(name, '')}\n" for name, _ in modules]
    archive.add(f"{folder}/order", "".join(lines).encode())
    for name, content in modules:
        archive.add(f"{folder}/{name}", content)


def _program(root: Path, name: str) -> Path:
    return next(path for folder in ("usr/bin", "bin") if (path := root / folder / name).exists())


def _libraries(programs: Iterable[tuple[str, Path]], root: Path) -> dict[str, Path]:
    """Find the libraries of all programs but those that need none."""
    found: dict[str, Path] = {}
    for name, path in programs:
        if name not in ("bin/busybox", "play"):
            found |= libraries_of(path, root)
    return found


def _add_runtime(archive: Archive, root: Path) -> None:
    """Add what programs need beside their libraries: the compiler's headers, git's names for itself."""
    for path in sorted((root / _RUNTIME).rglob("*")):
        if path.is_file():
            archive.add(str(path.relative_to(root)), path.read_bytes())
    for name in ("git", "git-upload-pack"):
        archive.link(f"usr/lib/git-core/{name}", "/usr/bin/git")
