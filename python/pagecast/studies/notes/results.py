"""The tables of a note, for the terminal and the report."""

from collections.abc import Sequence

from pagecast.comparison import tables
from pagecast.comparison.rows import Row, main_model
from pagecast.comparison.tables import signed_percent
from pagecast.report.document import Table
from pagecast.studies.notes.outcome import NoteOutcome

__all__ = ["figures_table", "summary_table"]


def figures_table(outcome: NoteOutcome) -> Table:
    """Make the table of all figures: measured and forecast, as rates, and the error of each model."""
    main = main_model(outcome.models)
    found = {(row.experiment, row.case, row.operation, row.model): row for row in outcome.rows}
    roles = {row.role for row in outcome.rows}
    lines: list[Sequence[str] | None] = []
    for case in outcome.cases:
        if lines and lines[-1] is not None and lines[-1][0] != case.experiment:
            lines.append(None)
        for point in case.points:
            of = [found[case.experiment, case.name, point.operation, model] for model in outcome.models]
            forecast_s = next(row.forecast_s for row in of if row.model == main)
            mark = "*" if of[0].role == "calibration" else ""
            seconds = (f"{point.measured_s:.2f}", f"{forecast_s:.2f}")
            rates = (f"{point.mib_per_s(each):.0f}" for each in (point.measured_s, forecast_s))
            errors = (signed_percent(row.error) for row in of)
            lines.append((case.experiment, case.name, point.operation + mark, *seconds, *rates, *errors))
    return Table(
        title="Figures of the note: seconds, MiB/s, and errors of the time in %",
        columns=(
            "exp",
            "case",
            "operation",
            "measured\ns",
            f"{main}\ns",
            "measured\nMiB/s",
            f"{main}\nMiB/s",
            *(f"{model}\n%" for model in outcome.models),
        ),
        rows=lines,
        text_columns=3,
        note="* Calibration: the machine file has this figure." if "calibration" in roles else "",
    )


def summary_table(outcome: NoteOutcome) -> Table:
    """Make the table of errors of each experiment and model."""
    rows: Sequence[Row] = outcome.rows
    return tables.summary_table(
        outcome.experiments, rows, title="Errors of the time, in %", case="a run of fio or of the checksum"
    )
