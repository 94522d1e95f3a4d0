"""``pagecast petri space``: the state space of a net and its report."""

import json
from pathlib import Path

import click

from pagecast.arguments import counted, named, shown
from pagecast.cli import options
from pagecast.cli.petri import common
from pagecast.petri import StateSpace

__all__ = ["command"]

_LISTED = 10
"""Markings and transitions that a line names."""


@click.command("space")
@common.net
@common.values
@click.option(
    "--nodes",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Explore at most so many markings.",
)
@options.as_json
def command(net: Path, values: tuple[str, ...], nodes: int, as_json: bool) -> None:
    """Explore every marking that NET.cpn can reach, and report bounds, home, dead and live properties.

    \b
    Examples:
      pagecast petri space net.cpn
      pagecast petri space net.cpn --set philosophers=4 --json | jq .dead_markings
    """
    space = common.loaded(net, values).state_space(max_nodes=nodes)
    if as_json:
        click.echo(json.dumps({"schema_version": 1, "net": str(net), **space.to_dict()}, ensure_ascii=False))
        return
    _show(net, space)


def _show(net: Path, space: StateSpace) -> None:
    from pagecast.cli.summary import new_console
    from pagecast.report.document import Table
    from pagecast.report.terminal import print_table

    columns = [space.bounds[name] for name in ("place", "upper_multiset", "upper", "lower")]
    rows = [
        (place, common.cut(multiset), f"{upper:,}", f"{lower:,}")
        for place, multiset, upper, lower in zip(*columns, strict=True)
    ]
    names = ("place", "upper multiset", "upper", "lower")
    print_table(Table("Bounds", names, rows, text_columns=2), new_console())
    part = "" if space.is_complete else f" (not all: --nodes {space.nodes} is reached)"
    click.echo(
        f"{shown(net)}: {counted(range(space.nodes), 'node')}, {counted(range(space.arcs), 'arc')}{part}"
    )
    click.echo(
        f"  {counted(range(space.components), 'strongly connected component')} with "
        f"{counted(range(space.component_arcs), 'arc')} between them"
    )
    every = len(space.home_markings) == space.nodes
    click.echo(f"  home markings: {'all' if every else _some(space.home_markings)}")
    click.echo(f"  dead markings: {_some(space.dead_markings)}")
    click.echo(f"  dead transitions: {_some(space.dead_transitions)}")
    click.echo(f"  live transitions: {_some(space.live_transitions)}")
    if space.dead_markings:
        first = space.dead_markings[0]
        click.echo(f"  shortest way to the dead marking {first}:")
        for transition, binding in space.path(first):
            click.echo(f"    {transition}" + (f"  {binding}" if binding else ""))


def _some(names: list[int] | list[str]) -> str:
    return named(names, _LISTED) if names else "none"
