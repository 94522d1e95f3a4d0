"""``pagecast cache status``: what is cached of files."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagecast.cache.files import Files, Status, find, status
from pagecast.cli.cache import common, picture
from pagecast.cli.cache.common import Walk, amount, counted, printable
from pagecast.cli.progress import Progress
from pagecast.result import Columns

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["command"]

_MOST_ROWS = 40
_CELLS = 24
_ONE_FILE_CELLS = 64
_LEVELS = ("cached", "dirty", "writeback", "evicted", "recently_evicted")
_SORTS = (*_LEVELS, "size", "path")


@click.command("status")
@common.files_and_options
@click.option("--top", type=click.IntRange(min=0), metavar="N", help="Show the first N files.  [default: 40]")
@click.option("--all", "every", is_flag=True, help="Show all files, however many.")
@click.option(
    "--sort",
    type=click.Choice(_SORTS),
    default="cached",
    show_default=True,
    help="What to sort by; largest first, paths by name.",
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
    paths: tuple[Path, ...],
    follow: bool,
    one_file_system: bool,
    method: str | None,
    as_json: bool,
    top: int | None,
    every: bool,
    sort: str,
    cells: int | None,
    again: bool,
    period_s: float,
) -> None:
    """Show what is cached of the files in each PATH, without disturbing it.

    dirty: not yet written to the device. writeback: on the way. evicted: was cached, and the kernel dropped
    it and remembers; recently: so lately that reading it again would count as a refault. What was evicted by
    hand leaves no such trace. Exit code 1 if some files could not be looked at.

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
    view = _View(sort, None if every else top, cells, as_json)
    walk = Walk(paths, follow, one_file_system)
    if again:
        _follow(walk, method, view, period_s)
        return
    with Progress() as progress:
        files = common.find_files(walk, progress)
        found = status(files, method=method, progress=progress.counted)
        common.refuse_nothing(len(found.files), found.problems)
        rows = view.rows(found)
        pictures = view.pictures(found, rows, method)
    if as_json:
        common.print_json(view.document(found, files, rows, pictures))
    else:
        _print(found, rows, pictures, view)
        common.tell_left_out(files, found.vanished, found.other_names)
        common.tell_cautions(found)
        common.tell_problems(found.problems)
    common.check_failed(bool(found.problems))


class _View:
    """Which rows are shown, in which order, with what picture."""

    def __init__(self, sort: str, top: int | None, cells: int | None, as_json: bool) -> None:
        self.sort = sort
        self.most = top if top is not None else None
        self.cells = cells
        self.as_json = as_json

    def rows(self, found: Status) -> list[int]:
        """Give the rows to be shown, sorted."""
        order = _sorted(found.files, self.sort)
        most = self.most
        if most is None and not self.as_json and not _wants_all():
            most = _MOST_ROWS
        return order if most is None else order[:most]

    def pictures(self, found: Status, rows: list[int], method: str | None) -> dict[str, list[float]]:
        """Measure the shown files in pieces."""
        paths = [found.files["path"][row] for row in rows if found.files["size_bytes"][row]]
        cells = self.cells if self.cells is not None else self._usual_cells(len(found.files))
        if not cells or not paths:
            return {}
        closer = status(_again(paths), method=method, cells=cells)
        return dict(zip(closer.files["path"], closer.files["cells"], strict=True))

    def _usual_cells(self, files: int) -> int:
        if self.as_json:
            return 0
        return _ONE_FILE_CELLS if files == 1 else _CELLS

    def document(
        self, found: Status, files: Files, rows: list[int], pictures: dict[str, list[float]]
    ) -> dict[str, object]:
        """Give everything for ``--json``."""
        columns = [(name, [found.files[name][row] for row in rows]) for name in found.files]
        if pictures:
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


def _wants_all() -> bool:
    return bool(click.get_current_context().params["every"])


def _again(paths: list[str]) -> Files:
    """Find files that were found already, except those that are gone."""
    from pagecast.errors import ProbeError

    try:
        return find(paths)
    except ProbeError:
        return find([path for path in paths if Path(path).exists()])


