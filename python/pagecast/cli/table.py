"""The operations of a forecast as tables that fit into the terminal, a line for each row.

Where it is narrow, the models come one below the other, then rates go, then paths are shortened in their
middle, then the smallest parts go, then sizes. Only models that stand beside each other have their parts in
lines below.
"""

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from pagecast.cli.amounts import shortened
from pagecast.cli.rows import Forecast, Row
from pagecast.result import Result

__all__ = ["operation_tables"]

_GAP = 3
"""Columns between two columns of a table; its two edges take two more."""
_LEAST_NAME = 16
"""An operation and its path are not shortened below this while there are sizes, nor below _LEAST_PATH."""
_LEAST_PATH = 12
_NARROW = 80
"""Up to this width each model has a table of its own, so that a row is one line."""
_TIME, _RATE = 9, 12
_BESIDE = 1 + _TIME + _RATE
"""Time and rate of a model that stands beside others; its parts go below."""


def operation_tables(width: int, results: Sequence[Result], rows: Sequence[Row]) -> list[Table]:
    """Make one table with the models side by side, or one for each where they do not fit.

    Parameters
    ----------
    width : int
        Of the terminal.
    results : sequence of Result
        One per model.
    rows : sequence of Row

    Returns
    -------
    list of rich.table.Table
    """
    fixed = (_processes(rows), _counts(rows), _sizes(rows))
    room = width - 2 - sum(_GAP + _widest(column) for column in fixed if column)
    beside = room - len(results) * (_GAP + _BESIDE)
    if width > _NARROW and len(results) > 1 and beside >= min(_widest(_names(rows)), _LEAST_NAME):
        return [_table_of_all(results, rows, beside)]
    return [_table_of_one(result, number, rows, room) for number, result in enumerate(results)]


def _table_of_one(result: Result, number: int, rows: Sequence[Row], room: int) -> Table:
    forecasts = [row.forecasts[number] for row in rows]
    parts = [one.parts(row.operation) for row, one in zip(rows, forecasts, strict=True)]
    all_parts = _widest(["parts", *(", ".join(of_row) for of_row in parts)])
    first_part = _widest(["parts", *(_fitting(of_row, 0) for of_row in parts)])
    rate = _GAP + _widest(["rate", *(one.rate() for one in forecasts)])
    room -= 2 * _GAP + _widest(["time", *(one.time() for one in forecasts)])

    name = _widest(_names(rows))
    has_rate = name + rate + all_parts <= room
    room -= rate if has_rate else 0
    name = max(min(name, room - all_parts), min(name, _LEAST_NAME))
    has_size = name + first_part <= room
    room += 0 if has_size else _GAP + _widest(_sizes(rows))
    name = max(min(name, room - first_part), min(name, _LEAST_PATH))

    table = _new_table(result.made_by.capitalize(), rows, has_size=has_size)
    table.add_column("mean" if _counts(rows) else "time", justify="right", no_wrap=True)
    if has_rate:
        table.add_column("rate", justify="right", no_wrap=True)
    table.add_column("parts", overflow="fold")
    for row, one, texts in zip(_with_gaps(table, rows), forecasts, parts, strict=True):
        table.add_row(
            *_head(row, rows, name, has_size=has_size),
            one.time(),
            *([one.rate()] if has_rate else []),
            Text(_fitting(texts, room - name), style="dim"),
        )
    return table


def _table_of_all(results: Sequence[Result], rows: Sequence[Row], name: int) -> Table:
    table = _new_table("Forecast: time, rate and parts under each model", rows)
    for result in results:
        table.add_column(f"{result.model:>{_TIME}}", overflow="fold")
    for row in _with_gaps(table, rows):
        cells = (_beside(row.operation, one) for one in row.forecasts)
        table.add_row(*_head(row, rows, name), *cells)
    return table


def _new_table(title: str, rows: Sequence[Row], *, has_size: bool = True) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("process", no_wrap=True)
    if _counts(rows):
        table.add_column("n", justify="right", no_wrap=True)
    table.add_column("operation", no_wrap=True)
    if has_size:
        table.add_column("size", justify="right", no_wrap=True)
    return table


def _with_gaps(table: Table, rows: Sequence[Row]) -> Iterator[Row]:
    """Give the rows, with a gap between two processes."""
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and before.process != row.process:
            table.add_section()
        yield row


# Cells ------------------------------------------------------------------------------------------------


def _head(row: Row, rows: Sequence[Row], width: int, *, has_size: bool = True) -> list[str]:
    """Give the cells before the times; how many operations a row stands for, if one of them has several."""
    count = [f"{row.count():,}"] if _counts(rows) else []
    what = f"{row.operation} {shortened(row.path, width - len(row.operation) - 1)}".rstrip()
    return [row.process, *count, what, *([row.size()] if has_size else [])]


def _beside(operation: str, one: Forecast) -> Text:
    head = f"{one.time():>{_TIME}} {one.rate():>{_RATE}}".rstrip()
    return _below(head, *_lines(one.parts(operation), _BESIDE))


def _below(head: str, *lines: str) -> Text:
    """Put dim lines below a head; empty ones are left out."""
    return Text("\n").join(
        [*([Text(head)] if head else []), *(Text(line, style="dim") for line in lines if line)]
    )


def _lines(texts: Sequence[str], width: int) -> list[str]:
    """Put texts with commas into lines; one that is too long has its number in a line of its own."""
    lines: list[str] = []
    for text in texts:
        name, number = text.rsplit(" ", 2)[0], " ".join(text.rsplit(" ", 2)[1:])
        if cell_len(f"{text},") > width + 1:
            lines = [*lines[:-1], *(f"{line}," for line in lines[-1:]), name, number]
        elif lines and cell_len(f"{lines[-1]}, {text},") <= width + 1:
            lines[-1] += f", {text}"
        else:
            lines = [*lines[:-1], *(f"{line}," for line in lines[-1:]), text]
    return lines


def _fitting(texts: Sequence[str], width: int) -> str:
    """Put the first texts with commas into a line, at least one; "…" stands for the others."""
    for count in range(len(texts), 1, -1):
        line = ", ".join([*texts[:count], *(["…"] if count < len(texts) else [])])
        if cell_len(line) <= width:
            return line
    return f"{texts[0]}, …" if len(texts) > 1 else "".join(texts)


def _processes(rows: Sequence[Row]) -> list[str]:
    return ["process", *(row.process for row in rows)]


def _counts(rows: Sequence[Row]) -> list[str]:
    """Give how many operations each row stands for; nothing if each is one."""
    return ["n", *(f"{row.count():,}" for row in rows)] if any(row.count() > 1 for row in rows) else []


def _names(rows: Sequence[Row]) -> list[str]:
    return ["operation", *(f"{row.operation} {row.path}".rstrip() for row in rows)]


def _sizes(rows: Sequence[Row]) -> list[str]:
    return ["size", *(row.size() for row in rows)]


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts))
