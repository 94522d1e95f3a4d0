"""``pagecast petri space``: the state space of a net and its report."""

import json
from pathlib import Path

import click

from pagecast.arguments import counted, shown
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
    from rich.table import Table
    from rich.text import Text

    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_table

    table = Table("place", "upper", "lower", "upper multiset", title="Bounds")
    for column in table.columns[1:3]:
        column.justify = "right"
    bounds = space.bounds
    rows = zip(*(bounds[name] for name in ("place", "upper", "lower", "upper_multiset")), strict=True)
    for place, upper, lower, multiset in rows:
        text = multiset if len(multiset) <= 100 else f"{multiset[:100]}..."
        table.add_row(Text(place), f"{upper:,}", f"{lower:,}", Text(text))
    print_table(table, new_console())
    part = "" if space.is_complete else f" (not all: --nodes {space.nodes} is reached)"
    click.echo(f"{shown(net)}: {counted(space.nodes, 'node')}, {counted(space.arcs, 'arc')}{part}")
    click.echo(
        f"  {counted(space.components, 'strongly connected component')} with "
        f"{counted(space.component_arcs, 'arc')} between them"
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
    if not names:
        return "none"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(str, names[:_LISTED])) + more
