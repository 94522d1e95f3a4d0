"""``pagecast sweep query``: ask a sweep in SQL."""

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast.cli import options

if TYPE_CHECKING:
    from pagecast.sweeps.query import Answer

__all__ = ["command"]


@click.command("query")
@click.argument("directory", metavar="DIR", type=options.FileName())
@click.argument("sql", metavar="SQL", type=options.Text())
@options.as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, and nothing else, to stdout.")
def command(directory: Path, sql: str, as_json: bool, as_csv: bool) -> None:
    """Ask the sweep in DIR in SQL; the table is called sweep.

    Its columns are point, one for each key and each measure, and error. They are in base units, which end the
    names: _s, _bytes, _bytes_per_s. DuckDB answers.

    \b
    Examples:
      pagecast sweep query results 'describe sweep'
      pagecast sweep query results 'select * from sweep order by p99_db_fsync_s limit 5'
      pagecast sweep query results --csv 'select vm_dirty_bytes, avg(makespan_s) from sweep group by all'
    """
    from pagecast.sweeps.query import query

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other; take one", click.get_current_context())
    answer = query(directory, sql)
    if as_json:
        columns = {name: [_plain(row[at]) for row in answer.rows] for at, name in enumerate(answer.columns)}
        document = {"schema_version": 1, "rows": columns}
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
    elif as_csv:
        from pagecast.cli.sweep.table import print_csv

        print_csv(answer.columns, answer.rows)
    else:
        _show(answer)


def _show(answer: "Answer") -> None:
    from pagecast.cli.summary import new_console
    from pagecast.quantities import shown_quantity
    from pagecast.report.document import Table
    from pagecast.report.terminal import print_table

    def cell(name: str, value: Any) -> str:
        if value is None or isinstance(value, bool) or not isinstance(value, int | float):
            return "" if value is None else str(value)
        return shown_quantity(value, answer.units.get(name, ""))

    rows = [
        [cell(name, value) for name, value in zip(answer.columns, row, strict=True)] for row in answer.rows
    ]
    title = f"{len(rows):,} rows" if len(rows) != 1 else "1 row"
    print_table(Table(title, answer.columns, rows, text_columns=0), new_console())


def _plain(value: Any) -> Any:
    """Give a value as JSON has it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
