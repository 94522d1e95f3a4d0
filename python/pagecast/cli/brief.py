"""The end of a study in a few lines: how far off each model is, and where the report is."""

from collections.abc import Sequence
from pathlib import Path

import click

from pagecast.comparison.rows import Row, summarise
from pagecast.comparison.tables import percent

__all__ = ["print_brief"]

_COLUMN = 8
"""A number with its percent sign; columns are two apart."""


def print_brief(study: str, rows: Sequence[Row], out: Path | None) -> None:
    """Print a line for each model with its mean absolute error in each experiment, and a link.

    Parameters
    ----------
    study : str
    rows : sequence of Row
    out : Path or None
        Where the report is.
    """
    errors = {(one.model, one.experiment): f"{percent(one.mean_abs_error)} %" for one in summarise(rows)}
    experiments = list(dict.fromkeys(experiment for _, experiment in errors))
    machines: dict[str, list[str]] = {}
    for row in rows:
        if row.machine not in machines.setdefault(row.model, []):
            machines[row.model].append(row.machine)
    names = {model: f"{model} on {' and '.join(on)}" for model, on in machines.items()}
    head = f"Mean error per operation, {study}"
    width = max(map(len, (head, *names.values())))
    called = {each: f"Exp {each}" if each.isdigit() else each for each in experiments}
    widths = {each: 2 + max(_COLUMN, len(text)) for each, text in called.items()}
    click.echo(head.ljust(width) + "".join(called[each].rjust(widths[each]) for each in experiments))
    for model, name in names.items():
        cells = (errors.get((model, each), "").rjust(widths[each]) for each in experiments)
        click.echo(f"{name.ljust(width)}{''.join(cells)}")
    if out is not None:
        report = out / "report.html"
        click.echo((report if report.exists() else out).absolute().as_uri())
