"""The tables of the study, for the terminal and the report: forecasts beside measured times, and errors."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from pagecast.report.document import Table
from pagecast.studies.comparison import Row, Summary, judged, summarise
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS
from pagecast.studies.wrench_cache.published import FAR, deviations, published_rows

if TYPE_CHECKING:
    from pagecast.studies.wrench_cache.study import WrenchCacheOutcome

__all__ = ["deviation_table", "operations_table", "summary_table", "times_table"]

_APPLICATIONS: Final = re.compile(r"(\d+) applications")

CALIBRATION_NOTE: Final = "* The machine file was made from this very measurement: no proof of the model."


def times_table(
    outcome: "WrenchCacheOutcome", number: str, *, applications: Sequence[int] = (), ranges: bool = True
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

    Returns
    -------
    Table
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


def summary_table(outcome: "WrenchCacheOutcome") -> Table:
    """Make the table of errors of each experiment and model, ours and the authors'."""
    is_calibrated = any(_is_calibrated(outcome, number) for number in outcome.experiments)
    without = {(s.experiment, s.model): s.mean_abs_error for s in summarise(judged(outcome.rows))}
    rows: list[Sequence[str] | None] = []
    for number in outcome.experiments:
        for summary in _of(number, outcome.rows):
            extra = [_percent(without[number, summary.model])] if is_calibrated else []
            rows.append((number, summary.model, *_errors(summary), *extra))
        for summary in _of(number, published_rows([number], outcome.vintage)):
            extra = [""] if is_calibrated else []
            rows.append((number, f"{summary.model} (published)", *_errors(summary), *extra))
        rows.append(None)
    return Table(
        title="Absolute error against the measured cluster, in %",
        columns=(
            "exp",
            "model",
            "mean",
            "median",
            "p90",
            "total",
            "rows",
            *(["judged"] if is_calibrated else []),
        ),
        rows=rows[:-1],
        text_columns=2,
        note=_SUMMARY_NOTE + (_JUDGED_NOTE if is_calibrated else ""),
    )


_SUMMARY_NOTE: Final = (
    "Errors are averaged over the operations of a case (a size, or a number of applications) first. "
    "mean, median, p90: the mean, the median and the 90th percentile of that over the cases. total: signed "
    "error of the sum of all times of a case, mean over the cases. rows: how many operations were compared."
)
_JUDGED_NOTE: Final = (
    " judged: the mean once more, of those rows only whose measurement did not go into the machine file."
)
_VINTAGE_NOTES: Final = {
    "camera_ready": "camera_ready: what the authors' simulators gave at the time of the printed paper; "
    "--set model.wrench.vintage=v1 takes their state before May 2021.",
    "v1": "v1: what the authors' simulators gave before May 2021; camera_ready, which is the default, is "
    "their state at the time of the printed paper.",
}


def deviation_table(outcome: "WrenchCacheOutcome") -> Table | None:
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


def operations_table(outcome: "WrenchCacheOutcome") -> Table:
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
        means = [
            _percent(sum(models[name]) / len(models[name])) if name in models else "" for name in columns
        ]
        lines.append((number, operation, *means))
    return Table(
        title="Mean absolute error of each operation over the cases, in %",
        columns=("exp", "operation", *columns),
        rows=lines,
        text_columns=2,
    )


def _is_calibrated(outcome: "WrenchCacheOutcome", number: str) -> bool:
    return any(row.role == "calibration" for row in outcome.rows if row.experiment == number)


def _of(number: str, rows: Iterable[Row]) -> list[Summary]:
    return summarise(row for row in rows if row.experiment == number)


def _errors(summary: Summary) -> list[str]:
    errors = (summary.mean_abs_error, summary.median_abs_error, summary.p90_abs_error)
    return [*map(_percent, errors), f"{100 * summary.total_error:+.1f}", str(summary.n)]


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"
