"""``python -m bed guest``: cases recorded in a guest in virtual time."""

import argparse
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bed import cases, journals, machine, nfs_cases, nfs_tables, programs, recording
from bed.asking import MIB, add_cases, add_dry_run, at_least, percent, say_plan
from bed.guest import SCHEDULERS, FileSystem, Guest, NullDisk, Settings
from bed.nfs import SERVERS, Nfs
from bed.packages import NFS, PROGRAMS, RECORDED, BedError, Packages
from bed.playing import build_player, say_how_to_judge, say_recorded, texts_of

__all__ = ["NFS_MB", "act", "downloads", "plan", "prepared"]

DOWNLOAD_MB: Final = 180
"""Lists, kernel and programs with their dependencies."""

PROGRAMS_MB: Final = 60
"""The same of what cases with programs run."""

NFS_MB: Final = 50
"""The same of what cases of NFS need: most of it is user-mode Linux."""

NEEDED_BYTES: Final = 1 << 30
"""Room that the folder needs: archives and what is in them, and the player's build."""

DISKS: Final = ("zram", "queue", "null")
CGROUP_FILES: Final = ("memory.max", "memory.high")
LEAST_MEMORY_MIB: Final = 768
JOURNAL_MIB: Final = 64
"""The journal that streams are made for, where none is asked for."""
NULL_MEMORY_MIB: Final = 3072
"""The default with `--disk null`, whose disk takes two thirds of it."""

BESIDE_DISK_MIB: Final = 768
"""What the guest needs beside a disk in its memory: programs take 150 MiB of it."""