def _sorted(files: Columns, by: str) -> list[int]:
    paths = files["path"]
    if by == "path":
        return sorted(range(len(paths)), key=paths.__getitem__)
    column = files[f"{by}_bytes"]
    # The sort is stable: what is equal stays in the order of names; what is not known comes last.
    return sorted(range(len(paths)), key=lambda row: -1 if column[row] is None else column[row], reverse=True)


def _print(found: Status, rows: list[int], pictures: dict[str, list[float]], view: _View) -> None:
    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_plain

    console = new_console()
    if rows:
        print_plain(_table(found, rows, pictures, console), console)
        print_plain("", console)
    if left_out := len(found.files) - len(rows):
        print_plain(f"… and {counted(left_out, 'more file')}; --all shows them.", console)
    if pictures:
        print_plain(f"Parts, from the start of the file: {picture.legend()}.", console)
    for line in _totals(found):
        print_plain(line, console)


def _table(found: Status, rows: list[int], pictures: dict[str, list[float]], console: "Console") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    knows = found.totals()["dirty_bytes"] is not None or any(
        value is not None for value in found.files["dirty_bytes"]
    )
    levels = _LEVELS if knows else _LEVELS[:1]
    for level in levels:
        table.add_column(level.replace("recently_evicted", "recently"), justify="right", no_wrap=True)
    table.add_column("of size", justify="right", no_wrap=True)
    if pictures:
        table.add_column("parts", no_wrap=True)
    table.add_column("file", overflow="fold")
    files = found.files
    for row in rows:
        cells = [amount(files[f"{level}_bytes"][row]) for level in levels]
        cells.append(_share(files["cached_bytes"][row], files["size_bytes"][row]))
        if pictures:
            cells.append(picture.bar(pictures.get(files["path"][row], [])))
        table.add_row(*map(Text, cells), Text(printable(files["path"][row])))
    return table


def _share(part: int, whole: int) -> str:
    """Give whole percent; neither 0 nor 100 unless it is exactly that."""
    if whole == 0:
        return "empty"
    percent = round(100 * part / whole)
    if percent == 100 and part < whole:
        return ">99 %"
    return "<1 %" if percent == 0 and part else f"{percent} %"


def _totals(found: Status) -> Iterator[str]:
    totals = found.totals()
    size, cached = totals["size_bytes"] or 0, totals["cached_bytes"] or 0
    share = f" ({_share(cached, size)})" if size else ""
    yield f"{counted(len(found.files), 'file')}, {amount(size)}: {amount(cached)} cached{share}"
    if totals["dirty_bytes"] is not None:
        yield (
            f"{amount(totals['dirty_bytes'])} dirty, {amount(totals['writeback_bytes'])} under writeback, "
            f"{amount(totals['evicted_bytes'])} evicted, "
            f"{amount(totals['recently_evicted_bytes'])} of it recently"
        )
        return
    blind = sum(method == "mincore" for method in found.files["method"])
    yield (
        f"Of {counted(blind, 'file')} asked with mincore, dirty, written-back and evicted bytes are not "
        "known (cachestat knows them: Linux 6.5 or later, not on overlay)."
    )


def _follow(walk: Walk, method: str | None, view: _View, period_s: float) -> None:
    """Measure until Ctrl-C, the usual end; a terminal shows a table, a pipe gets a line each time."""
    from pagecast.cli.summary import new_console

    console = new_console()
    begun = time.monotonic()
    looks = 0
    try:
        while True:
            with Progress() as progress:
                files = common.find_files(walk, progress)
                found = status(files, method=method, progress=progress.counted)
            common.refuse_nothing(len(found.files), found.problems)
            _print_look(found, files, view, method, console, time.monotonic() - begun)
            looks += 1
            time.sleep(max(begun + looks * period_s - time.monotonic(), 0))
    except KeyboardInterrupt:
        return


def _print_look(
    found: Status, files: Files, view: _View, method: str | None, console: "Console", time_s: float
) -> None:
    import sys

    rows = view.rows(found)
    if view.as_json:
        document = view.document(found, files, rows, view.pictures(found, rows, method))
        common.print_json({"time_s": round(time_s, 3), **document})
    elif console.is_terminal:
        console.clear()
        _print(found, rows[: max(console.height - 6, 1)], view.pictures(found, rows, method), view)
    else:
        console.file.write(f"{time_s:.1f} s  {'; '.join(_totals(found))}\n")
    sys.stdout.flush()
