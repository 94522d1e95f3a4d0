"""The tables of the study, for the terminal and the report."""

from collections.abc import Sequence

from pagecast.comparison.rows import RIVALS, main_model
from pagecast.comparison.tables import signed_percent
from pagecast.report.document import Table
from pagecast.studies.ext3 import nets
from pagecast.studies.ext3.outcome import Ext3Outcome
from pagecast.studies.ext3.published import RANDOM, Figure

__all__ = ["figures_table", "modes_table", "parameters_table"]


def figures_table(outcome: Ext3Outcome) -> Table:
    """Make the table of all rows: measured, the author's model, ours, and the errors."""
    main = main_model(outcome.models)
    found = {(one.figure, one.model): one for one in outcome.tables}
    lines: list[Sequence[str] | None] = []
    for figure in dict.fromkeys(one.figure for one in outcome.tables):
        of_models = (found.get((figure, model)) for model in outcome.models)
        errors = (signed_percent(one.error) if one else "" for one in of_models)
        lines.append(
            (
                f"{figure.table}{_mark(figure)}",
                figure.mode,
                figure.load,
                figure.operation,
                f"{figure.measured_kib_per_s:,.0f}",
                f"{figure.author_kib_per_s:,.0f}",
                f"{found[figure, main].forecast_kib_per_s:,.0f}",
                signed_percent(figure.author_error),
                *errors,
            )
        )
    return Table(
        title="Throughput in KiB/s, and its errors in %",
        columns=(
            "table",
            "mode",
            "load",
            "operation",
            "measured",
            "author",
            main,
            "author\n%",
            *(f"{model}\n%" for model in outcome.models),
        ),
        rows=lines,
        text_columns=4,
        note="* Fixes a key of the machine, and a value of a net. "
        "+ A trace is like the captured one, and is not judged.",
    )


def _mark(figure: Figure) -> str:
    if figure.load != RANDOM:
        return "+"
    return "*" if figure.fixes else ""


def parameters_table(outcome: Ext3Outcome) -> Table:
    """Make the table of what rows fix: keys of the machine, and values of the Petri nets."""
    fixing = [one for one in outcome.tables if one.figure.fixes and one.model not in RIVALS]
    return Table(
        title="What a row fixes",
        columns=("model", "key or value", "row"),
        rows=[
            (
                one.model,
                nets.FIXES[one.figure.table] if one.model == nets.MODEL else one.figure.fixes,
                one.figure.case,
            )
            for one in fixing
        ],
        text_columns=3,
    )


def modes_table(outcome: Ext3Outcome) -> Table:
    """Make the table of random writes in each mode, relative to the ordered one."""
    main = main_model(outcome.models)
    writes = [
        one
        for one in outcome.tables
        if (one.figure.load, one.figure.operation, one.model) == (RANDOM, "write", main)
    ]
    first = writes[0]
    return Table(
        title="Random writes by mode, relative to ordered",
        columns=("mode", "measured", "author", main),
        rows=[
            (
                one.figure.mode,
                f"{one.figure.measured_kib_per_s / first.figure.measured_kib_per_s:.3f}",
                f"{one.figure.author_kib_per_s / first.figure.author_kib_per_s:.3f}",
                f"{one.forecast_kib_per_s / first.forecast_kib_per_s:.3f}",
            )
            for one in writes
        ],
        text_columns=1,
        note="No ratio is judged: two of the three rows fix a key.",
    )
