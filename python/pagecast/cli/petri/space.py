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
@click.option(
    "--to",
    "wanted",
    multiple=True,
    metavar="PLACE=TOKENS",
    help="Show the shortest way to a marking in which a place has these tokens. May be repeated.",
)
@options.as_json
def command(net: Path, values: tuple[str, ...], nodes: int, wanted: tuple[str, ...], as_json: bool) -> None:
    """Explore every marking that NET.cpn can reach, and report bounds, home, dead and live properties.

    \b
    Examples:
      pagecast petri space net.cpn
      pagecast petri space net.cpn --set philosophers=4 --json | jq .dead_markings
      pagecast petri space net.cpn --to "Page'Done=1`3"
    """
    marking = _marking(wanted)
    space = common.loaded(net, values).state_space(max_nodes=nodes)
    node = space.find(marking) if marking else None
    if as_json:
        found = {"schema_version": 1, "net": str(net), **space.to_dict()}
        if marking:
            found["found"] = None if node is None else {"node": node, "path": space.path(node)}
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    _show(net, space)
    if marking and node is None:
        click.echo(f"  no marking has {', '.join(wanted)}")
    elif node is not None:
        _show_way(space, node, f"marking {node}")


def _marking(wanted: tuple[str, ...]) -> dict[str, str]:
    """Read options `--to`."""
    for text in wanted:
        if "=" not in text:
            raise click.BadParameter(f"`{text}` is not like Page'Place=1`3", param_hint="'--to'")
    return dict(text.split("=", 1) for text in wanted)


def _show(net: Path, space: StateSpace) -> None:
    from pagecast.cli.summary import new_console
    from pagecast.report.document import Table
    from pagecast.report.terminal import print_table

    names = ("place", "upper_multiset", "lower_multiset", "upper", "lower")
    rows = [
        (place, common.cut(most), common.cut(least), f"{upper:,}", f"{lower:,}")
        for place, most, least, upper, lower in zip(*(space.bounds[name] for name in names), strict=True)
    ]
    shown_names = tuple(name.replace("_", " ") for name in names)
    print_table(Table("Bounds", shown_names, rows, text_columns=3), new_console())
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
        _show_way(space, first, f"the dead marking {first}")


def _show_way(space: StateSpace, node: int, name: str) -> None:
    click.echo(f"  shortest way to {name}:")
    for transition, binding in space.path(node):
        click.echo(f"    {transition}" + (f"  {binding}" if binding else ""))


def _some(names: list[int] | list[str]) -> str:
    return named(names, _LISTED) if names else "none"
