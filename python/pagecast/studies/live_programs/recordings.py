"""Reads the recordings of programs: what fio said of job files, and commands with and without strace."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast.errors import StudyError
from pagecast.studies.live_kernel.recordings import Recording, recordings_of
from pagecast.studies.recorded import find, records

__all__ = ["Command", "FioJob", "FioRun", "Platform", "platforms"]

STATES: Final = ("cold", "warm")

MIB: Final = 2**20

_COLD: Final = re.compile(r"^[#;] *set-up: *(caches dropped|drop) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FioJob:
    """What fio said of one direction of a job: bytes per second, and latencies of completion in seconds."""

    job: str
    direction: str
    rate_bytes_per_s: float
    p50_s: float
    p99_s: float

    @property
    def name(self) -> str:
        """Direction and job, for people."""
        return f"{self.direction} {self.job}"


@dataclass(frozen=True, slots=True)
class FioRun:
    """One repetition of a job file; `is_cold` if the caches were dropped before."""

    case: str
    repetition: int
    job_file: Path
    is_cold: bool
    jobs: tuple[FioJob, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One run of a command: without strace, and the trace of another run in the same state.

    `read_bytes`, `write_bytes`, `read_calls` and `write_calls` are what ``/proc/PID/io`` counted of it and
    its children (rchar, wchar, syscr, syscw).
    """

    case: str
    repetition: int
    state: str
    wall_s: float
    traced_s: float
    read_bytes: int
    write_bytes: int
    read_calls: int
    write_calls: int
    trace: Path


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform: its folder, its job files and commands, and all repetitions with the kernel's counters."""

    folder: Path
    name: str
    fio: tuple[FioRun, ...]
    commands: tuple[Command, ...]
    recordings: dict[tuple[str, int], Recording]


def platforms(folder: Path) -> list[Platform]:
    """Read the platforms of a folder, or the one that the folder itself is.

    Raises
    ------
    StudyError
        There is none in the folder, or a file cannot be understood.
    """
    candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    found = [path for path in candidates if find(path, "fio") or find(path, "exec")]
    if not found:
        raise StudyError(
            f"{folder}: no recording of programs in it; --data wants what "
            "`python -m bed guest DIR --disk null` has put into DIR/recordings"
        )
    return [_platform(path) for path in found]


def _platform(folder: Path) -> Platform:
    recordings = recordings_of(folder) if find(folder, "io") else ()
    return Platform(
        folder=folder,
        name=folder.resolve().name,
        fio=tuple(_fio(folder)),
        commands=tuple(_commands(folder)),
        recordings={(each.case, each.repetition): each for each in recordings},
    )


def _fio(folder: Path) -> list[FioRun]:
    path = find(folder, "fio")
    jobs: dict[tuple[str, int], list[FioJob]] = defaultdict(list)
    for key, job in [] if path is None else records(path, _job):
        jobs[key].append(job)
    found = []
    for (case, repetition), of in sorted(jobs.items()):
        job_file = folder / "cases" / f"{case}.fio"
        if job_file.is_file():
            is_cold = _COLD.search(job_file.read_text(encoding="utf-8")) is not None
            found.append(FioRun(case, repetition, job_file, is_cold, tuple(of)))
    return found


def _job(row: dict[str, str]) -> tuple[tuple[str, int], FioJob]:
    latencies = (float(row[name]) / 1e6 for name in ("p50_us", "p99_us"))
    return (row["case"], int(row["rep"])), FioJob(
        row["job"], row["dir"], float(row["bw_MiBps"]) * MIB, *latencies
    )


def _commands(folder: Path) -> list[Command]:
    path = find(folder, "exec")
    runs: dict[tuple[str, int], list[dict[str, str]]] = defaultdict(list)
    for row in [] if path is None else records(path, dict):
        if row["command"].endswith(f" /cases/{row['case']}.sh"):
            runs[row["case"], int(row["rep"])].append(row)
    found = []
    for (case, repetition), of in sorted(runs.items()):
        if len(of) != 2 * len(STATES):
            raise StudyError(f"{path}: {case} was not run cold and warm, without and with strace")
        for state, plain, traced in zip(STATES, of, of[len(STATES) :], strict=False):
            trace = folder / "strace" / f"{case}.{state}.{repetition}.strace.gz"
            counted = {name: int(plain[name]) for name in ("rchar", "wchar", "syscr", "syscw")}
            found.append(
                Command(
                    case,
                    repetition,
                    state,
                    wall_s=float(plain["duration_s"]),
                    traced_s=float(traced["duration_s"]),
                    read_bytes=counted["rchar"],
                    write_bytes=counted["wchar"],
                    read_calls=counted["syscr"],
                    write_calls=counted["syscw"],
                    trace=trace,
                )
            )
    return found
