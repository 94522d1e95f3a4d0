"""A grid as tables for a person, laid out as iozone does; ``--json`` has every number."""

from typing import TYPE_CHECKING

from pagecast.grid.plan import size_text
from pagecast.report.document import Table

if TYPE_CHECKING:
    from pagecast.grid import Grid

__all__ = ["print_grid"]

_MB = 1e6


def print_grid(grid: "Grid", reference: str | None) -> None:
    """Print a table for each source, then the errors against one of them."""
    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_table

    console = new_console()
    for source in grid.sources:
        print_table(_rates(grid, source), console)
    if reference is not None and (errors := grid.errors(reference)):
        rows = [
            [
                one.source,
                one.test,
                str(one.cells),
                f"{one.mean:+.1%}",
                f"{one.mean_abs:.1%}",
                f"{one.worst:+.1%}",
                size_text(one.worst_cell.file_bytes),
                size_text(one.worst_cell.record_bytes),
            ]
            for one in errors
        ]
        columns = ["source", "test", "n", "mean", "mean abs", "worst", "of file", "of record"]
        title = f"Errors of the time, against {reference}"
        print_table(Table(title, columns, rows, text_columns=2), console)


def _rates(grid: "Grid", source: str) -> Table:
    rows: list[list[str] | None] = []
    tests = grid.tests
    before = None
    for cell in grid.cells:
        rates = [grid.rate(source, test, cell) for test in tests]
        if all(rate is None for rate in rates):
            continue
        if before not in (None, cell.file_bytes):
            rows.append(None)
        before = cell.file_bytes
        sizes = [size_text(cell.file_bytes), size_text(cell.record_bytes)]
        rows.append([*sizes, *("" if rate is None else _rate(rate) for rate in rates)])
    columns = ["file", "record", *(test.replace("-", "\n") for test in tests)]
    return Table(f"Rates in MB/s, {source}", columns, rows, text_columns=0)


def _rate(rate: float) -> str:
    return f"{rate / _MB:,.0f}" if rate >= 10 * _MB else f"{rate / _MB:.2g}"
