"""Levels of memory over time, measured and forecast: dirty and cached bytes.

A forecast knows the scenario's own files alone. So do the samples of each file by cachestat(2), and their sum
is compared. Where there are none (a kernel before 6.5, a file system without it, more files than are looked
at), the dirty memory of the whole machine stands for them, and cached memory, which other programs fill too,
is not compared.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.comparison.levels import Level, deviation
from pagecast.comparison.rows import MEASURED
from pagecast.validation.room import ALL, Room

if TYPE_CHECKING:
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = [
    "LEVELS",
    "Series",
    "away_from_forecast",
    "away_from_run",
    "forecast_series",
    "measured_series",
    "sees_files",
    "whole_bytes",
]

LEVELS: Final = ("dirty", "cached")
"""The names of the levels; dirty counts pages under writeback too."""

MOST_FILES: Final = 1000
"""So many files are looked at (`crates/pagecast-probe/src/run/sampler.rs`)."""


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
    """Give the base of the deviations of a level: the kernel's dirty limit then, or the memory."""
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
