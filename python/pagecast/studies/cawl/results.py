"""The tables of the study, for the terminal and the report: errors by group of series, phase and series."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from pagecast.comparison import tables
from pagecast.comparison.rows import Row, judged, main_model, summarise
from pagecast.comparison.tables import percent, signed_percent
from pagecast.report.document import Table
from pagecast.studies.cawl.outcome import CawlOutcome
from pagecast.studies.cawl.rows import CAWL, published_rows
from pagecast.studies.cawl.series import GIB, KIB, MIB, PHASES, Series, all_series
from pagecast.studies.cawl.states import is_calibration, machine_of, parameters

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

TITLES: Final = {"buffered": "Main buffered series by pause and machine", "other": "Other series by kind"}

NOISE: Final = {
    "buffered": "Two series that only differ in libc buffering, practically repetitions, differ by 5 to 8 % "
    "per write on host1 (16 % with a pause of 0.5 s) and by 2 to 6 % on nvram1: no model can be expected to "
    "be closer.",
    "other": "Repetitions of 1 KiB differ by up to 21 % in total, and by 22 to 35 % per write.",
}
"""How much repetitions differ among themselves."""

GROUPS: Final[dict[str, dict[str, Callable[[Series], bool]]]] = {
    "buffered": {
        "all": lambda series: True,
        "no pause (calibration)": is_calibration,
        "with pause": lambda series: not is_calibration(series),
        "  without 0.5 s": lambda series: series.pause_s not in (0, REPORTED_PAUSE_S),
        "  0.5 s (reported only)": lambda series: series.pause_s == REPORTED_PAUSE_S,
        "  h1_async_p1": lambda series: series.name == "h1_async_p1",
        "  h1_async_p2": lambda series: series.name == "h1_async_p2",
        "host1": lambda series: series.host == "host1",
        "nvram1": lambda series: series.host == "nvram1",
    },
    "other": {
        "1 KiB, O_DIRECT": lambda series: series.chunk_bytes == KIB and series.is_direct,
        "1 KiB, O_SYNC": lambda series: series.chunk_bytes == KIB and not series.is_direct,
        "sizes, O_DIRECT": lambda series: not series.chunk_bytes and series.is_direct,
        "sizes, O_SYNC": lambda series: not series.chunk_bytes and not series.is_direct,
        "small fwrites": lambda series: series.is_stream and series.chunk_bytes != GIB,
        "1 MiB, and trials": lambda series: series.is_buffered and (series.chunk_bytes or 0) >= MIB,
    },
}
"""Kinds of series, by experiment."""


def all_rows(outcome: CawlOutcome, experiment: str) -> list[Row]:
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


def summary_table(outcome: CawlOutcome) -> Table:
    """Make the table of errors of each experiment and model, ours and the authors'."""
    return tables.summary_table(
        outcome.experiments,
        outcome.rows,
        lambda experiment: [row for row in all_rows(outcome, experiment) if row.model == CAWL],
        title=f"Absolute error of {_what(outcome)}, in %",
        case="a series",
    )


def groups_table(outcome: CawlOutcome, experiment: str) -> Table:
    """Make the table of errors of kinds of series, with all rows and with those that are judged."""
    rows = all_rows(outcome, experiment)
    are_judged = {(row.case, row.operation) for row in judged(outcome.rows)}
    lines: list[Sequence[str] | None] = []
    for group, belongs in GROUPS[experiment].items():
        chosen = [row for row in rows if belongs(all_series()[row.case])]
        left = [row for row in chosen if (row.case, row.operation) in are_judged]
        if chosen:
            lines.append((group, *_counted(outcome, chosen)))
        if experiment == "other" and 0 < len(left) < len(chosen):
            lines.append(("  judged rows only", *_counted(outcome, left)))
    return Table(
        title=f"{TITLES[experiment]}: error of {_what(outcome)}, and of the total, in %",
        columns=("series", "n", *_headings(outcome)),
        rows=lines,
        note="Mean absolute errors: of a write within a series, then over the series; total: of the sum of "
        f"all times of a series. {NOISE[experiment]}",
    )


