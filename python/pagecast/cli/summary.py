"""What ``pagecast simulate`` prints: the operations, the totals, and what the memory held."""

import os
from collections.abc import Iterable, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pagecast._core import format_bytes, format_seconds
from pagecast.api import Scenario
from pagecast.cli.rows import Forecast, Operations, Row
from pagecast.result import Result

__all__ = ["new_console", "print_summary"]

_MOST_ROWS = 40
_PIPE_COLUMNS = 160
_LEFT_COLUMNS = 44
_MODEL_COLUMNS = 33


def print_summary(scenario: Scenario, results: Sequence[Result], *, every: bool = False) -> None:
    """Print the forecasts of all models side by side.

    Parameters
    ----------
    scenario : Scenario
    results : sequence of Result
        One per model.
    every : bool
        Show each operation, also when there are many.
    """
    console = new_console()
    operations = Operations(scenario, results, together=False)
    if len(operations) > _MOST_ROWS and not every:
        operations = Operations(scenario, results, together=True)
    rows = operations.rows(None if every else _MOST_ROWS)
    if len(results) > 1 and console.width >= _LEFT_COLUMNS + _MODEL_COLUMNS * len(results):
        tables = [_table_of_all(results, rows)]
    else:
        tables = [_table_of_one(result, number, rows) for number, result in enumerate(results)]
    for table in tables:
        _show(console, table)
    if len(rows) < len(operations):
        more = len(operations) - len(rows)
        _show(console, f"… and {more:,} more rows; --all shows them, --out DIR keeps each operation.\n")
    _show(console, _totals(results))


def _show(console: Console, what: Table | str) -> None:
    """Print, in a pipe without the blanks that fill lines up."""
    if console.is_terminal:
        console.print(what)
        return
    with console.capture() as capture:
        console.print(what)
    for line in capture.get().splitlines():
        print(line.rstrip())


def new_console() -> Console:
    """Give a console on stdout as wide as the terminal; a pipe has no width, so nothing is cut there."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PIPE_COLUMNS
    return console


def _new_table(title: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("process", overflow="fold")
    table.add_column("operation", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    return table


def _table_of_one(result: Result, number: int, rows: Sequence[Row]) -> Table:
    table = _new_table(f"Forecast by {result.model}")
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("rate", justify="right", no_wrap=True)
    table.add_column("parts", overflow="fold")
    for row in _with_lines(table, rows):
        forecast = row.forecasts[number]
        parts = Text(forecast.parts(), style="dim")
        table.add_row(row.who(), row.what(), row.size(), forecast.time(), forecast.rate(), parts)
    return table


def _table_of_all(results: Sequence[Result], rows: Sequence[Row]) -> Table:
    table = _new_table("Forecast: time, rate and parts under each model")
    for result in results:
        table.add_column(f"{result.model:>11}", overflow="fold")
    for row in _with_lines(table, rows):
        table.add_row(row.who(), row.what(), row.size(), *map(_cell, row.forecasts))
    return table


def _with_lines(table: Table, rows: Sequence[Row]) -> Iterable[Row]:
    """Give the rows, with a gap between two processes."""
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and before.process != row.process:
            table.add_section()
        yield row


def _cell(forecast: Forecast) -> Text:
    head = f"{forecast.time():>11} {forecast.rate():>11}".rstrip()
    parts = forecast.parts()
    return Text.assemble(head, ("\n" + parts if parts else "", "dim"))


def _totals(results: Sequence[Result]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, title="Totals", title_justify="left", title_style="bold", pad_edge=False
    )
    table.add_column("")
    for result in results:
        table.add_column(result.model, justify="right", no_wrap=True)
    lines = [_totals_of(result) for result in results]
    for name in dict.fromkeys(name for line in lines for name in line):
        table.add_row(name, *(line.get(name, "") for line in lines))
    return table


def _totals_of(result: Result) -> dict[str, str]:
    operations = result.operations
    kinds = np.array(operations["operation"], dtype=object)
    lines = {"total time": format_seconds(result.end_s)}
    for kind, what in (("read", "bytes read"), ("write", "bytes written")):
        lines[what] = format_bytes(int(operations["bytes"][kinds == kind].sum()))
    lines |= _peaks(result)
    if result.events_left_out:
        lines["events not kept"] = f"{result.events_left_out:,}"
    lines["time to simulate"] = format_seconds(result.wall_s)
    return lines


def _peaks(result: Result) -> dict[str, str]:
    """Give the most dirty and cached bytes of each host."""
    hosts = np.array(result.timeline["host"], dtype=object)
    names = list(dict.fromkeys(result.timeline["host"]))
    peaks = {}
    for host in names:
        of_host = f" of {host}" if len(names) > 1 else ""
        for level in ("dirty", "cached"):
            most = result.timeline[f"{level}_bytes"][hosts == host].max(initial=0)
            peaks[f"peak {level}{of_host}"] = format_bytes(int(most))
    return peaks
