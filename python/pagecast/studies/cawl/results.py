"""The tables of the study, for the terminal and the report: errors by group of series, phase and series."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from pagecast.report.document import Table
from pagecast.studies import tables
from pagecast.studies.cawl.rows import CAWL, published_rows
from pagecast.studies.cawl.series import MACHINES, PHASES, Series, all_series, parameters
from pagecast.studies.comparison import Row, main_model, summarise
from pagecast.studies.tables import percent, signed_percent

if TYPE_CHECKING:
    from pagecast.studies.cawl.study import CawlOutcome

__all__ = [
    "REPORTED_PAUSE_S",
    "deviations_table",
    "errors_of",
    "groups_table",
    "parameters_table",
    "phases_table",
    "series_table",
    "summary_table",
]

REPORTED_PAUSE_S: Final = 0.5
"""Series with this pause are reported, but nothing is concluded from them: repetitions differ by 16 %."""

GROUPS: Final[dict[str, Callable[[Series], bool]]] = {
    "all": lambda series: True,
    "no pause (calibration)": lambda series: series.is_calibration,
    "with pause": lambda series: not series.is_calibration,
    "  without 0.5 s": lambda series: series.pause_s not in (0, REPORTED_PAUSE_S),
    "  0.5 s (reported only)": lambda series: series.pause_s == REPORTED_PAUSE_S,
    "  h1_async_p1": lambda series: series.name == "h1_async_p1",
    "  h1_async_p2": lambda series: series.name == "h1_async_p2",
    "host1": lambda series: series.host == "host1",
    "nvram1": lambda series: series.host == "nvram1",
}


def all_rows(outcome: "CawlOutcome", experiment: str) -> list[Row]:
    """Give our rows of an experiment, then those of the authors' own model."""
    series = [each for each in outcome.series if each.experiment == experiment]
    ours = [row for row in outcome.rows if row.experiment == experiment]
    return [*ours, *published_rows(series, outcome.points)]


def errors_of(rows: Iterable[Row]) -> dict[str, tuple[float, float]]:
    """Give, by model, the mean error of a write and the mean absolute error of a series' total time."""
    rows = list(rows)
    mean = {each.model: each.mean_abs_error for each in summarise(rows)}
    return {model: (mean[model], _total_error(rows, model)) for model in mean}


def _total_error(rows: Sequence[Row], model: str) -> float:
    """Mean over the series of the absolute error of their total time."""
    sums: dict[str, list[float]] = {}
    for row in rows:
        if row.model == model:
            of_case = sums.setdefault(row.case, [0.0, 0.0])
            of_case[0] += row.forecast_s
            of_case[1] += row.measured_s
    return float(np.mean([abs(forecast / measured - 1) for forecast, measured in sums.values()]))


def summary_table(outcome: "CawlOutcome") -> Table:
    """Make the table of errors of each experiment and model, ours and the authors'."""
    return tables.summary_table(
        outcome.experiments,
        outcome.rows,
        lambda experiment: [row for row in all_rows(outcome, experiment) if row.model == CAWL],
        title=f"Absolute error of {_what(outcome)}, in %",
        case="a series",
    )


def groups_table(outcome: "CawlOutcome") -> Table:
    """Make the table of errors of groups of main series."""
    rows = all_rows(outcome, "buffered")
    lines: list[Sequence[str] | None] = []
    for group, belongs in GROUPS.items():
        series = {name for name, each in all_series().items() if belongs(each)}
        chosen = [row for row in rows if row.case in series]
        if chosen:
            count = len({row.case for row in chosen})
            lines.append((group, str(count), *_cells(outcome, errors_of(chosen))))
    return Table(
        title=f"Main buffered series by pause and machine: error of {_what(outcome)}, and of the total, in %",
        columns=("series", "n", *_headings(outcome)),
        rows=lines,
        note=(
            "Mean absolute errors: of a write within a series, then over the series; total: of the sum of "
            "all times of a series. Two series that only differ in libc buffering, practically "
            "repetitions, differ by 5 to 8 % per write on host1 (16 % with a pause of 0.5 s) and by 2 to "
            "6 % on nvram1: no model can be expected to be closer."
        ),
    )


