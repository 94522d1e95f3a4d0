"""Memory during Exp 1, forecast and measured, aligned operation by operation.

A measured moment is compared with the forecast of the same part of the same operation (or of the computing
between two), so that an operation that is forecast too long does not shift all that follows it. Dirty is
without pages under writeback: the recordings leave out what is under writeback. Left out: moments between
two tasks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pagecast.api import load_machine
from pagecast.comparison.levels import CachedBytes
from pagecast.comparison.machines import described
from pagecast.result import is_modelled
from pagecast.studies.wrench_cache.experiments import TASK_OPERATIONS
from pagecast.studies.wrench_cache.forecast import CaseRun, Columns, task_of, task_spans
from pagecast.studies.wrench_cache.recordings import Profile
from pagecast.studies.wrench_cache.tables import Window, cached_files, memory
from pagecast.tolerance import CACHED_TOLERANCE, DIRTY_TOLERANCE

__all__ = [
    "CachedFile",
    "Compared",
    "Levels",
    "compare",
    "compare_files",
    "compared_levels",
    "content",
]

STEPS: Final = 50
"""The forecast's mean over a window is taken from so many points."""

DEFAULT_DIRTY_RATIO: Final = 20


@dataclass(frozen=True, slots=True)
class Levels:
    """Memory of one case under one model: forecast less measured, one value a moment.

    `dirty` is in shares of the dirty limit of that moment, `cached` of all memory. `from_samples` says that
    the moments are samples of a recording; else they are the windows of the shipped table.
    """

    case: str
    model: str
    dirty: NDArray[np.float64]
    cached: NDArray[np.float64]
    from_samples: bool

    @staticmethod
    def within(all_of: "Iterable[Levels]") -> tuple[float, float]:
        """Give the shares of all moments at which dirty and cached memory are within their tolerances."""
        found = list(all_of)
        dirty = np.abs(np.concatenate([one.dirty for one in found])) <= DIRTY_TOLERANCE
        cached = np.abs(np.concatenate([one.cached for one in found])) <= CACHED_TOLERANCE
        return float(dirty.mean()), float(cached.mean())

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        dirty, cached = Levels.within([self])
        return {
            "experiment": "1",
            "case": self.case,
            "model": self.model,
            "moments": "samples" if self.from_samples else "windows",
            "n": len(self.dirty),
            "dirty_share_within_10_percent": dirty,
            "dirty_greatest_deviation": _greatest(self.dirty),
            "cached_share_within_5_percent": cached,
            "cached_greatest_deviation": _greatest(self.cached),
        }


def _greatest(values: NDArray[np.float64]) -> float:
    return float(values[np.argmax(np.abs(values))])


@dataclass(frozen=True, slots=True)
class CachedFile(CachedBytes):
    """Cached bytes of one file after an operation of Exp 1, measured and forecast."""

    case: str
    operation: str
    file: str
    model: str
    measured_bytes: float
    forecast_bytes: float
    memory_bytes: float

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {"experiment": "1"} | CachedBytes.as_dict(self)


@dataclass(frozen=True, slots=True)
class Compared:
    """Moments of one case of Exp 1, in bytes: as measured, as forecast, and the base of the tolerances."""

    time_s: NDArray[np.float64]
    measured: dict[str, NDArray[np.float64]]
    forecast: dict[str, NDArray[np.float64]]
    whole: dict[str, NDArray[np.float64]]

    def deviation(self, level: str) -> NDArray[np.float64]:
        """Forecast less measured, as a share of the dirty limit (dirty) or of the memory (cached)."""
        away: NDArray[np.float64] = (self.forecast[level] - self.measured[level]) / self.whole[level]
        return away


def compare(run: CaseRun, profile: Profile | None) -> Levels | None:
    """Compare the memory of one case of Exp 1 with the measurement.

    Parameters
    ----------
    run : CaseRun
    profile : Profile or None
        Samples; without them the shipped means over windows are compared.

    Returns
    -------
    Levels or None
        None if the model knows no dirty memory.
    """
    if not is_modelled(run.model, "dirty"):
        return None
    compared = compared_levels(run, profile)
    dirty, cached = (compared.deviation(level) for level in ("dirty", "cached"))
    return Levels(run.case, run.model, dirty, cached, from_samples=profile is not None)


