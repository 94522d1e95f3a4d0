"""The links that carried most, and how much of their rate that was."""

from rich import box
from rich.table import Table

from pagecast._core import format_bytes
from pagecast.cli.amounts import rate, seconds
from pagecast.result import Result

__all__ = ["links_table"]

_MOST_ROWS = 10


def links_table(result: Result) -> Table | None:
    """Make a table of the directions of links, the one that was used most first.

    Parameters
    ----------
    result : Result

    Returns
    -------
    rich.table.Table or None
        None if no link carried anything. It has at most ten rows; `Result.links` has all.
    """
    links = result.links
    order = sorted(range(len(links)), key=lambda row: -float(links["utilisation"][row]))
    if not order:
        return None
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"Links, {result.made_by}",
        title_justify="left",
        title_style="bold",
        pad_edge=False,
    )
    for name in ("link", "from", "to"):
        table.add_column(name, no_wrap=True)
    for name in ("rate", "messages", "bytes", "busy", "used"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in order[:_MOST_ROWS]:
        table.add_row(
            *(links[name][row] for name in ("link", "from", "to")),
            rate(float(links["rate_bytes_per_s"][row])),
            f"{int(links['messages'][row]):,}",
            format_bytes(int(links["bytes"][row])),
            seconds(float(links["busy_s"][row])),
            f"{100 * float(links['utilisation'][row]):.1f} %",
        )
    if len(order) > _MOST_ROWS:
        table.caption = f"… and {len(order) - _MOST_ROWS:,} more; `Result.links` has each."
        table.caption_justify = "left"
    return table
