"""A report's table in a terminal."""

from typing import TYPE_CHECKING

from pagecast.report.document import Table

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_table"]


def print_table(table: Table, console: "Console") -> None:
    """Print a table, plain enough to read in a log."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for k, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="left" if k < table.text_columns else "right")
    for row in table.rows:
        if row is None:
            drawn.add_section()
        else:
            drawn.add_row(*map(Text, row))
    console.print()
    console.print(drawn)
    if table.note:
        console.print(Text(table.note, style="dim"))
