"""``pagecast petri convert``: a net in another format."""

from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.cli.petri import common
from pagecast.errors import ArgumentError

__all__ = ["command"]

_ENDINGS = (".cpn", ".pnml", ".svg", ".dot")


@click.command("convert")
@common.net
@click.argument("out", metavar="OUT", type=options.FileName())
@common.values
@click.option("--force", is_flag=True, help="Replace OUT.")
def command(net: Path, out: Path, values: tuple[str, ...], force: bool) -> None:
    """Write NET.cpn as OUT: a net with other values, or a picture of its initial marking.

    The ending of OUT says what it becomes: .cpn for CPN Tools, .pnml for a place/transition net, .svg for
    a picture, .dot for Graphviz. NET may be a .pnml, too.

    \b
    Examples:
      pagecast petri convert net.cpn larger.cpn --set size=64
      pagecast petri convert net.cpn net.svg
      pagecast petri convert net.pnml net.cpn
    """
    if out.suffix not in _ENDINGS:
        raise ArgumentError(f"{shown(out)}: the name ends in none of {', '.join(_ENDINGS)}")
    of = common.loaded(net, values)
    if out.exists() and not force:
        raise ArgumentError(f"{shown(out)} is there already; choose another name or add --force")
    of.save(out)
