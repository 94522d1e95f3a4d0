"""The tables of the study, for the terminal and the report: times, dirty memory, cached files, costs."""

from collections.abc import Sequence

import numpy as np

from pagecast.comparison import tables
from pagecast.comparison.levels import share_within
from pagecast.comparison.phases import phases_table
from pagecast.comparison.tables import percent, signed_percent
from pagecast.report.document import Table
from pagecast.studies.live_kernel.levels import DirtyLevel
from pagecast.studies.live_kernel.outcome import LiveKernelOutcome
from pagecast.tolerance import DIRTY_TOLERANCE

__all__ = ["cached_table", "calibration_table", "dirty_table", "summary_table", "times_table"]


def summary_table(outcome: LiveKernelOutcome) -> Table:
    """Make the table of errors of each platform and model."""
    return tables.summary_table(
        outcome.platforms,
        outcome.rows,
        title="Absolute error of time in system calls, in %",
        case="with all its repetitions",
    )


def times_table(outcome: LiveKernelOutcome, platform: str) -> Table:
    """Make the table of measured and forecast times: means over the repetitions."""
    return phases_table(
        [row for row in outcome.rows if row.experiment == platform],
        outcome.models,
        title=f"{platform}: seconds in system calls, and error in %",
        note="Means over the repetitions; ±%: (greatest - least) / mean of the measured times. total: of the "
        "case's own process with waiting for others; phases that took over 0.5 s. The set-up before the "
        "first mark, sleeping and computing are not counted. * The platform was calibrated on this case.",
    )


def dirty_table(outcome: LiveKernelOutcome) -> Table | None:
    """Make the table of dirty memory, if any model knows it."""
    groups: dict[tuple[str, str, str], list[DirtyLevel]] = {}
    for level in outcome.dirty:
        groups.setdefault((level.experiment, level.case, level.model), []).append(level)
    if not groups:
        return None
    lines = [(*key, *_deviations(levels)) for key, levels in groups.items()]
    return Table(
        title="Dirty memory: samples within 10 % of the limit, in %; deviations in % of the limit",
        columns=("platform", "case", "model", "within", "mean", "greatest", "samples"),
        rows=lines,
        text_columns=3,
        note="Dirty and under writeback, every 100 ms after the first mark, all repetitions. A sample "
        "deviates by its distance from the range of the forecast within 0.2 s.",
    )


def _deviations(levels: Sequence[DirtyLevel]) -> tuple[str, ...]:
    away = np.concatenate([level.deviations for level in levels])
    shares = (share_within(levels, DIRTY_TOLERANCE) or 0.0, float(away.mean()), float(away.max()))
    return *map(percent, shares), str(len(away))


def cached_table(outcome: LiveKernelOutcome) -> Table | None:
    """Make the table of cached bytes of files, if any model knows them."""
    groups: dict[tuple[str, str, str], list[float]] = {}
    for file in outcome.cached:
        groups.setdefault((file.experiment, file.case, file.model), []).append(file.deviation)
    if not groups:
        return None
    within: dict[tuple[str, str, str], list[bool]] = {}
    for file in outcome.cached:
        within.setdefault((file.experiment, file.case, file.model), []).append(file.is_within)
    return Table(
        title="Cached files: looks within 5 % of the memory, in %; deviations in % of the memory",
        columns=("platform", "case", "model", "within", "least", "greatest", "looks"),
        rows=[
            (
                *key,
                percent(sum(within[key]) / len(within[key])),
                signed_percent(min(deviations)),
                signed_percent(max(deviations)),
                str(len(deviations)),
            )
            for key, deviations in groups.items()
        ],
        text_columns=3,
        note="After each step `stat`: bytes of the file in the page cache, forecast less found.",
    )


def calibration_table(outcome: LiveKernelOutcome) -> Table:
    """Make the table of the calibrations of each platform."""
    found = {name: of.values() for name, of in outcome.calibrations.items() if of.values()}
    keys = list(dict.fromkeys(key for values in found.values() for key in values))
    return Table(
        title="Calibrated on m_memory",
        columns=("key", *found),
        rows=[(key, *(values.get(key, "") for values in found.values())) for key in keys],
        note="They replace those of the machine file under the model kernel; no other model knows them.",
    )
