"""``pagecast cache status``: cached pages of files."""

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from pagecast.cache.files import Files, Status
from pagecast.cli.cache import common
from pagecast.cli.cache.common import Request
from pagecast.cli.cache.status_table import LEVELS, measure_cells, print_status, totals
from pagecast.result import Columns

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["command"]

_MOST_ROWS = 40
_SORTS = (*LEVELS, "size", "path")
_LINES_AROUND = 8
"""Shown on a terminal beside the rows of the table."""


@click.command("status", short_help="Show the cached pages of files.")
@common.files_and_options
@click.option("--top", type=click.IntRange(min=0), metavar="N", help="Show the first N files.  [default: 40]")
@click.option("--all", "every", is_flag=True, help="Show all files, however many.")
@click.option(
    "--sort",
    type=click.Choice(_SORTS),
    default="cached",
    show_default=True,
    help="Column to sort by; largest first, paths by name.",
)
@click.option(
    "--cells", type=click.IntRange(0, 4096), metavar="N", help="Cut the picture into N pieces; 0: none."
)
@click.option("--watch", "again", is_flag=True, help="Measure again and again until Ctrl-C.")
@click.option(
    "--every",
    "period_s",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How often with --watch.",
)
def command(
    request: Request,
    top: int | None,
    every: bool,
    sort: str,
    cells: int | None,
    again: bool,
    period_s: float,
) -> None:
    """Show the cached pages of the files in each PATH, without changing them.

    dirty: not yet written to the device. writeback: on the way. evicted: was cached, and the kernel dropped
    it and remembers; recently: so lately that reading it again would count as a refault. Pages evicted by
    hand leave no such trace. Exit code 1 if some files could not be looked at.

    \b
    Examples:
      pagecast cache status data
      pagecast cache status /var/lib/db --sort dirty --top 10
      pagecast cache status big.bin --cells 200       a finer picture of one file
      pagecast cache status data --watch              follow it
      pagecast cache status data --json | jq .totals.cached_bytes
    """
    if every and top is not None:
        raise click.UsageError("--all and --top exclude each other", click.get_current_context())
    if top is None and not every and not request.as_json:
        top = _MOST_ROWS
    view = _View(request, sort, top, cells)
    if again:
        _follow(view, period_s)
        return
    files, found = common.look(request)
    if request.as_json:
        common.print_json(view.document(found, files))
    else:
        from pagecast.cli.summary import new_console

        view.print_to(new_console(), found)
        common.tell_left_out(files, found.vanished, found.other_names)
        common.tell_cautions(found.file_systems)
        common.tell_problems(found.problems)
    common.check_failed(bool(found.problems))


@dataclass(frozen=True)
class _View:
    """Which rows are shown, in which order, with what picture."""

    request: Request
    sort: str
    most: int | None
    cells: int | None

    def document(self, found: Status, files: Files) -> dict[str, object]:
        """Give everything for ``--json``."""
        rows = self._rows(found)
        columns = [(name, [found.files[name][row] for row in rows]) for name in found.files]
        if self.cells and rows:
            pictures = measure_cells(found, rows, self.cells, self.request.method)
            columns.append(("cells", [pictures.get(path) for path in columns[0][1]]))
        return {
            "totals": found.totals(),
            "files": common.rows(columns) if rows else [],
            "problems": [problem._asdict() for problem in found.problems],
            "file_systems": found.file_systems,
            "left_out": files.left_out
            | {
                "vanished": found.vanished,
                "other_names": found.other_names,
                "rows": len(found.files) - len(rows),
            },
        }

    def print_to(self, console: "Console", found: Status, *, most: int | None = None) -> None:
        """Print the table and the totals."""
        print_status(console, found, self._rows(found)[:most], cells=self.cells, method=self.request.method)

    def _rows(self, found: Status) -> list[int]:
        return _sorted(found.files, self.sort)[: self.most]


def _sorted(files: Columns, by: str) -> list[int]:
    paths = files["path"]
    if by == "path":
        return sorted(range(len(paths)), key=paths.__getitem__)
    column = files[f"{by}_bytes"]
    # The sort is stable: what is equal stays in the order of names; what is not known comes last.
    return sorted(range(len(paths)), key=lambda row: -1 if column[row] is None else column[row], reverse=True)


def _follow(view: _View, period_s: float) -> None:
    """Measure until Ctrl-C, the usual end; a terminal shows a table, a pipe gets a line each time."""
    from pagecast.cli.summary import new_console

    console = new_console()
    begun = time.monotonic()
    looks = 0
    try:
        while True:
            files, found = common.look(view.request)
            _print_look(files, found, view, console, time.monotonic() - begun)
            looks += 1
            time.sleep(max(begun + looks * period_s - time.monotonic(), 0))
    except KeyboardInterrupt:
        return


def _print_look(files: Files, found: Status, view: _View, console: "Console", time_s: float) -> None:
    if view.request.as_json:
        common.print_json({"time_s": round(time_s, 3), **view.document(found, files)})
    elif console.is_terminal:
        console.clear()
        view.print_to(console, found, most=max(console.height - _LINES_AROUND, 1))
    else:
        console.file.write(f"{time_s:.1f} s  {'; '.join(totals(found))}\n")
    sys.stdout.flush()
