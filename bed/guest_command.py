"""``python -m bed guest``: cases recorded in a guest in virtual time."""

import argparse
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bed import cases, machine, recording
from bed.asking import MIB, add_cases, add_dry_run, at_least, percent, say_plan
from bed.guest import Guest, Settings
from bed.packages import PROGRAMS, BedError, Packages
from bed.playing import build_player, say_how_to_judge, say_recorded, texts_of

__all__ = ["act", "plan"]

DOWNLOAD_MB: Final = 180
"""Lists, kernel and programs with their dependencies."""

NEEDED_BYTES: Final = 1 << 30
"""Room that the folder needs: archives and what is in them, and the player's build."""

DISKS: Final = ("zram", "queue")
LEAST_MEMORY_MIB: Final = 768


def _parser() -> argparse.ArgumentParser:
    default = Settings()
    parser = argparse.ArgumentParser(
        prog="python -m bed guest",
        description="Record cases in a guest in virtual time. Needs no root.",
    )
    add_cases(parser, default.repetitions)
    add = parser.add_argument
    add("--memory", type=at_least(LEAST_MEMORY_MIB), default=default.memory_mib, metavar="MIB")
    add("--disk", choices=DISKS, default=default.disk, help="endless queue (zram), or one of 128 requests")
    add("--write", type=at_least(1), default=default.write_bytes_per_s // MIB, metavar="MIB_PER_S")
    add("--read", type=at_least(1), default=default.read_bytes_per_s // MIB, metavar="MIB_PER_S")
    add("--dirty-ratio", type=percent, default=default.dirty_ratio, metavar="PERCENT")
    add("--dirty-background-ratio", type=percent, default=default.dirty_background_ratio, metavar="PERCENT")
    add("--cgroup", type=at_least(0), default=0, metavar="MIB", help="memory.max of the case's cgroup (v2)")
    add_dry_run(parser)
    return parser


def _settings(options: argparse.Namespace) -> Settings:
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
        repetitions=options.repetitions,
    )


def plan(
    folder: Path, texts: dict[str, str], settings: Settings, *, has_packages: bool, has_player: bool
) -> list[str]:
    """Say in lines what will be done."""
    lines = []
    if not has_packages:
        lines.append(
            f"download about {DOWNLOAD_MB} MB with apt-get into {folder}/apt: a kernel, "
            f"{', '.join(PROGRAMS)}, and what these need; "
            f"unpack them into {folder}/root and {folder}/kernel, install nothing"
        )
    if not has_player:
        lines.append(f"build bed/player with cargo, static, into {folder}/player")
    memory = f"{settings.memory_mib} MiB of memory"
    if settings.cgroup_bytes:
        memory += f", {settings.cgroup_bytes // MIB} MiB of it for the case"
    lines.append(
        f"start the guest {len(texts)} times ({memory}; disk {settings.disk}, "
        f"{settings.write_bytes_per_s // MIB} MiB/s write and {settings.read_bytes_per_s // MIB} MiB/s read; "
        f"{settings.repetitions} repetitions each) for {', '.join(texts)}: "
        "one processor for a minute or a few each"
    )
    lines.append(f"write the recording and its machine file into {folder}/recordings")
    return lines


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    options = _parser().parse_intermixed_args(words)
    folder: Path = options.folder.resolve()
    settings = _settings(options)
    scale = cases.Scale.of(settings.memory_mib, settings.dirty_ratio, settings.cgroup_bytes // MIB)
    texts = texts_of(options.cases, scale)
    packages = Packages(folder)
    player = folder / "player"
    lines = plan(folder, texts, settings, has_packages=packages.is_there(), has_player=player.exists())
    if options.dry_run:
        say_plan("guest", "without root", lines)
        return 0
    _check_room(folder, packages)
    if not packages.is_there():
        print(f"bed: {lines[0]}", flush=True)
        packages.fetch()
    build_player(folder, player)
    guest = Guest(folder, packages, player)
    for case, text in texts.items():
        recorded = _record(guest, folder, case, text, settings)
    say_how_to_judge(recorded)
    return 0


def _check_room(folder: Path, packages: Packages) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise BedError(f"{folder}: cannot be used ({error})") from error
    if not packages.is_there() and free < NEEDED_BYTES:
        raise BedError(f"{folder}: {free // MIB} MiB are free, {NEEDED_BYTES // MIB} MiB are needed")


def _record(guest: Guest, folder: Path, case: str, text: str, settings: Settings) -> Path:
    """Let the guest play one case and record what it hands out; gives the folder of the recording."""
    begun = time.monotonic()
    out = folder / "out" / case
    guest.play(case, text, settings, out)
    platform = (out / "platform.txt").read_text()
    made = machine.Made(
        bed="guest",
        cores=1,
        memory_mib=settings.memory_mib,
        disk=settings.disk,
        write_bytes_per_s=settings.write_bytes_per_s,
        read_bytes_per_s=settings.read_bytes_per_s,
        cgroup_bytes=settings.cgroup_bytes,
    )
    recorded = folder / "recordings" / machine.name_of(made, platform)
    recording.write(recorded, {case: out}, {case: text})
    (recorded / machine.FILE).write_text(machine.machine_of(made, platform))
    say_recorded(recorded, case, time.monotonic() - begun)
    return recorded
