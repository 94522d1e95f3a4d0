"""Simulate a case as it was repeated, and take the measured quantities out of the result."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pagecast.api import Scenario, simulate
from pagecast.comparison.learnt import Learnt
from pagecast.comparison.levels import deviation, looks_at_files
from pagecast.comparison.machines import cgroups_of, disk_of, memory_of, mount_of
from pagecast.comparison.plateaus import Settled
from pagecast.studies.live_kernel.case import Case
from pagecast.studies.live_kernel.levels import CachedFile, DirtyLevel
from pagecast.studies.live_kernel.program import MAIN, Program, UnsupportedError, translate
from pagecast.studies.live_kernel.recordings import Recording
from pagecast.studies.skeleton import Simulate
from pagecast.throttling import Plateau, forecast, plateau
from pagecast.uncertainty.kinds import Kind, kind_of_whole, kinds_of_rows, seconds_by_kind

if TYPE_CHECKING:
    from pagecast._core import Machine
    from pagecast.result import Columns, Result

__all__ = [
    "CaseRun",
    "Limits",
    "initial_state",
    "run_case",
    "simulate_case",
]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of dirty memory in the model, at the times of `CaseRun.level_time_s`.

    The rate is that of a throttled writer, NaN where nobody is throttled.
    """

    dirty_limit_bytes: NDArray[np.float64]
    setpoint_bytes: NDArray[np.float64]
    task_rate_bytes_per_s: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One repetition of a case under one model.

    `seconds` are those in system calls, by process and phase. Times of `level_time_s` count as those of the
    recording do: the first mark is at the same moment. `limits` is None under models without any, `plateau`
    where nobody is throttled for long. `kind` is the kind of I/O that takes most time.
    """

    platform: str
    recording: Recording
    model: str
    machine: str
    seconds: dict[tuple[str, str], float]
    level_time_s: NDArray[np.float64]
    level_bytes: NDArray[np.float64]
    limits: Limits | None
    plateau: Plateau | None
    cached: tuple[CachedFile, ...]
    machine_hash: str
    kind: Kind
    cgroup_share: float = 1.0
    """The part of the memory, and so of the dirty limit, that the cgroup of the case has; 1 without one."""
    range_s: tuple[float, float] | None = None
    """The 90 % range of the total, where one was drawn."""

    @property
    def total_s(self) -> float:
        """Seconds in system calls of the case's own process, and in waiting for others."""
        return sum(time_s for (process, _), time_s in self.seconds.items() if process == MAIN)

    def dirty(self) -> DirtyLevel | None:
        """Hold the forecast dirty memory against the samples; None if there are none."""
        from pagecast.result import is_modelled

        levels = self.recording.levels
        if levels is None or not is_modelled(self.model, "dirty"):
            return None
        last = max(call.end_s for call in self.recording.calls)
        inside = (levels.time_s >= self.recording.first_mark_s) & (levels.time_s <= last)
        if not inside.any():
            return None
        away = deviation(
            levels.time_s[inside], levels.dirty_bytes[inside], self.level_time_s, self.level_bytes
        )
        return DirtyLevel(
            self.platform,
            self.recording.case,
            self.recording.repetition,
            self.model,
            away / (self.cgroup_share * levels.limit_bytes[inside]),
        )

    def settled(self) -> Settled | None:
        """Hold the forecast plateau against the traced one; None if one of them is not there."""
        traced = plateau(self.recording.throttling)
        if traced is None or self.plateau is None:
            return None
        of = self.recording
        return Settled(of.case, of.repetition, self.model, traced, self.plateau, experiment=self.platform)


def initial_state(recording: Recording, machine: "Machine") -> dict[str, str]:
    """Give the kernel's earlier estimates, as options of the model `kernel`."""
    return Learnt(
        write_bandwidth_bytes_per_s=recording.write_bandwidth_bytes_per_s,
        dirty_ratelimit_bytes_per_s=recording.dirty_ratelimit_bytes_per_s,
        dirty_limit_bytes=recording.dirty_limit_bytes,
        writeout_fraction=recording.writeout_fraction,
        completions_bytes=recording.completions_bytes,
    ).options(disk_of(machine))


