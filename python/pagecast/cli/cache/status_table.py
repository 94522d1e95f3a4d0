"""The output of ``pagecast cache status``: a row for each file, as wide as the terminal, and the totals."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pagecast.cache.files import Status, find, status
from pagecast.cli.cache import picture
from pagecast.cli.cache.common import amount, counted, printable
from pagecast.errors import ProbeError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["LEVELS", "measure_cells", "print_status", "totals"]

LEVELS = ("cached", "dirty", "writeback", "evicted", "recently_evicted")

_GAP = 2
_LEAST_CELLS, _MOST_CELLS, _MOST_CELLS_OF_ONE = 8, 24, 64
_LEAST_PATH, _MOST_PATH = 16, 60


def print_status(
    console: "Console", found: Status, rows: Sequence[int], *, cells: int | None, method: str | None
) -> None:
    """Print a table of some rows, with a picture of each file if there is room, and the totals of all.

    Parameters
    ----------
    console : rich.console.Console
    found : Status
    rows : sequence of int
    cells : int, optional
        Of the picture; what fits if not given.
    method : str, optional
        How to measure the picture.
    """
    from pagecast.report.terminal import print_plain

    figures = _figures(found, rows)
    paths = [printable(found.files["path"][row]) for row in rows]
    if cells is None:
        cells = _cells_that_fit(console.width, figures, paths)
    pictures = measure_cells(found, rows, cells, method)
    if rows:
        bars = [picture.bar(pictures.get(found.files["path"][row], [])) for row in rows]
        print_plain(_table(figures, bars if pictures else [], paths), console)
        print_plain("", console)
    if left_out := len(found.files) - len(rows):
        print_plain(f"… and {counted(left_out, 'more file')}; --all shows them.", console)
    if pictures:
        print_plain(f"Parts, from the start of the file: {picture.legend()}.", console)
    for line in totals(found):
        print_plain(line, console)


def measure_cells(
    found: Status, rows: Sequence[int], cells: int, method: str | None
) -> dict[str, list[float]]:
    """Measure some files again, in pieces; gives the cached shares by path."""
    paths = [found.files["path"][row] for row in rows if found.files["size_bytes"][row]]
    if not cells or not paths:
        return {}
    try:
        files = find(paths)
    except ProbeError:  # one is gone meanwhile
        paths = [path for path in paths if Path(path).exists()]
        if not paths:
            return {}
        files = find(paths)
    closer = status(files, method=method, cells=cells).files
    return dict(zip(closer["path"], closer["cells"], strict=True))


def _figures(found: Status, rows: Sequence[int]) -> dict[str, list[str]]:
    """Give the columns of figures by their heads; one that is 0 everywhere says nothing and is left out."""
    files = found.files
    columns: dict[str, list[str]] = {}
    for level in LEVELS:
        values = [files[f"{level}_bytes"][row] for row in rows]
        if level == "cached" or any(values):
            columns[level.replace("recently_evicted", "recently")] = list(map(amount, values))
        if level == "cached":
            sizes = (files["size_bytes"][row] for row in rows)
            columns["of size"] = [share(*pair) for pair in zip(values, sizes, strict=True)]
    return columns


def share(part: int, whole: int) -> str:
    """Give whole percent; neither 0 nor 100 unless it is exactly that."""
    if whole == 0:
        return "empty"
    percent = round(100 * part / whole)
    if percent == 100 and part < whole:
        return ">99 %"
    return "<1 %" if percent == 0 and part else f"{percent} %"


def _cells_that_fit(width: int, figures: dict[str, list[str]], paths: list[str]) -> int:
    from rich.cells import cell_len

    taken = sum(max(map(cell_len, [head, *texts])) + _GAP for head, texts in figures.items())
    path = min(max(map(cell_len, [*paths, ""])), _MOST_PATH)
    most = _MOST_CELLS if len(paths) > 1 else _MOST_CELLS_OF_ONE
    room = width - taken - max(path, _LEAST_PATH) - _GAP
    return min(room, most) if room >= _LEAST_CELLS else 0


def _table(figures: dict[str, list[str]], bars: list[str], paths: list[str]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for head in figures:
        table.add_column(head, justify="right", no_wrap=True)
    columns = list(figures.values())
    if bars:
        table.add_column("parts", overflow="fold")
        columns.append(bars)
    table.add_column("file", overflow="fold")
    for row in zip(*columns, paths, strict=True):
        table.add_row(*map(Text, row))
    return table


def totals(found: Status) -> Iterator[str]:
    """Print the sums of all files in a line or two."""
    sums = found.totals()
    size, cached = sums["size_bytes"] or 0, sums["cached_bytes"] or 0
    of_size = f" ({share(cached, size)})" if size else ""
    yield f"{counted(len(found.files), 'file')}, {amount(size)}: {amount(cached)} cached{of_size}"
    if sums["dirty_bytes"] is not None:
        yield (
            f"{amount(sums['dirty_bytes'])} dirty, {amount(sums['writeback_bytes'])} under writeback, "
            f"{amount(sums['evicted_bytes'])} evicted, "
            f"{amount(sums['recently_evicted_bytes'])} of it recently"
        )
        return
    blind = sum(method == "mincore" for method in found.files["method"])
    yield (
        f"Of {counted(blind, 'file')} asked with mincore, dirty, written-back and evicted bytes are not "
        "known (cachestat knows them: Linux 6.5 or later, not on overlay)."
    )
