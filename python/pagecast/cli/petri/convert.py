"""``pagecast petri convert``: a net in another format."""

from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.cli.petri import common
from pagecast.errors import ArgumentError

__all__ = ["command"]


@click.command("convert")
@common.net
@click.argument("out", metavar="OUT", type=options.FileName())
@common.values
@click.option("--force", is_flag=True, help="Replace OUT.")
def command(net: Path, out: Path, values: tuple[str, ...], force: bool) -> None:
    """Write NET.cpn as OUT: a file of CPN Tools with other values.

    \b
    Examples:
      pagecast petri convert net.cpn larger.cpn --set size=64
    """
    of = common.loaded(net, values)
    if out.suffix != ".cpn":
        raise ArgumentError(f"{shown(out)}: the name of a net ends in .cpn")
    if out.exists() and not force:
        raise ArgumentError(f"{shown(out)} is there already; choose another name or add --force")
    of.save(out)