def compared_levels(run: CaseRun, profile: Profile | None) -> Compared:
    """Put measured and forecast memory side by side; see `compare`."""
    windows = [window for window in memory() if window.case == run.case]
    measured_spans, forecast_spans = _measured_spans(windows), task_spans(run.result.operations)
    moments = list(_windows(windows) if profile is None else _samples(profile, measured_spans))
    timeline = _Timeline.of(run.result.timeline)
    forecast = np.array(
        [
            timeline.mean(_moved(one.time_s, measured_spans[one.span], forecast_spans[one.span]))
            for one in moments
        ]
    )
    dirtyable = np.array([one.dirtyable_bytes for one in moments])
    return Compared(
        np.array([one.time_s.mean() for one in moments]),
        measured={
            "dirty": np.array([one.dirty_bytes for one in moments]),
            "cached": np.array([one.cached_bytes for one in moments]),
        },
        forecast={"dirty": forecast[:, 0], "cached": forecast[:, 1]},
        whole={
            "dirty": _dirty_ratio(run.machine) * dirtyable,
            "cached": np.full(len(moments), timeline.memory_bytes),
        },
    )


@dataclass(frozen=True, slots=True)
class _Moment:
    """What was measured: at one time, or the mean over several."""

    span: str
    time_s: NDArray[np.float64]
    dirty_bytes: float
    cached_bytes: float
    dirtyable_bytes: float


def _windows(windows: Iterable[Window]) -> Iterator[_Moment]:
    for one in windows:
        time_s = one.start_s + (one.end_s - one.start_s) * (np.arange(STEPS) + 0.5) / STEPS
        yield _Moment(one.span, time_s, one.dirty_bytes, one.cached_bytes, one.dirtyable_bytes)


def _samples(profile: Profile, spans: dict[str, tuple[float, float]]) -> Iterator[_Moment]:
    levels = (profile.dirty_bytes, profile.cached_bytes, profile.dirtyable_bytes)
    for span, (start, end) in spans.items():
        for at in np.flatnonzero((profile.time_s >= start) & (profile.time_s < end)):
            yield _Moment(span, profile.time_s[at : at + 1], *(float(level[at]) for level in levels))


def _measured_spans(windows: Iterable[Window]) -> dict[str, tuple[float, float]]:
    spans: dict[str, tuple[float, float]] = {}
    for window in windows:
        start, _ = spans.get(window.span, (window.start_s, 0.0))
        spans[window.span] = (start, window.end_s)
    return spans


def _moved(
    time_s: NDArray[np.float64], measured: tuple[float, float], forecast: tuple[float, float]
) -> NDArray[np.float64]:
    """Give the moments of the forecast that are as far into an operation as these of the measured one."""
    part = (time_s - measured[0]) / (measured[1] - measured[0])
    return forecast[0] + part * (forecast[1] - forecast[0])


@dataclass(frozen=True, slots=True)
class _Timeline:
    time_s: NDArray[np.float64]
    dirty_bytes: NDArray[np.float64]
    cached_bytes: NDArray[np.float64]
    memory_bytes: float

    @staticmethod
    def of(timeline: Columns) -> "_Timeline":
        dirty, cached = (np.asarray(timeline[f"{name}_bytes"], float) for name in ("dirty", "cached"))
        if "writeback_bytes" in timeline:
            dirty = dirty - np.asarray(timeline["writeback_bytes"])
        return _Timeline(np.asarray(timeline["time_s"]), dirty, cached, _memory_bytes(timeline))

    def mean(self, time_s: NDArray[np.float64]) -> tuple[float, float]:
        """Give the mean dirty and cached bytes over some moments."""
        dirty = np.interp(time_s, self.time_s, self.dirty_bytes)
        return float(dirty.mean()), float(np.interp(time_s, self.time_s, self.cached_bytes).mean())


def _memory_bytes(timeline: Columns) -> float:
    return float(timeline["used_bytes"][0] + timeline["free_bytes"][0])


def _dirty_ratio(machine: str) -> float:
    vm = described(load_machine(machine)).get("vm", {})
    return float(vm.get("dirty_ratio", DEFAULT_DIRTY_RATIO)) / 100


def compare_files(run: CaseRun) -> Iterator[CachedFile]:
    """Compare the cached bytes of each file after each operation of a case of Exp 1 with the measurement."""
    memory_bytes = _memory_bytes(run.result.timeline)
    forecast = content(run.result.files)
    for operation in TASK_OPERATIONS:
        amounts = zip(cached_files()["measured"][run.case, operation], forecast[operation], strict=True)
        for k, (measured, ours) in enumerate(amounts, start=1):
            yield CachedFile(run.case, operation, f"f{k}", run.model, measured, ours, memory_bytes)


def content(files: Columns) -> dict[str, list[float]]:
    """Give the cached bytes of f1 to f4 after each operation of Exp 1, from a result's table of files."""
    after: dict[str, list[float]] = {operation: [0.0] * 4 for operation in TASK_OPERATIONS}
    columns = (files[name] for name in ("process", "index", "path", "cached_bytes"))
    for process, index, path, cached in zip(*columns, strict=True):
        if (task := task_of(str(process))) is not None:  # the rows without a process are those at the end
            kind = "read" if int(index) == 0 else "write"
            after[f"{kind} {task}"][int(str(path)[-1]) - 1] = float(cached)
    return after