def phases_table(outcome: "CawlOutcome") -> Table:
    """Make the table of errors of the main series by what the kernel does to the writer."""
    by_phase: dict[str, list[Row]] = {phase: [] for phase in PHASES}
    points = {
        (name, point.operation): all_series()[name].phase(point.middle)
        for name, of_series in outcome.points.items()
        for point in of_series
    }
    for row in all_rows(outcome, "buffered"):
        by_phase[points[row.case, row.operation]].append(row)
    return Table(
        title=f"Main buffered series by phase: error of {_what(outcome)}, and of the total, in %",
        columns=("phase", "n", *_headings(outcome)),
        rows=[
            (phase, str(len({row.case for row in rows})), *_cells(outcome, errors_of(rows)))
            for phase, rows in by_phase.items()
            if rows
        ],
        note="Where a phase begins was read off the measured times. n: series that have the phase.",
    )


def series_table(outcome: "CawlOutcome", experiment: str, *, is_long: bool = False) -> Table:
    """Make the table of measured and forecast totals of each series."""
    rows = all_rows(outcome, experiment)
    lines: list[Sequence[str] | None] = []
    for name in dict.fromkeys(row.case for row in rows):
        of_series = [row for row in rows if row.case == name]
        mark = "*" if any(row.role == "calibration" for row in of_series) else ""
        mean = {each.model: (each.mean_abs_error, each.total_error) for each in summarise(of_series)}
        total = sum(point.measured_s * (point.last - point.first + 1) for point in outcome.points[name])
        cells = _cells(outcome, mean, total=signed_percent)
        lines.append((name + mark, f"{total:.1f}" if total > 1 else f"{total:.6f}", *cells))
    return Table(
        title=f"Series of experiment {experiment}: error of {_what(outcome)}, and of the total, in %",
        columns=("series", "s", *_headings(outcome)),
        rows=lines,
        note="s: measured seconds in all writes. total: signed. * Calibration: the rates of its group's "
        "machine come from series without pause.",
        is_long=is_long,
    )


def parameters_table(outcome: "CawlOutcome") -> Table:
    """Make the table of the machines: how many values differ between the groups, and which."""
    lines: list[Sequence[str] | None] = []
    for group, machine in MACHINES.items():
        used = [run.machine for run in outcome.runs if run.series.group == group]
        if machine in used:
            names = parameters(group)
            series = len({run.series.name for run in outcome.runs if run.series.group == group})
            lines.append((group, machine, ", ".join(names), str(len(names)), str(series)))
    return Table(
        title="Machines: what differs between groups of series on the same hardware",
        columns=("group", "machine", "own values", "values", "series"),
        rows=lines,
        text_columns=3,
        note="A group is the series for which the authors used one set of calibration values. "
        "Everything else is the same for all series of a machine.",
    )


def deviations_table(outcome: "CawlOutcome", *, is_long: bool = False) -> Table:
    """Make the table of how far the model `cawl` is from what its authors predicted."""
    lines: list[Sequence[str] | None] = [
        (
            each.series,
            str(each.points),
            str(each.agreeing),
            "" if each.where_agreeing is None else percent(each.where_agreeing),
            percent(each.paper),
            percent(each.program),
            percent(each.greatest),
            ", ".join(each.differs_in),
        )
        for each in outcome.deviations
    ]
    return Table(
        title=f"Model cawl against the authors' predictions: mean deviation on {_what(outcome)}, in %",
        columns=("series", "n", "agree", "there", "paper", "program", "worst", "differs in"),
        rows=lines,
        note="n: predictions of more than 0 us. agree: those on which paper and released program differ by "
        "less than 1 %; there: deviation of the paper on them. paper, program: on all, by the paper and with "
        "the options of the program; worst: the program's greatest. differs in: options that make the "
        "difference. Half a microsecond, the rounding, does not count.",
        is_long=is_long,
    )


def _headings(outcome: "CawlOutcome") -> Iterator[str]:
    for model, has_total in _models(outcome):
        yield f"{model}\n(authors)" if model == CAWL else model.replace("-", "-\n")
        if has_total:
            yield "total"


def _cells(
    outcome: "CawlOutcome",
    errors: dict[str, tuple[float, float]],
    total: Callable[[float], str] = percent,
) -> Iterator[str]:
    for model, has_total in _models(outcome):
        mean, of_total = errors[model]
        yield percent(mean)
        if has_total:
            yield total(of_total)


def _models(outcome: "CawlOutcome") -> list[tuple[str, bool]]:
    """Name the models of a table, and say whose total is shown: the others' would take room for nothing."""
    main = main_model(outcome.models)
    return [(model, model in (main, CAWL)) for model in [*outcome.models, CAWL]]


def _what(outcome: "CawlOutcome") -> str:
    return "a write" if outcome.is_full else "means of several writes"