def simulate_case(
    program: Program, *, machine: "Machine", model: str, options: Mapping[str, str]
) -> "Result":
    """Simulate the processes of a case, in the machine's cgroup if it has one.

    Residency of files is noted after each operation.

    Raises
    ------
    UnsupportedError
        The model knows no memory cgroups, and the machine has one.
    """
    cgroup = next(iter(cgroups_of(machine)), None)
    keys = {"format": "pct", "files_in": mount_of(machine)} | ({} if cgroup is None else {"cgroup": cgroup})
    with program.file() as path:
        given = "".join(
            f"{key} = {json.dumps(value)}\n" for key, value in {"from": str(path), **keys}.items()
        )
        scenario = Scenario.from_toml(f"{machine.to_toml()}\n[[process]]\n{given}")
    if cgroup is not None and model not in scenario.models:
        raise UnsupportedError(f"{model} knows no memory cgroups; only {', '.join(scenario.models)} does")
    return simulate(scenario, model=model, options=options, residency="operation")


def run_case(
    case: Case,
    recording: Recording,
    *,
    platform: str,
    model: str,
    machine_name: str,
    machine: "Machine",
    options: Mapping[str, str],
    simulate: Simulate = simulate_case,
) -> CaseRun:
    """Forecast one repetition of a case.

    Parameters
    ----------
    case : Case
    recording : Recording
    platform : str
    model : str
    machine_name : str
        Name of the machine in rows.
    machine : Machine
    options : mapping of str
        Of the model.
    simulate : callable
        Like `simulate_case`.

    Raises
    ------
    UnsupportedError
        The case has a step that cannot be forecast.
    """
    program = translate(case, stat_s=recording.stat_seconds())
    result = simulate(program, machine=machine, model=model, options=options)
    first_s, seconds = _times(program, result)
    timeline = result.timeline
    memory = memory_of(machine)
    limit = min([memory, *cgroups_of(machine).values()])
    return CaseRun(
        platform=platform,
        recording=recording,
        model=model,
        machine=machine_name,
        seconds=seconds,
        level_time_s=timeline["time_s"] - first_s + recording.first_mark_s,
        level_bytes=timeline["dirty_bytes"].astype(np.float64),
        limits=_limits(timeline),
        plateau=plateau(forecast(result)),
        cached=tuple(_cached(program, result, platform, recording, limit)),
        machine_hash=result.machine_hash,
        kind=_kind(program, result),
        cgroup_share=limit / memory,
    )


def _limits(timeline: "Columns") -> Limits | None:
    names = [field.name for field in fields(Limits)]
    if any(name not in timeline for name in names):
        return None
    return Limits(*(timeline[name].astype(np.float64) for name in names))


def _times(program: Program, result: "Result") -> tuple[float, dict[tuple[str, str], float]]:
    """Give when the set-up was over, and the seconds in system calls by recorded process and phase."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    starts = []
    columns = ("process", "index", "operation", "start_s", "duration_s")
    rows = zip(*(result.operations[name] for name in columns), strict=True)
    for process, index, operation, start_s, duration_s in rows:
        phase, is_timed = program.counts(process, int(index), operation)
        if phase is None:
            continue
        starts.append(float(start_s))
        if is_timed:
            seconds[program.line(process, int(index)).process, phase] += float(duration_s)
    return min(starts, default=0.0), dict(seconds)


def _kind(program: Program, result: "Result") -> Kind:
    """Tell of which kind the timed operations after the set-up are."""
    columns = (result.operations[name] for name in ("process", "index", "operation"))
    counts = (
        program.counts(process, int(index), what) for process, index, what in zip(*columns, strict=True)
    )
    is_timed = np.array([phase is not None and timed for phase, timed in counts], dtype=bool)
    kinds = kinds_of_rows(result.operations, result.parts)
    return kind_of_whole(seconds_by_kind(kinds, np.where(is_timed, result.operations["duration_s"], 0.0)))


def _cached(
    program: Program, result: "Result", platform: str, recording: Recording, memory: int
) -> Iterator[CachedFile]:
    """Put the cached bytes of each `stat` beside the forecast after its operation."""
    from pagecast.result import is_modelled

    if not is_modelled(result.model, "cached"):
        return
    forecast = looks_at_files(result)
    looks = defaultdict(list)
    for look in recording.looks:
        looks[look.process, look.label, look.file].append(look.cached_bytes)
    rows = zip(*(result.operations[name] for name in ("process", "index", "path")), strict=True)
    keys = [(process, int(index), path) for process, index, path in rows]
    for key in sorted(keys, key=lambda key: program.line_of[key[0]][key[1]]):
        line = program.line(*key[:2])
        if line.look is None or key not in forecast:
            continue
        if found := looks[line.process, *line.look]:
            label, file = line.look
            yield CachedFile(
                platform, recording.case, recording.repetition, line.process, label, file,
                result.model, found.pop(0), forecast[key], memory,
            )  # fmt: skip
