"""The operations of a forecast as tables that fit into the terminal.

Where it is narrow, the models come one below the other, then rates go, then paths are shortened in
their middle and stand below their operation, then sizes go. Words are not broken.
"""

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from pagecast.cli.rows import Forecast, Row
from pagecast.result import Result

__all__ = ["operation_tables"]

_GAP = 3
"""Columns between two columns of a table; its two edges take two more."""
_LEAST_NAME = 16
"""An operation and its path in one line are not shortened below this; in two lines, _LEAST_PATH holds."""
_LEAST_PATH = 10
_ONE_LINE = 40
"""Parts go on in a new line here, even where there is more room."""
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
    room = width - 2 - 2 * _GAP - sum(_widest(column) for column in (_processes(rows), _sizes(rows)))
    beside = room - len(results) * (_GAP + _BESIDE)
    if len(results) > 1 and beside >= min(_widest(_names(rows)), _LEAST_NAME):
        return [_table_of_all(results, rows, beside)]
    return [_table_of_one(result, number, rows, room) for number, result in enumerate(results)]


def _table_of_one(result: Result, number: int, rows: Sequence[Row], room: int) -> Table:
    forecasts = [row.forecasts[number] for row in rows]
    parts = [one.parts(row.operation) for row, one in zip(rows, forecasts, strict=True)]
    part = _widest(["parts", *(f"{text}," for of_row in parts for text in of_row)])
    word = _widest(["parts", *(word for of_row in parts for text in of_row for word in f"{text},".split())])
    rate = _GAP + _widest(["rate", *(one.rate() for one in forecasts)])
    room -= 2 * _GAP + _widest(["time", *(text for one in forecasts for text in (one.time(), one.range()))])

    name = _widest(_names(rows))
    has_rate = name + rate + part <= room
    room -= rate if has_rate else 0
    has_size = word + _LEAST_PATH <= room
    room += 0 if has_size else _GAP + _widest(_sizes(rows))
    in_two_lines = min(name, _LEAST_NAME) + part > room
    name = max(min(name, room - part), _LEAST_PATH if in_two_lines else 0)
    line = max(min(room - name, _ONE_LINE), word)

    table = _new_table(result.made_by.capitalize(), has_size=has_size)
    table.add_column("time", justify="right", no_wrap=True)
    if has_rate:
        table.add_column("rate", justify="right", no_wrap=True)
    table.add_column("parts", overflow="fold")
    for row, one, texts in zip(_with_gaps(table, rows), forecasts, parts, strict=True):
        table.add_row(
            _who(row),
            _what(row, name, in_two_lines=in_two_lines),
            *([row.size()] if has_size else []),
            _below(one.time(), one.range()),
            *([one.rate()] if has_rate else []),
            _below("", *_lines(texts, line)),
        )
    return table


def _table_of_all(results: Sequence[Result], rows: Sequence[Row], name: int) -> Table:
    table = _new_table("Forecast: time, rate and parts under each model")
    for result in results:
        table.add_column(f"{result.model:>{_TIME}}", overflow="fold")
    for row in _with_gaps(table, rows):
        cells = (_beside(row.operation, one) for one in row.forecasts)
        table.add_row(_who(row), _what(row, name), row.size(), *cells)
    return table


def _new_table(title: str, *, has_size: bool = True) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("process", no_wrap=True)
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


def _who(row: Row) -> Text:
    return _below(row.process, _mean_of(row))


def _what(row: Row, width: int, *, in_two_lines: bool = False) -> str:
    if in_two_lines:
        return f"{row.operation}\n{_shortened(row.path, width)}".rstrip()
    return f"{row.operation} {_shortened(row.path, width - len(row.operation) - 1)}".rstrip()


def _mean_of(row: Row) -> str:
    return f"mean of {row.count():,}" if row.count() > 1 else ""


def _beside(operation: str, one: Forecast) -> Text:
    head = f"{one.time():>{_TIME}} {one.rate():>{_RATE}}".rstrip()
    return _below(head, f"{one.range():>{_TIME}}".rstrip(), *_lines(one.parts(operation), _BESIDE))


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


def _shortened(path: str, width: int) -> str:
    """Replace the middle of a path that is too long; the end says most."""
    if cell_len(path) <= width:
        return path
    head = max(width - 1, 0) // 3
    return f"{path[:head]}…{path[head - width + 1 :]}"


def _processes(rows: Sequence[Row]) -> list[str]:
    return ["process", *(text for row in rows for text in (row.process, _mean_of(row)))]


def _names(rows: Sequence[Row]) -> list[str]:
    return ["operation", *(f"{row.operation} {row.path}".rstrip() for row in rows)]


def _sizes(rows: Sequence[Row]) -> list[str]:
    return ["size", *(row.size() for row in rows)]


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts))
