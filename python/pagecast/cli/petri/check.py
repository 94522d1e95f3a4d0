"""``pagecast petri check``: read a net and say whether all of it is understood."""

import json
from pathlib import Path

import click

from pagecast.arguments import counted, shown
from pagecast.cli import options
from pagecast.cli.petri import common

__all__ = ["command"]


@click.command("check")
@common.net
@common.values
@options.as_json
def command(net: Path, values: tuple[str, ...], as_json: bool) -> None:
    """Read NET.cpn and compile it: types, variables, ports and fusion sets.

    \b
    Examples:
      pagecast petri check net.cpn
      pagecast petri check net.cpn --set clients=8 --json
    """
    of = common.loaded(net, values)
    places, transitions, pages = of.check()
    if as_json:
        found = {"places": places, "transitions": transitions, "pages": pages, "values": of.values}
        click.echo(json.dumps({"schema_version": 1, "net": str(net), **found}, ensure_ascii=False))
        return
    nodes = f"{counted(range(places), 'place')} and {counted(range(transitions), 'transition')}"
    click.echo(f"{shown(net)}: fine. {nodes} on {counted(range(pages), 'page')}.")
    for name, value in of.values.items():
        click.echo(f"  val {name} = {value}")