def phases_table(outcome: CawlOutcome) -> Table:
    """Make the table of errors of the main series by what the kernel does to the writer."""
    by_phase: dict[str, list[Row]] = {phase: [] for phase in PHASES}
    points = {
        (name, all_series()[name].operation(point)): all_series()[name].phase(point.middle)
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


def series_table(outcome: CawlOutcome, experiment: str, *, is_long: bool = False) -> Table:
    """Make the table of measured and forecast totals of each series."""
    rows = all_rows(outcome, experiment)
    lines: list[Sequence[str] | None] = []
    for name in dict.fromkeys(row.case for row in rows):
        of_series = [row for row in rows if row.case == name]
        mark = "*" if any(row.role == "calibration" for row in of_series) else ""
        mean = {each.model: (each.mean_abs_error, each.total_error) for each in summarise(of_series)}
        total = sum(point.measured_s * (point.last - point.first + 1) for point in outcome.points[name])
        cells = _cells(outcome, mean, total=signed_percent, all_totals=is_long)
        lines.append((name + mark, f"{total:.1f}" if total > 1 else f"{total:.6f}", *cells))
    return Table(
        title=f"Series of experiment {experiment}: error of {_what(outcome)}, and of the total, in %",
        columns=("series", "s", *_headings(outcome, all_totals=is_long)),
        rows=lines,
        note="s: measured seconds in all writes. total: signed. * Calibration: the rates of its group's "
        "machine come from series without pause.",
        is_long=is_long,
    )


def parameters_table(outcome: CawlOutcome) -> Table:
    """Make the table of the machines: how many values differ between the groups, and which."""
    lines = []
    for machine in outcome.machines:
        series = {run.series.name: run.series for run in outcome.runs if run.machine == machine}
        own = [each for each in series.values() if machine_of(each) == machine]
        if own:
            names = parameters(machine)
            groups = "".join(sorted({each.group for each in own}))
            judged = sum(not is_calibration(each, each.writes) for each in own)
            lines.append((groups, machine, ", ".join(names), str(len(names)), str(len(own)), str(judged)))
    return Table(
        title="Machines: what differs between states of the storage of the same hardware",
        columns=("group", "machine", "own values", "values", "series", "judged"),
        rows=sorted(lines),
        text_columns=3,
        note="A group is the series for which the authors used one set of calibration values. "
        "values: how many a machine does not share with others of the hardware; judged: of its series, those "
        "that did not go into it.",
    )


def deviations_table(outcome: CawlOutcome, *, is_long: bool = False) -> Table:
    """Make the table of the distance of the model `cawl` from its authors' predictions."""
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


def _counted(outcome: CawlOutcome, rows: Sequence[Row]) -> Iterator[str]:
    """Give the cells of a group: how many series, and their errors."""
    yield str(len({row.case for row in rows}))
    yield from _cells(outcome, errors_of(rows))


def _headings(outcome: CawlOutcome, *, all_totals: bool = False) -> Iterator[str]:
    for model, has_total in _models(outcome, all_totals=all_totals):
        yield f"{model}\n(authors)" if model == CAWL else model.replace("-", "-\n")
        if has_total:
            yield "total"


def _cells(
    outcome: CawlOutcome,
    errors: dict[str, tuple[float, float]],
    total: Callable[[float], str] = percent,
    *,
    all_totals: bool = False,
) -> Iterator[str]:
    for model, has_total in _models(outcome, all_totals=all_totals):
        mean, of_total = errors[model]
        yield percent(mean)
        if has_total:
            yield total(of_total)


def _models(outcome: CawlOutcome, *, all_totals: bool) -> list[tuple[str, bool]]:
    """Name the models of a table, and say whose total is shown.

    At a terminal the others' would take room for nothing.
    """
    shown = (main_model(outcome.models), CAWL)
    return [(model, all_totals or model in shown) for model in [*outcome.models, CAWL]]


def _what(outcome: CawlOutcome) -> str:
    return "a write" if outcome.is_full else "means of several writes"
