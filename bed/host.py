"""``python -m bed host``: cases recorded on this very kernel, on a disk in memory, with less memory around.

The guest has one processor and virtual time; this has what the machine has, and its noise. Why root: see
`bed.disk`, which makes the disk and undoes it.
"""

import argparse
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bed import cases, disk, machine, recording
from bed.asking import MIB, add_cases, add_dry_run, say_plan
from bed.holding import available_mib
from bed.packages import BedError
from bed.playing import build_player, say_how_to_judge, say_recorded, texts_of
from bed.tracing import Tracing, mount_debugfs
from bed.undoing import undoing

__all__ = ["Play", "act", "describe", "plan"]

LEAST_DISK_MIB: Final = 8192
DISK_BY_MEMORY: Final = 4
"""The largest case has four files of 0.8 of the memory."""
QUEUE: Final = 128
_TOLD: Final = (
    "/proc/cmdline",
    "/proc/meminfo",
    "/proc/mounts",
    "/sys/kernel/mm/lru_gen/enabled",
    "/proc/zoneinfo",
)
_SYSCTLS: Final = Path("/proc/sys/vm")

SETTLED: Final = 1.05
"""The hard limit of dirty memory follows a fall of the threshold slowly; so close to it is enough."""
MOST_ROUNDS: Final = 20


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bed host",
        description="Record cases on this kernel, on a disk in memory. Needs root; undoes all changes.",
    )
    add_cases(parser, repetitions=3)
    disk.add_disk(parser, kind="zram", write=200, read=400)
    add_dry_run(parser)
    return parser


def _asked(options: argparse.Namespace, memory_mib: int) -> disk.Bed:
    return disk.Bed(
        kind=options.kind,
        size_mib=max(LEAST_DISK_MIB, DISK_BY_MEMORY * memory_mib),
        write_bytes_per_s=options.write * MIB,
        read_bytes_per_s=options.read * MIB,
        queue=QUEUE,
        left_mib=options.leave,
        is_filled=False,  # the player's files hold one repeated byte
    )


def plan(folder: Path, bed: disk.Bed, texts: Mapping[str, str], repetitions: int) -> list[str]:
    """Say in lines what will be done."""
    lines = [
        f"build bed/player with cargo into {folder}/player, unless it is there",
        "trace write-back in an instance of its own",
        *disk.plan(folder, bed),
    ]
    if bed.left_mib is not None:
        lines.append("fill what is left until the kernel's hard limit of dirty memory has settled")
    lines += [
        f"play {', '.join(texts)}, {repetitions} times each: a minute or less each time",
        f"undo all of this, and leave the recording and its machine file in {folder}/recordings",
    ]
    return lines


def describe(mount: Path) -> str:
    """Give the text of ``platform.txt``: what this kernel says of itself."""
    system = os.uname()
    told = [f"{system.sysname} {system.nodename} {system.release} {system.version} {system.machine}\n"]
    told += [Path(name).read_text() for name in _TOLD if Path(name).exists()]
    for setting in sorted(_SYSCTLS.iterdir()):
        try:
            told.append(f"vm.{setting.name} = {setting.read_text().strip()}\n")
        except OSError:  # some can only be written
            continue
    major, minor = _device_of(mount)
    told.append(Path(f"/sys/dev/block/{major}:{minor}/queue/read_ahead_kb").read_text())
    return "".join(told)


def _device_of(mount: Path) -> tuple[int, int]:
    device = mount.stat().st_dev
    return os.major(device), os.minor(device)


def act(words: Sequence[str]) -> int:
    """Do what the command line says; gives the exit code."""
    options = _parser().parse_intermixed_args(words)
    folder: Path = options.folder.resolve()
    meminfo = Path("/proc/meminfo").read_text()
    memory_mib = options.leave or available_mib(meminfo)
    bed = _asked(options, memory_mib)
    ratio = int((_SYSCTLS / "dirty_ratio").read_text())
    if not ratio:
        raise BedError("vm.dirty_bytes is set; cases are scaled to vm.dirty_ratio: set that instead")
    texts = texts_of(options.cases, cases.CASES, cases.Scale.of(memory_mib, ratio))
    if options.dry_run:
        say_plan("host", "as root", plan(folder, bed, texts, options.repetitions))
        return 0
    disk.check()
    disk.check_memory(meminfo, bed)
    with undoing(folder) as undo:
        player = folder / "player"
        build_player(folder, player)
        mount_debugfs(undo)
        tracing = Tracing(undo)
        mount = disk.make(folder, bed, undo)
        platform = describe(mount)
        made = machine.Made(
            bed="host",
            cores=os.cpu_count() or 1,
            memory_mib=memory_mib,
            disk=options.kind,
            write_bytes_per_s=bed.write_bytes_per_s,
            read_bytes_per_s=bed.read_bytes_per_s,
            disk_mib=bed.size_mib,
        )
        play = Play(player, tracing, mount, folder / "out")
        if bed.left_mib is not None:
            play.settle(bed.left_mib)
        recorded = folder / "recordings" / machine.name_of(made, platform)
        recorded.mkdir(parents=True, exist_ok=True)
        (recorded / machine.FILE).write_text(machine.machine_of(made, platform))
        for case, text in texts.items():
            begun = time.monotonic()
            for repetition in range(1, options.repetitions + 1):
                out = play.once(case, text, repetition).parent
            (out / "platform.txt").write_text(platform)
            recording.write(recorded, {case: out}, {case: text})
            say_recorded(recorded, case, time.monotonic() - begun)
    say_how_to_judge(recorded)
    return 0


@dataclass(frozen=True, slots=True)
class Play:
    """Plays cases on a disk; what comes of them goes to ``out/CASE/REPETITION``."""

    player: Path
    tracing: Tracing
    mount: Path
    out: Path

    def once(self, case: str, text: str, repetition: int) -> Path:
        """Play a case, and give the folder of its tables and its trace."""
        out = self.out / case / str(repetition)
        out.mkdir(parents=True, exist_ok=True)
        steps = out.parent / f"{case}.pct"
        steps.write_text(text)
        device = ":".join(map(str, _device_of(self.mount)))
        self.tracing.begin()
        done = subprocess.run(
            [str(self.player), str(steps), str(repetition), str(self.mount), device, str(out)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        (out / "trace").write_text(self.tracing.end())
        if done.returncode:
            raise BedError(f"{case}: {done.stderr.strip() or 'the player stopped early'}")
        return out

    def settle(self, memory_mib: int) -> None:
        """Write until the kernel knows of the memory that is left, and every page of it has been used.

        Source: mm/page-writeback.c, ``update_dirty_limit``: the hard limit, by which writers are held back,
        comes down to the threshold by a 32nd of the way in 200 ms, while somebody is held back. Memory that
        nobody has used lately may be the host's, whose first touch takes long.
        """
        text = "".join(f"{line}\n" for line in cases.filling(memory_mib))
        for round_ in range(1, MOST_ROUNDS + 1):
            trace = (self.once("settle", text, round_) / "trace").read_text()
            if (far := _distance(trace)) is not None and far <= SETTLED:
                return
        raise BedError(f"the hard limit of dirty memory has not settled: {far} times the threshold")


def _distance(trace: str) -> float | None:
    """Say how far above the threshold the hard limit was in the end; None if nobody was held back."""
    columns = ("t_s", "task", *recording.EVENTS["global_dirty_state"])
    states = [row for event, row in recording.events(trace, start_s=0.0) if event == "global_dirty_state"]
    if not states:
        return None
    last = dict(zip(columns, states[-1], strict=True))
    return int(last["limit"]) / int(last["thresh"])