def _parser() -> argparse.ArgumentParser:
    default = Settings()
    parser = argparse.ArgumentParser(
        prog="python -m bed guest",
        description="Record cases in a guest in virtual time. Needs no root.",
    )
    others = ", ".join((*cases.CALIBRATION, *programs.NAMES, *journals.CASES, *programs.CGROUPS))
    files = "files NAME.fio, NAME.sh and NAME.pct"
    add_cases(parser, default.repetitions, f"With --disk null: {others}, or {files}. ")
    add = parser.add_argument
    add("--memory", type=at_least(LEAST_MEMORY_MIB), metavar="MIB")
    add(
        "--disk",
        choices=DISKS,
        default=default.disk,
        help="endless queue (zram), one of 128 requests (queue), or null_blk for cases with programs (null)",
    )
    add("--write", type=at_least(1), default=default.write_bytes_per_s // MIB, metavar="MIB_PER_S")
    add("--read", type=at_least(1), default=default.read_bytes_per_s // MIB, metavar="MIB_PER_S")
    add("--dirty-ratio", type=percent, default=default.dirty_ratio, metavar="PERCENT")
    add("--dirty-background-ratio", type=percent, default=default.dirty_background_ratio, metavar="PERCENT")
    add("--cgroup", type=at_least(0), default=0, metavar="MIB", help="memory of the case's cgroup (v2)")
    add("--cgroup-file", choices=CGROUP_FILES, default=default.cgroup_file, help="the file of that limit")
    _add_null(parser)
    _add_nfs(parser)
    add_dry_run(parser)
    return parser


def _add_null(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--disk null", "Its attributes are in docs/guides/test-bed.md.")
    add, default = group.add_argument, NullDisk()
    add("--size", type=at_least(64), default=default.size, metavar="MIB", help="in the guest's memory")
    add("--latency", type=at_least(0), default=default.completion_nsec // 1000, metavar="US")
    add("--rate", type=at_least(0), default=default.mbps, metavar="MIB_PER_S", help="both ways; 0: no limit")
    add("--queue", type=at_least(1), default=default.hw_queue_depth, metavar="N", help="requests at a time")
    add("--queues", type=at_least(1), default=default.submit_queues, metavar="N")
    add("--scheduler", choices=tuple(SCHEDULERS), default="", help="default: what the kernel takes")
    add("--cache", type=at_least(0), default=default.cache_size, metavar="MIB", help="volatile; 0: none")
    add("--no-fua", action="store_true", help="the cache has no forced unit access")
    add("--fs", choices=("ext4", "ext3", "xfs"), default="ext4")
    add("--journal", type=at_least(0), default=0, metavar="MIB", help="0: what mke2fs gives it")
    add("--journal-device", action="store_true", help="the journal is a second disk of --journal MiB")
    add("--options", default="", metavar="OPTION,...", help="of mount: data=journal, nobarrier, nodelalloc")


def _add_nfs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--nfs", "Cases on a mount of NFS; docs/guides/test-bed.md.")
    add, default = group.add_argument, Nfs(SERVERS[0])
    add("--nfs", choices=SERVERS, help="server in the same kernel (dax), or with one of its own (2hosts)")
    add("--link", type=at_least(1), default=default.link_bytes_per_s // MIB, metavar="MIB_PER_S")
    add("--delay", type=at_least(0), default=default.delay_us, metavar="US", help="of the link, each way")
    add("--mtu", type=at_least(576), default=default.mtu, metavar="BYTES")
    add("--export", choices=("sync", "async"), default=default.export)
    add("--nfs-version", choices=("4.0", "4.1", "4.2"), default=default.version)
    add("--rsize", type=at_least(4), default=default.rsize >> 10, metavar="KIB")
    add("--wsize", type=at_least(4), default=default.wsize >> 10, metavar="KIB")
    add(
        "--nfs-options",
        default="",
        metavar="OPTION,...",
        help="more options of nfs(5): noac, sync, nconnect=4",
    )
    add("--nfsd", type=at_least(1), default=default.threads, metavar="THREADS")
    add("--server-memory", type=at_least(256), default=default.server_memory_mib, metavar="MIB")
    add(
        "--server-write",
        type=at_least(1),
        default=default.server_write_bytes_per_s // MIB,
        metavar="MIB_PER_S",
    )
    add(
        "--server-read", type=at_least(1), default=default.server_read_bytes_per_s // MIB, metavar="MIB_PER_S"
    )


def _nfs(options: argparse.Namespace) -> Nfs | None:
    if options.nfs is None:
        return None
    if options.disk == "null" or options.cgroup:
        raise BedError("--nfs has a disk of its own, and no cgroup; leave --disk null and --cgroup out")
    least = LEAST_MEMORY_MIB + (options.server_memory if options.nfs == "2hosts" else 0)
    if options.memory < least:
        raise BedError(
            f"--memory {options.memory} is that of client and server, of which the server has "
            f"{options.server_memory} MiB; use --memory {least} or more"
        )
    return Nfs(
        options.nfs,
        link_bytes_per_s=options.link * MIB,
        delay_us=options.delay,
        mtu=options.mtu,
        export=options.export,
        version=options.nfs_version,
        rsize=options.rsize << 10,
        wsize=options.wsize << 10,
        options=tuple(filter(None, options.nfs_options.split(","))),
        threads=options.nfsd,
        server_memory_mib=options.server_memory,
        server_write_bytes_per_s=options.server_write * MIB,
        server_read_bytes_per_s=options.server_read * MIB,
    )


def _settings(options: argparse.Namespace) -> Settings:
    default = NULL_MEMORY_MIB if options.disk == "null" else Settings().memory_mib
    options.memory = options.memory or default
    if options.disk == "null" and options.memory < options.size + BESIDE_DISK_MIB:
        raise BedError(
            f"--size {options.size} leaves less than {BESIDE_DISK_MIB} MiB of the guest's {options.memory} "
            f"MiB; use --memory {options.size + BESIDE_DISK_MIB} or more"
        )
    if options.journal_device and not options.journal:
        raise BedError("--journal-device needs the size of that disk: --journal 64")
    if options.cgroup and options.cgroup >= options.memory:
        raise BedError(f"--cgroup {options.cgroup} is not less than the guest's memory, {options.memory} MiB")
    if options.dirty_background_ratio >= options.dirty_ratio:
        raise BedError("--dirty-background-ratio must be less than --dirty-ratio; else the kernel halves it")
    return Settings(
        memory_mib=options.memory,
        disk=options.disk,
        write_bytes_per_s=options.write * MIB,
        read_bytes_per_s=options.read * MIB,
        dirty_ratio=options.dirty_ratio,
        dirty_background_ratio=options.dirty_background_ratio,
        cgroup_bytes=options.cgroup * MIB,
        cgroup_file=options.cgroup_file,
        repetitions=options.repetitions,
        null=NullDisk(
            size=options.size,
            completion_nsec=options.latency * 1000,
            mbps=options.rate,
            hw_queue_depth=options.queue,
            submit_queues=options.queues,
            cache_size=options.cache,
            fua=int(not options.no_fua),
        ),
        file_system=FileSystem(
            options.fs,
            tuple(filter(None, options.options.split(","))),
            options.journal,
            options.journal_device,
        ),
        scheduler=options.scheduler,
        nfs=_nfs(options),
    )


def downloads(folder: Path, size_mb: int, more: Sequence[str]) -> str:
    """Say in a line what will be downloaded."""
    return (
        f"download about {size_mb} MB with apt-get into "
        f"{folder}/apt: a kernel, {', '.join((*PROGRAMS, *more))}, and what these need; "
        f"unpack them into {folder}/root and {folder}/kernel, install nothing"
    )


def plan(
    folder: Path, names: Sequence[str], settings: Settings, *, has_packages: bool, has_player: bool
) -> list[str]:
    """Say in lines what will be done."""
    size_mb = DOWNLOAD_MB + PROGRAMS_MB * settings.has_programs + NFS_MB * (settings.nfs is not None)
    lines = [] if has_packages else [downloads(folder, size_mb, _more(settings))]
    if not has_player:
        lines.append(f"build bed/player with cargo, static, into {folder}/player")
    memory = f"{settings.memory_mib} MiB of memory"
    if settings.cgroup_bytes:
        memory += f", {settings.cgroup_bytes // MIB} MiB of it for the case"
    rates = (
        f"{settings.write_bytes_per_s // MIB} MiB/s write and {settings.read_bytes_per_s // MIB} MiB/s read"
    )
    attributes = settings.null.attributes() if settings.disk == "null" else rates
    disk = f"disk {settings.disk}, {attributes}" if settings.nfs is None else settings.nfs.described()
    lines.append(
        f"start the guest {len(names)} times ({memory}; {disk}; "
        f"{settings.repetitions} repetitions each) for {', '.join(names)}: "
        "one processor for a minute or a few each"
    )
    file = " and its machine file" if settings.nfs is None else ""
    lines.append(f"write the recording{file} into {folder}/recordings")
    return lines


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    options = _parser().parse_intermixed_args(words)
    folder: Path = options.folder.resolve()
    settings = _settings(options)
    asked = _asked(options, settings)
    packages = Packages(folder)
    has_packages = packages.has(_more(settings))
    player = folder / "player"
    lines = plan(folder, list(asked), settings, has_packages=has_packages, has_player=player.exists())
    if options.dry_run:
        say_plan("guest", "without root", lines)
        return 0
    guest = prepared(folder, lines[0], _more(settings))
    for name, case in asked.items():
        recorded = _record(guest, folder, name, case, settings)
    has_programs = any(case.files for case in asked.values())
    study = "live-nfs" if settings.nfs is not None else "live-programs" if has_programs else "live-kernel"
    say_how_to_judge(recorded, study)
    return 0


def prepared(folder: Path, said: str, more: Sequence[str]) -> Guest:
    """Make the guest of a bed's folder; what is downloaded is `said` first."""
    packages = Packages(folder)
    _check_room(folder, packages)
    if not packages.has(more):
        print(f"bed: {said}", flush=True)
        packages.fetch()
        packages.fetch_more(more)
    player = folder / "player"
    build_player(folder, player)
    return Guest(folder, packages, player)


def _more(settings: Settings) -> tuple[str, ...]:
    """Give the packages that the guest needs beside those that each one has."""
    if settings.nfs is not None:
        return NFS
    return RECORDED if settings.has_programs else ()


def _asked(options: argparse.Namespace, settings: Settings) -> dict[str, programs.Case]:
    """Give the cases that are asked for, by name."""
    if settings.nfs is not None:
        of_server = settings.nfs.server_memory_mib if settings.nfs.has_own_kernel else 0
        of_nfs = nfs_cases.Scale.of(settings.memory_mib, settings.dirty_ratio, of_server)
        texts = texts_of(options.cases, nfs_cases.CASES, of_nfs)
        return {name: programs.Case(text, {}) for name, text in texts.items()}
    scale = cases.Scale.of(settings.memory_mib, settings.dirty_ratio, settings.cgroup_bytes // MIB)
    if settings.has_programs:
        return programs.cases_of(options.cases, scale, options.journal or JOURNAL_MIB)
    return {
        name: programs.Case(text, {}) for name, text in texts_of(options.cases, cases.CASES, scale).items()
    }


def _check_room(folder: Path, packages: Packages) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise BedError(f"{folder}: cannot be used ({error})") from error
    if not packages.is_there() and free < NEEDED_BYTES:
        raise BedError(f"{folder}: {free // MIB} MiB are free, {NEEDED_BYTES // MIB} MiB are needed")


def _record(guest: Guest, folder: Path, name: str, case: programs.Case, settings: Settings) -> Path:
    """Let the guest play one case and record what it hands out; gives the folder of the recording."""
    begun = time.monotonic()
    out = folder / "out" / name
    guest.play(name, case.steps, settings, out, files=case.files)
    platform = (out / "platform.txt").read_text()
    made = machine.Made(
        bed="guest",
        cores=1,
        memory_mib=settings.memory_mib,
        disk=settings.disk,
        write_bytes_per_s=settings.write_bytes_per_s,
        read_bytes_per_s=settings.read_bytes_per_s,
        cgroup_bytes=settings.cgroup_bytes,
        cgroup_file=settings.cgroup_file,
        null=settings.null if settings.disk == "null" else None,
        file_system=settings.file_system,
        scheduler=settings.scheduler,
        nfs=settings.nfs,
    )
    recorded = folder / "recordings" / machine.name_of(made, platform)
    recording.write(recorded, {name: out}, {name: case.steps}, files=case.files)
    if settings.nfs is None:
        (recorded / machine.FILE).write_text(machine.machine_of(made, platform))
    else:
        nfs_tables.write(recorded, name, out, case.steps)
    say_recorded(recorded, name, time.monotonic() - begun)
    return recorded
