"""The tables of the study, for the terminal and the report: forecasts beside measured times, and errors."""

import re
from collections.abc import Sequence
from typing import Final

from pagecast.comparison import tables
from pagecast.comparison.rows import Row
from pagecast.comparison.tables import percent, signed_percent
from pagecast.report.document import Table
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS
from pagecast.studies.wrench_cache.memory import CachedFile, Levels
from pagecast.studies.wrench_cache.outcome import WrenchCacheOutcome
from pagecast.studies.wrench_cache.published import FAR, deviations, published_rows
from pagecast.studies.wrench_cache.tables import long_writes

__all__ = [
    "cached_files_table",
    "deviation_table",
    "long_writes_table",
    "memory_table",
    "operations_table",
    "producing_table",
    "summary_table",
    "times_table",
]

_APPLICATIONS: Final = re.compile(r"(\d+) applications")

CALIBRATION_NOTE: Final = "* The machine file was made from this very measurement: no proof of the model."


def times_table(
    outcome: WrenchCacheOutcome, number: str, *, applications: Sequence[int] = (), ranges: bool = True
) -> Table:
    """Make the table of measured time, forecast and error of each operation.

    Parameters
    ----------
    outcome : WrenchCacheOutcome
    number : str
        The experiment.
    applications : sequence of int
        Only these numbers of applications, in Exp 2 and 3; nothing means all.
    ranges : bool
        With the least and the greatest forecast over the seeds.
    """
    points: dict[str, dict[str, dict[str, Row]]] = {}
    for row in outcome.rows:
        if row.experiment == number and (not applications or int(row.case.split()[0]) in applications):
            points.setdefault(row.case, {}).setdefault(row.operation, {})[row.model] = row
    rows: list[Sequence[str] | None] = []
    for case, operations in points.items():
        label = _short(case)
        for operation, by_model in operations.items():
            cells = [cell for model in outcome.models for cell in _forecast(by_model[model], ranges)]
            rows.append((label, operation, f"{by_model[outcome.models[0]].measured_s:.2f}", *cells))
            label = ""
        rows.append(None)
    return Table(
        title=f"Exp {number}, {EXPERIMENTS[number].title}: seconds, and error in %",
        columns=("case", "", "measured", *(name for model in outcome.models for name in (model, "%"))),
        rows=rows[:-1],
        text_columns=2,
        note=CALIBRATION_NOTE if _is_calibrated(outcome, number) else "",
    )


def _short(case: str) -> str:
    """Write "n = 16" for 16 applications."""
    return _APPLICATIONS.sub(r"n = \1", case)


def _forecast(row: Row, ranges: bool) -> tuple[str, str]:
    """Forecast, with its range over the seeds if there is one, and signed error."""
    forecast = f"{row.forecast_s:.2f}"
    if ranges and row.forecast_range_s and row.forecast_range_s[1] - row.forecast_range_s[0] >= 0.01:
        forecast = "{} ({:.2f} to {:.2f})".format(forecast, *row.forecast_range_s)
    return forecast, f"{round(100 * row.error):+d}{'*' if row.role == 'calibration' else ''}"


def summary_table(outcome: WrenchCacheOutcome) -> Table:
    """Make the table of errors of each experiment and model, ours and the authors'."""
    return tables.summary_table(
        outcome.experiments,
        outcome.rows,
        lambda number: published_rows([number], outcome.vintage),
        title="Absolute error against the measured cluster, in %",
        case="a size, or a number of applications",
    )


_VINTAGE_NOTES: Final = {
    "camera_ready": "camera_ready: results of the authors' simulators at the time of the printed paper; "
    "--set model.wrench.vintage=v1 takes their state before May 2021.",
    "v1": "v1: results of the authors' simulators before May 2021; camera_ready, which is the default, is "
    "their state at the time of the printed paper.",
}


def deviation_table(outcome: WrenchCacheOutcome) -> Table | None:
    """Make the table of how far we are from the authors' outputs, if their machine was simulated at all."""
    found = deviations(outcome.runs, outcome.vintage)
    if not found:
        return None
    return Table(
        title=f"Deviation from the authors' published outputs ({outcome.vintage}), in %",
        columns=("exp", "model", "mean", "worst", f"over {100 * FAR:.0f} %", "worst at"),
        rows=[
            (
                d.experiment,
                f"{d.model} from {d.simulator}",
                f"{100 * d.mean:.2f}",
                f"{100 * d.worst:.2f}",
                f"{d.far} of {d.n}",
                _short(d.worst_at) if d.worst >= 0.001 else "",
            )
            for d in found
        ],
        text_columns=2,
        note=_VINTAGE_NOTES.get(outcome.vintage, ""),
    )


def operations_table(outcome: WrenchCacheOutcome) -> Table:
    """Make the table of mean absolute errors of each operation, over the cases of its experiment."""
    theirs = published_rows(outcome.experiments, outcome.vintage)
    errors: dict[tuple[str, str], dict[str, list[float]]] = {}
    for rows, suffix in ((outcome.rows, ""), (theirs, "\n(published)")):
        for row in rows:
            models = errors.setdefault((row.experiment, row.operation), {})
            models.setdefault(row.model + suffix, []).append(abs(row.error))
    columns = list(dict.fromkeys(model for models in errors.values() for model in models))
    lines: list[Sequence[str] | None] = []
    for (number, operation), models in sorted(errors.items(), key=lambda item: item[0][0]):
        if lines and lines[-1] is not None and lines[-1][0] != number:
            lines.append(None)
        means = [percent(sum(models[name]) / len(models[name])) if name in models else "" for name in columns]
        lines.append((number, operation, *means))
    return Table(
        title="Mean absolute error of each operation over the cases, in %",
        columns=("exp", "operation", *columns),
        rows=lines,
        text_columns=2,
    )


