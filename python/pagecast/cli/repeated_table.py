"""The percentiles of operations that are done again and again, a line for each."""

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.table import Table

from pagecast.cli.amounts import seconds, shortened
from pagecast.repeated import PERCENTILES
from pagecast.result import Columns, Result

__all__ = ["repeated_tables"]

_LEAST = 10
"""Of fewer operations percentiles say no more than their times, unless these are not shown one by one."""
_MOST_ROWS = 20
_LEAST_NAME = 10
_LEFT_OUT = ((), ("p99_9_s",), ("p99_9_s", "p90_s"))
"""Which percentiles there is no room for, on ever narrower terminals."""
_GAP = 3
"""Columns between two columns of the table; fewer where an operation would be shortened."""


def repeated_tables(width: int, results: Sequence[Result], *, are_together: bool) -> list[Table]:
    """Make a table for each model that has operations to show.

    Parameters
    ----------
    width : int
        Of the terminal.
    results : sequence of Result
    are_together : bool
        Whether operations that are alike are shown as their mean, so that two are enough.

    Returns
    -------
    list of rich.table.Table
    """
    found = []
    for result in results:
        repeated = result.repeated
        matters = (repeated["n"] >= (2 if are_together else _LEAST)) & (repeated["max_s"] > 0)
        if shown := np.flatnonzero(matters).tolist():
            found.append(_table(width, result, repeated, shown))
    return found


def _table(width: int, result: Result, repeated: Columns, shown: list[int]) -> Table:
    rows = shown[:_MOST_ROWS]
    names = [f"{repeated['operation'][row]} {repeated['path'][row]}".rstrip() for row in rows]
    longest = max(map(cell_len, names))
    for left_out in _LEFT_OUT:
        columns = _columns(repeated, rows, left_out)
        room = width - 2 - sum(max(map(cell_len, (name, *of))) for name, of in columns.items())
        gap = max(1, min(_GAP, (room - longest) // len(columns)))
        room -= gap * len(columns)
        if room >= min(longest, _LEAST_NAME):
            break
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"Repeated operations, {result.made_by}",
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        padding=(0, gap - 1, 0, 0),  # a box has a blank between two columns
        caption=_more(len(shown) - _MOST_ROWS),
        caption_justify="left",
    )
    table.add_column("process", no_wrap=True)
    table.add_column("operation", no_wrap=True)
    for name in list(columns)[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    kinds = (repeated["operation"][row] for row in rows)
    paths = (repeated["path"][row] for row in rows)
    for kind, path, process, *cells in zip(kinds, paths, *columns.values(), strict=True):
        what = f"{kind} {shortened(path, max(room, _LEAST_NAME) - len(kind) - 1)}".rstrip()
        table.add_row(process, what, *cells)
    return table


def _columns(repeated: Columns, rows: list[int], left_out: Sequence[str]) -> dict[str, list[str]]:
    """Give the texts of all columns but the operations."""
    percentiles = {name: f"p{percent:g}" for name, percent in PERCENTILES.items() if name not in left_out}
    times = {"mean_s": "mean", **percentiles, "max_s": "max"}
    return {
        "process": [repeated["process"][row] for row in rows],
        "n": [f"{int(repeated['n'][row]):,}" for row in rows],
        **{heading: [seconds(float(repeated[name][row])) for row in rows] for name, heading in times.items()},
    }


def _more(rows: int) -> str | None:
    return f"… and {rows:,} more; --json has all." if rows > 0 else None
