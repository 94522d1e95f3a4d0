"""The tables of the study, for the terminal and the report: forecasts beside measured times, and errors."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pagecast.report.document import Table
from pagecast.studies import tables
from pagecast.studies.comparison import Row
from pagecast.studies.tables import percent
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
    return tables.summary_table(
        outcome.experiments,
        outcome.rows,
        lambda number: published_rows([number], outcome.vintage),
        title="Absolute error against the measured cluster, in %",
        case="a size, or a number of applications",
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
        means = [percent(sum(models[name]) / len(models[name])) if name in models else "" for name in columns]
        lines.append((number, operation, *means))
    return Table(
        title="Mean absolute error of each operation over the cases, in %",
        columns=("exp", "operation", *columns),
        rows=lines,
        text_columns=2,
    )


def _is_calibrated(outcome: "WrenchCacheOutcome", number: str) -> bool:
    return any(row.role == "calibration" for row in outcome.rows if row.experiment == number)