def _is_calibrated(outcome: WrenchCacheOutcome, number: str) -> bool:
    return any(row.role == "calibration" for row in outcome.rows if row.experiment == number)


def memory_table(outcome: WrenchCacheOutcome) -> Table | None:
    """Make the table of memory during Exp 1, if any model that knows it was asked."""
    if not outcome.memory:
        return None
    groups: dict[str, list[Levels]] = {}
    for levels in outcome.memory:
        groups.setdefault(levels.model, []).append(levels)
    lines: list[Sequence[str] | None] = []
    for model, found in groups.items():
        lines += [_memory_line(one.case, model, [one]) for one in found]
        lines += [_memory_line("all", model, found), None]
    samples = outcome.memory[0].from_samples
    return Table(
        title="Memory of Exp 1: moments within the tolerance, in %",
        columns=("case", "model", "dirty", "greatest", "cached", "greatest", "n"),
        rows=lines[:-1],
        text_columns=2,
        note=f"{'Samples of each second' if samples else 'Means over at most 10 s'}, aligned operation by "
        "operation. Tolerance: dirty 10 % of the dirty limit of the moment, cached 5 % of the memory; "
        "greatest: deviation in the same shares.",
    )


def _memory_line(case: str, model: str, levels: Sequence[Levels]) -> tuple[str, ...]:
    dirty, cached = Levels.within(levels)
    greatest = (
        max((abs(value), value) for one in levels for value in getattr(one, name))[1]
        for name in ("dirty", "cached")
    )
    of_dirty, of_cached = (signed_percent(value) for value in greatest)
    count = sum(len(one.dirty) for one in levels)
    return case, model, percent(dirty), of_dirty, percent(cached), of_cached, str(count)


def cached_files_table(outcome: WrenchCacheOutcome) -> Table | None:
    """Make the table of cached bytes of each file after each operation of Exp 1."""
    if not outcome.cached_files:
        return None
    groups: dict[tuple[str, str], list[CachedFile]] = {}
    for one in outcome.cached_files:
        groups.setdefault((one.model, one.case), []).append(one)
    lines = []
    for (model, case), found in groups.items():
        worst = max(found, key=lambda one: abs(one.deviation))
        within = f"{sum(one.is_within for one in found)} of {len(found)}"
        where = f"{worst.file} after {worst.operation}" if abs(worst.deviation) >= 0.001 else ""
        lines.append((case, model, within, signed_percent(worst.deviation), where))
    return Table(
        title="Cached bytes of each file after each operation of Exp 1",
        columns=("case", "model", "within", "greatest", "at"),
        rows=lines,
        text_columns=2,
        note="Within 5 % of the memory; greatest: deviation in % of the memory.",
    )


def long_writes_table(outcome: WrenchCacheOutcome) -> Table | None:
    """Make the table of the share of writes of Exp 2 that took more than 5 s."""
    shares: dict[str, dict[str, float]] = {}
    for run in outcome.with_long_writes():
        shares.setdefault(run.case, {})[run.model] = run.long_writes
    if not shares:
        return None
    return Table(
        title="Exp 2: share of the writes that took more than 5 s, in %",
        columns=("case", "measured", *outcome.models),
        rows=[
            (_short(case), percent(long_writes()[case]), *(percent(by_model[m]) for m in outcome.models))
            for case, by_model in shares.items()
        ],
        text_columns=1,
    )


def producing_table(outcome: WrenchCacheOutcome) -> Table | None:
    """Make the table of Exp 4 with the program's own producing rate."""
    if not outcome.producing:
        return None
    by_model = {one.run.model: {row.operation: row for row in one.rows()} for one in outcome.producing}
    first = next(iter(by_model.values()))
    lines: list[Sequence[str] | None] = [
        (operation, f"{first[operation].measured_s:.2f}", *_all_forecasts(operation, by_model))
        for operation in first
    ]
    errors = [("", f"{100 * one.mean_abs_error:.1f}") for one in outcome.producing]
    lines += [None, ("mean absolute error", "", *(cell for pair in errors for cell in pair))]
    rates = ", ".join(f"{one.run.model} {_rate(one.rate_bytes_per_s)}" for one in outcome.producing)
    return Table(
        title="Exp 4 with the program's own producing rate, steps 2 to 4: seconds, and error in %",
        columns=("", "measured", *(name for model in by_model for name in (model, "%"))),
        rows=lines,
        text_columns=1,
        note=f"The rate is what the forecast of step 1's writes lacks: {rates}.",
    )


def _rate(bytes_per_s: float | None) -> str:
    return "no time" if bytes_per_s is None else f"{bytes_per_s / 1e9:.2f} GB/s"


def _all_forecasts(operation: str, by_model: dict[str, dict[str, Row]]) -> tuple[str, ...]:
    return tuple(cell for rows in by_model.values() for cell in _forecast(rows[operation], ranges=False))
