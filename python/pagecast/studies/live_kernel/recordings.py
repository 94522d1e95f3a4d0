"""Reads the recordings: a folder for each platform, read from the folder that ``--data`` names."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from pagecast.errors import StudyError
from pagecast.studies.live_kernel.case import Case, read_case
from pagecast.studies.live_kernel.program import MAIN, WHOLE_CASE
from pagecast.studies.recorded import find, records
from pagecast.throttling import CHECK, Throttling, of_checks

__all__ = ["Call", "Levels", "Look", "Platform", "Recording", "platforms", "recordings_of"]

PAGE_BYTES: Final = 4096
MOST_LACK: Final = 1 / 32
"""The most that the part of the only disk may lack: one page of a batch of counters."""
UPDATE_INTERVAL_S: Final = 0.2
"""The hard limit is not moved twice in this time (mm/page-writeback.c: BANDWIDTH_INTERVAL)."""
KIB: Final = 1024

_NOT_TIMED: Final = ("mark", "sleep", "spin", "stat", "sh", "proc", "endproc")
"""Rows that are no input or output."""

_USABLE: Final = ("MemFree_kB", "Active(file)_kB", "Inactive(file)_kB")

_Key = tuple[str, int]
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Call:
    """One row of ``io.csv``: a system call, or several in a row; for a mark, `file` is its label."""

    process: str
    start_s: float
    kind: str
    file: str
    bytes: int
    duration_s: float
    calls: int

    @property
    def end_s(self) -> float:
        """When it returned."""
        return self.start_s + self.duration_s


@dataclass(frozen=True, slots=True)
class Look:
    """One row of ``cache.csv``: cached bytes of a file, seen from `process` after a step `stat`."""

    process: str
    time_s: float
    label: str
    file: str
    cached_bytes: int


@dataclass(frozen=True, slots=True)
class Levels:
    """Samples of ``mem.csv``, arrays of one length; dirty counts pages under writeback too.

    `usable_bytes` are free and file pages, NaN where they were not recorded; `device_limit_bytes` is the
    disk's own part of the dirty limit, 0 where it was not.
    """

    time_s: NDArray[np.float64]
    dirty_bytes: NDArray[np.float64]
    limit_bytes: NDArray[np.float64]
    usable_bytes: NDArray[np.float64]
    bandwidth_bytes_per_s: NDArray[np.float64]
    device_limit_bytes: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Recording:
    """One repetition of a case.

    `levels` is None where memory was not recorded, `throttling` where nothing was traced.
    `write_bandwidth_bytes_per_s` and `dirty_ratelimit_bytes_per_s` are what the kernel had learnt of the disk
    before, and `dirty_limit_bytes` what its hard limit was, as far as they are known;
    `writeout_fraction` tells what part of what was written lately went to the disk, and `completions_bytes`
    how much that was, where it was little.
    """

    case: str
    repetition: int
    calls: tuple[Call, ...]
    looks: tuple[Look, ...]
    levels: Levels | None
    throttling: Throttling | None
    write_bandwidth_bytes_per_s: float | None
    dirty_ratelimit_bytes_per_s: float | None
    dirty_limit_bytes: float | None
    writeout_fraction: float | None
    completions_bytes: float | None

    @property
    def first_mark_s(self) -> float:
        """When the set-up was over; 0 if there is no mark."""
        return min((call.start_s for call in self.calls if call.kind == "mark"), default=0.0)

    def phases(self) -> dict[tuple[str, str], float]:
        """Give the seconds in system calls by process and phase, without the set-up.

        A process that was started inside a phase belongs to it until its own first mark.
        """
        seconds: dict[tuple[str, str], float] = defaultdict(float)
        for process, phase, time_s in self._timed():
            if phase is not None:
                seconds[process, phase] += time_s
        return dict(seconds)

    def total_s(self) -> float:
        """Give the seconds that the case's own process spent in system calls and in waiting for others."""
        return sum(time_s for (process, _), time_s in self.phases().items() if process == MAIN)

    def stat_seconds(self) -> dict[str, list[float]]:
        """Give how long each look at the cache took, by process: the time since the call before it."""
        seconds: dict[str, list[float]] = defaultdict(list)
        for process in dict.fromkeys(look.process for look in self.looks):
            ends = sorted(call.end_s for call in self.calls if call.process == process)
            before = 0.0
            for look in (look for look in self.looks if look.process == process):
                last = max((end for end in ends if end <= look.time_s), default=look.time_s)
                seconds[process].append(max(look.time_s - max(last, before), 0.0))
                before = look.time_s
        return dict(seconds)

    def _timed(self) -> Iterator[tuple[str, str | None, float]]:
        """Give each timed call with its process and phase; waiting for processes counts as a call."""
        has_marks = any(call.kind == "mark" for call in self.calls)
        start: str | None = None if has_marks else WHOLE_CASE
        by_process: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            by_process[call.process].append(call)
        marks = [(call.start_s, call.file) for call in by_process[MAIN] if call.kind == "mark"]
        for process, calls in by_process.items():
            phase = start
            if process != MAIN:
                phase = next((label for time, label in reversed(marks) if time <= calls[0].start_s), start)
            for call in calls:
                if call.kind == "mark":
                    phase = call.file
                elif call.kind not in _NOT_TIMED:
                    yield process, phase, call.duration_s
        if not any(call.kind == "wait" for call in by_process[MAIN]):
            yield from self._waits(by_process, start)

    def _waits(
        self, by_process: Mapping[str, list[Call]], phase: str | None
    ) -> Iterator[tuple[str, str | None, float]]:
        """Find where the case's own process did nothing until another process ended."""
        ends = sorted(calls[-1].end_s for name, calls in by_process.items() if name != MAIN)
        last = 0.0
        for call in [*by_process[MAIN], None]:
            until = float("inf") if call is None else call.start_s
            inside = [end for end in ends if last < end <= until]
            if inside and (call is None or call.kind not in ("sleep", "spin")):
                yield MAIN, phase, max(inside) - last
            if call is not None:
                phase = call.file if call.kind == "mark" else phase
                last = max(last, call.end_s)


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform: its folder and name, its cases by name, and their repetitions.

    `unknown` are cases that were recorded, but whose steps are not there.
    """

    folder: Path
    name: str
    cases: dict[str, Case]
    recordings: tuple[Recording, ...]
    unknown: tuple[str, ...]


def platforms(folder: Path) -> list[Platform]:
    """Read the platforms of a folder, or the one that the folder itself is.

    Parameters
    ----------
    folder : Path
        Holds folders with ``cases/*.pct`` and ``io.csv.gz``; README.md names the other input.

    Returns
    -------
    list of Platform
        By name.

    Raises
    ------
    StudyError
        There is no platform in the folder, or a file cannot be understood.
    """
    candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    found = [path for path in candidates if (path / "cases").is_dir() and find(path, "io")]
    if not found:
        raise StudyError(
            f"{folder}: no platform in it; --data wants a folder of folders with cases/*.pct and io.csv.gz, "
            "as the study's README describes"
        )
    return [_platform(path) for path in found]


def _platform(folder: Path) -> Platform:
    cases = {path.stem: read_case(path) for path in sorted((folder / "cases").glob("*.pct"))}
    recordings = recordings_of(folder)
    return Platform(
        folder=folder,
        name=folder.resolve().name,
        cases=cases,
        recordings=tuple(each for each in recordings if each.case in cases),
        unknown=tuple(sorted({each.case for each in recordings} - set(cases))),
    )


def recordings_of(folder: Path) -> tuple[Recording, ...]:
    """Read all repetitions of all cases of a platform, also of those whose steps are not there."""
    calls = _by_case(folder, "io", _call)
    looks = _by_case(folder, "cache", _look)
    samples = _by_case(folder, "mem", _sample)
    limits = _by_case(folder, "bdi_dirty_ratelimit", _rate_limit)
    states = _by_case(folder, "global_dirty_state", _state)
    checks = _by_case(folder, "balance_dirty_pages", _check)
    return tuple(
        _recording(key, of_case, looks[key], samples[key], limits[key], states[key], checks[key])
        for key, of_case in sorted(calls.items())
    )


def _recording(
    key: _Key,
    calls: list[Call],
    looks: list[Look],
    samples: list[tuple[float, ...]],
    limits: list[tuple[float, float]],
    states: list[tuple[float, float]],
    checks: list[tuple[float, list[float]]],
) -> Recording:
    levels = Levels(*np.array(samples).T) if samples else None
    bandwidth, rate_limit = limits[0] if limits else (None, None)
    if levels is not None:
        # The estimate from before the case, where the kernel showed it; the trace begins later.
        learnt = levels.bandwidth_bytes_per_s[levels.bandwidth_bytes_per_s > 0]
        bandwidth = float(learnt[0]) if len(learnt) else bandwidth
    return Recording(
        case=key[0],
        repetition=key[1],
        calls=tuple(sorted(calls, key=lambda call: call.start_s)),
        looks=tuple(looks),
        levels=levels,
        throttling=of_checks(*zip(*checks, strict=True), page_bytes=PAGE_BYTES) if checks else None,
        write_bandwidth_bytes_per_s=bandwidth,
        dirty_ratelimit_bytes_per_s=rate_limit,
        dirty_limit_bytes=_limit_before(states, calls),
        writeout_fraction=None if levels is None else _part(levels),
        completions_bytes=None if levels is None else _completions(levels),
    )


def _part(levels: Levels) -> float:
    """Give the disk's part of the bytes written lately: that of the limit in the first sample.

    The part of the only disk lacks a little, too; see `_completions`.
    """
    part = float(levels.device_limit_bytes[0] / levels.limit_bytes[0])
    return part if part < 1 - MOST_LACK else 1.0


def _completions(levels: Levels) -> float | None:
    """Give how much was counted as written lately, from the disk's part of the limit in the first sample.

    The kernel counts one page too many of all disks, so that the part of the only one lacks one page of those
    counted. That is seen until the part is the whole limit but for less than a page. Below a batch of
    counters, 32 pages, it says nothing.
    """
    lacks, limit = levels.limit_bytes[0] - levels.device_limit_bytes[0], levels.limit_bytes[0]
    if not 1.5 * PAGE_BYTES <= lacks <= limit * MOST_LACK:
        return None
    return float(limit / lacks) * PAGE_BYTES


def _limit_before(states: list[tuple[float, float]], calls: list[Call]) -> float | None:
    """Give the hard limit as it was traced when the first write began; writers move it every 200 ms."""
    writes = ("write", "fwrite")
    first = min((call.start_s for call in calls if call.kind in writes), default=float("inf"))
    return next((limit for time, limit in states if time <= first + UPDATE_INTERVAL_S), None)


def _by_case(
    folder: Path, name: str, read: Callable[[dict[str, str]], _Record]
) -> defaultdict[_Key, list[_Record]]:
    """Read a table by case and repetition; those that are not in it have nothing."""
    found: defaultdict[_Key, list[_Record]] = defaultdict(list)
    if (path := find(folder, name)) is not None:
        for key, record in records(path, lambda row: ((row["case"], int(row["rep"])), read(row))):
            found[key].append(record)
    return found


def _call(row: dict[str, str]) -> Call:
    return Call(
        row["proc"],
        float(row["t_start_s"]),
        row["op"],
        row["file"],
        int(row["bytes"]),
        float(row["duration_s"]),
        int(row.get("calls") or 1),
    )


def _look(row: dict[str, str]) -> Look:
    return Look(row["proc"], float(row["t_s"]), row["label"], row["file"], int(row["cached_bytes"]))


def _sample(row: dict[str, str]) -> tuple[float, ...]:
    dirty = float(row["Dirty_kB"]) + float(row["Writeback_kB"])
    bandwidth = float(row.get("BdiWriteBandwidth_kBps") or 0)
    device_limit = float(row.get("BdiDirtyThresh_kB") or 0)
    limit = float(row["nr_dirty_threshold"])
    usable = sum(float(row.get(name) or "nan") for name in _USABLE)
    levels = (dirty * KIB, limit * PAGE_BYTES, usable * KIB, bandwidth * KIB, device_limit * KIB)
    return float(row["t_s"]), *levels


def _check(row: dict[str, str]) -> tuple[float, list[float]]:
    return float(row["t_s"]), [float(row.get(name) or "nan") for name in CHECK]


def _state(row: dict[str, str]) -> tuple[float, float]:
    return float(row["t_s"]), float(row["limit"]) * PAGE_BYTES


def _rate_limit(row: dict[str, str]) -> tuple[float, float]:
    return float(row["write_bw"]) * KIB, float(row["dirty_ratelimit"]) * KIB
