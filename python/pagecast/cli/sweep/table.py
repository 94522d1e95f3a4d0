"""A sweep as a table for a person, or as CSV."""

import csv
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pagecast.export import quoted_cell
from pagecast.quantities import shown_quantity
from pagecast.report.document import Table
from pagecast.report.terminal import print_table

if TYPE_CHECKING:
    from pagecast.sweeps.result import Sweep

__all__ = ["print_csv", "print_sweep"]

_MOST_ROWS = 40
_LONGEST_ERROR = 60


def print_sweep(found: "Sweep", *, every: bool) -> None:
    """Print the keys and measures of each point."""
    from pagecast.cli.summary import new_console

    plan = found.plan
    axes, measures = plan.design.axes, plan.task.measures
    units = [*(axis.unit for axis in axes), *(measure.unit for measure in measures)]
    has_errors = found.failed > 0
    rows = [
        [
            *(_cell(value, unit) for value, unit in zip(row[1:-1], units, strict=True)),
            *([_shortened(row[-1])] if has_errors else []),
        ]
        for row in (found.rows if every else found.rows[:_MOST_ROWS])
    ]
    more = len(found.rows) - len(rows)
    print_table(
        Table(
            title=f"{len(found.rows):,} points under {plan.task.model}",
            columns=[
                *(_broken(axis.key) for axis in axes),
                *(measure.text for measure in measures),
                *(["error"] if has_errors else []),
            ],
            rows=rows,
            text_columns=0,
            note=f"{more:,} more points; --all shows them, --out keeps them" if more else "",
        ),
        new_console(),
    )


def print_csv(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows as CSV, their texts such that no spreadsheet runs them."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([quoted_cell(cell) if isinstance(cell, str) else cell for cell in row])


def _cell(value: Any, unit: str) -> str:
    if value is None or isinstance(value, bool | str):
        return "" if value is None else str(value).lower() if isinstance(value, bool) else value
    return shown_quantity(value, unit)


def _broken(key: str) -> str:
    """Write a long key in two lines."""
    head, dot, last = key.rpartition(".")
    return f"{head}{dot}\n{last}" if len(key) > 20 else key


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[: _LONGEST_ERROR - 3]}..."
