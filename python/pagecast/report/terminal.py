"""A report's table in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pagecast.report.document import Table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["print_ending", "print_plain", "print_table"]


def print_plain(what: "RenderableType", console: "Console", *, style: str | None = None) -> None:
    """Print, and where nobody looks at a screen without the blanks that fill lines up."""
    if console.is_terminal:
        console.print(what, style=style, highlight=False)
        return
    with console.capture() as capture:
        console.print(what, style=style, highlight=False)
    for line in capture.get().splitlines():
        console.file.write(f"{line.rstrip()}\n")


def print_table(table: Table, console: "Console") -> None:
    """Print a table, plain enough to read in a log."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
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
    print_plain("", console)
    print_plain(Text(table.title, style="bold"), console)
    print_plain(drawn, console)
    if table.note:
        print_plain(Text(table.note, style="dim"), console)


def print_ending(conclusion: Sequence[str], left_out: Sequence[str], console: "Console") -> None:
    """Print the omissions of a report, and its conclusion at the very end, where a reader looks first."""
    for line in left_out:
        print_plain(f"Left out: {line}.", console, style="dim")
    print_plain("\n" + "\n".join(conclusion), console)
