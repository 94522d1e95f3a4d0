"""What memory held over time, measured and forecast, as the same levels: dirty and cached bytes.

A forecast knows the scenario's own files alone. So do the samples of each file by cachestat(2), and their sum
is compared. Where there are none (a kernel before 6.5, a file system without it, more files than are looked
at), the dirty memory of the whole machine stands for them, and cached memory, which other programs fill too,
is not compared.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast._core import cache_available, format_bytes
from pagecast.studies.levels import deviation
from pagecast.studies.machines import described
from pagecast.validation.outcome import MEASURED, Level

if TYPE_CHECKING:
    from pagecast.api import Scenario
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = [
    "ALL",
    "LEVELS",
    "Room",
    "Series",
    "away_from_forecast",
    "away_from_run",
    "forecast_series",
    "measured_series",
    "sees_files",
    "whole_bytes",
]

KNOW_CGROUPS: Final = ("kernel",)
"""The models that know memory cgroups."""

LEVELS: Final = ("dirty", "cached")
"""The names of the levels; dirty counts what is under writeback too."""

MOST_FILES: Final = 1000
"""So many files are looked at (`crates/pagecast-probe/src/run/sampler.rs`)."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a run has of this machine.

    Attributes
    ----------
    memory_bytes : float
        The limit of the memory cgroup that it is in; infinite in none.
    dirty_share : float
        Its part of the kernel's dirty limit; 1 but for cgroups of version 2.
    usable_bytes : float or None
        What was free or held files before the first run; None if that is not known.
    cgroup_version : int or None
        Of the cgroup with that limit; None in none.
    cgroup_bytes : int
        What that cgroup has for files and programs of the run: its limit, less what this process holds itself
        and others in it.
    """

    memory_bytes: float = math.inf
    dirty_share: float = 1.0
    usable_bytes: float | None = None
    cgroup_version: int | None = None
    cgroup_bytes: int = 0

    @classmethod
    def here(cls, directory: str | os.PathLike[str]) -> "Room":
        """Ask about the cgroup that this process is in; all of it if nothing can be read."""
        from pagecast.calibration.facts import read_facts

        try:
            facts = read_facts(Path(directory))
        except OSError:
            return cls()
        least = min(facts.groups, key=lambda group: group.limit_bytes, default=None)
        memory = least.limit_bytes if least else math.inf
        limits = [group.limit_bytes for group in facts.groups if group.version > 1]
        usable = facts.memory.usable_bytes
        dirty_share = min(1.0, min(limits, default=math.inf) / usable)
        if least is None:
            return cls(memory, dirty_share, usable)
        left = min(least.limit_bytes, cache_available())
        return cls(memory, dirty_share, min(memory, usable), least.version, left)

    @property
    def caution(self) -> str | None:
        """What to know of the cgroup before the runs; None in none."""
        if self.cgroup_version is None:
            return None
        return (
            f"this is a memory cgroup of {format_bytes(round(self.memory_bytes))} (version "
            f"{self.cgroup_version}), of which the runs have {format_bytes(self.cgroup_bytes)}; "
            f"{', '.join(KNOW_CGROUPS)} forecasts them in it, other models with all memory"
        )

    def of(self, scenario: "Scenario", model: str) -> "Scenario":
        """Put the processes of a scenario where those of a run are, for a model that knows memory cgroups."""
        if self.cgroup_version is None or model not in KNOW_CGROUPS or _has_cgroups(scenario):
            return scenario
        return scenario.in_cgroup(self.cgroup_bytes, version=self.cgroup_version)


ALL = Room()
"""No cgroup."""


def _has_cgroups(scenario: "Scenario") -> bool:
    return "cgroup" in described(scenario.machine)


@dataclass(frozen=True, slots=True)
class Series:
    """A level over time, linear between its times and constant outside; arrays of one length."""

    time_s: NDArray[np.float64]
    level_bytes: NDArray[np.float64]

    def __len__(self) -> int:
        """Give the number of points."""
        return len(self.time_s)


def sees_files(measured: "Measured") -> bool:
    """Tell whether all files of a run were looked at while it ran."""
    return 0 < len(set(measured.file_samples["path"])) < MOST_FILES


def measured_series(measured: "Measured", level: str) -> Series | None:
    """Give a level of a run until its last operation ended.

    Parameters
    ----------
    measured : Measured
    level : str
        One of `LEVELS`.

    Returns
    -------
    Series or None
        None where nothing was measured that could be compared.
    """
    if sees_files(measured):
        series = _of_files(measured, level)
    elif level == "dirty":
        timeline = measured.timeline
        series = Series(timeline["time_s"], timeline["dirty_bytes"].astype(np.float64))
    else:
        return None
    inside = series.time_s <= measured.end_s
    return Series(series.time_s[inside], series.level_bytes[inside]) if inside.any() else None


def _of_files(measured: "Measured", level: str) -> Series:
    """Add up the files of each look; a page that is dirty and under writeback counts once."""
    samples = measured.file_samples
    cached = samples["cached_bytes"]
    dirty = np.minimum(samples["dirty_bytes"] + samples["writeback_bytes"], cached)
    time_s, which = np.unique(samples["time_s"], return_inverse=True)
    of_files = cached if level == "cached" else dirty
    return Series(time_s, np.bincount(which, weights=of_files).astype(np.float64))


def forecast_series(result: "Result", level: str) -> Series | None:
    """Give a level of a forecast; None if its model does not know it."""
    from pagecast.result import is_modelled

    if not is_modelled(result.model, level):
        return None
    timeline = result.timeline
    time_s, level_bytes = timeline["time_s"], timeline[f"{level}_bytes"].astype(np.float64)
    if result.changes_evenly:
        return Series(time_s, level_bytes)
    # It changes at rows alone: what held until then is there at the same time.
    return Series(np.repeat(time_s, 2)[1:], np.repeat(level_bytes, 2)[:-1])


def whole_bytes(
    measured: "Measured", level: str, time_s: NDArray[np.float64], room: Room = ALL
) -> NDArray[np.float64]:
    """Give what deviations of a level are shares of: the kernel's dirty limit then, or the memory."""
    if level == "cached":
        return np.full(len(time_s), min(room.memory_bytes, float(measured.samples["mem_total_bytes"][0])))
    timeline = measured.timeline
    limit: NDArray[np.float64] = np.interp(time_s, timeline["time_s"], timeline["dirty_limit_bytes"])
    return room.dirty_share * limit


def away_from_forecast(
    case: str, repetition: int, measured: "Measured", forecast: "Result", level: str, room: Room = ALL
) -> Level | None:
    """Hold a level of a run against a forecast; None where one of them does not know it."""
    expected = forecast_series(forecast, level)
    if expected is None:
        return None
    return _away(case, repetition, measured, expected, forecast.model, level, room)


def away_from_run(
    case: str, repetition: int, measured: "Measured", other: "Measured", level: str, room: Room = ALL
) -> Level | None:
    """Hold a level of a run against another run of the same case."""
    expected = measured_series(other, level)
    if expected is None:
        return None
    return _away(case, repetition, measured, expected, MEASURED, level, room)


def _away(
    case: str, repetition: int, measured: "Measured", expected: Series, model: str, level: str, room: Room
) -> Level | None:
    found = measured_series(measured, level)
    if found is None:
        return None
    away = deviation(found.time_s, found.level_bytes, expected.time_s, expected.level_bytes)
    whole = whole_bytes(measured, level, found.time_s, room)
    return Level(case, repetition, model, found.time_s, away / whole)
