"""``pagecast petri run``: run a net and show what has become of it."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from pagecast.arguments import counted, shown
from pagecast.cli import options
from pagecast.cli.petri import common
from pagecast.cli.petri.watching import watch
from pagecast.errors import OutputError
from pagecast.petri import Replications, Run
from pagecast.report.document import Table
from pagecast.result import Columns

__all__ = ["command"]

_STEPS = 1_000_000
"""Occurrences after which a net without time ends, unless another number is given."""
_ANIMATED = 200
"""Occurrences in a page, unless another number is given."""
_ENDINGS = {
    "dead": "no transition is enabled any more",
    "time": "the time of --until is reached",
    "steps": "the number of --steps is reached",
}


@click.command("run")
@common.net
@common.values
@click.option("--seed", type=options.Seed(), default=0, show_default=True, help="Seed of all random draws.")
@click.option("--until", type=float, metavar="TIME", help="No occurrence after this model time.")
@click.option(
    "--steps",
    type=click.IntRange(0),
    metavar="N",
    help=f"At most so many occurrences (without time and limits {_STEPS:,}).",
)
@click.option("--log", type=click.IntRange(0), default=0, metavar="N", help="Show the first N occurrences.")
@click.option(
    "--html",
    type=options.FileName(),
    metavar="OUT",
    help="Write the first occurrences (--steps, or 200) as a page that a browser plays.",
)
@click.option("--force", is_flag=True, help="Replace OUT.")
@click.option(
    "--replications",
    type=click.IntRange(1),
    metavar="N",
    help="Run so many times, with the next seeds; show means of the monitors with their 95 % intervals.",
)
@click.option(
    "--monitor",
    "monitors",
    multiple=True,
    type=options.Text(),
    metavar="KIND:NODE",
    help="Watch a node: marking size, list length, empty or not empty of a place, count or enabled of a "
    "transition; data, timed data, write in file and breakpoint have functions behind it, each after `;`.",
)
@options.as_json
def command(
    net: Path,
    values: tuple[str, ...],
    seed: int,
    until: float | None,
    steps: int | None,
    log: int,
    html: Path | None,
    force: bool,
    replications: int | None,
    monitors: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run NET.cpn, and show occurrences, monitors and the marking at the end.

    Of several enabled transitions one is drawn with the seed. The run ends when none is enabled, at a
    limit, or where a monitor of the net says so.

    \b
    Examples:
      pagecast petri run net.cpn
      pagecast petri run net.cpn --set size=64 --until 1000000
      pagecast petri run net.cpn --log 20 --json | jq .occurrences
      pagecast petri run net.cpn --until 100000 --replications 30
      pagecast petri run net.cpn --steps 50 --html run.html
      pagecast petri run ext3-read --monitor "count: Disk'Position"
      pagecast petri run net.cpn --monitor "breakpoint: Page'Serve; fun pred (b) = time () > 99"
    """
    if html is not None:
        if replications is not None:
            raise click.UsageError("--html shows one run; leave --replications out")
        if html.exists() and not force:
            raise OutputError(f"{shown(html)}: is there already; choose another name or add --force")
    of = common.loaded(net, values)
    for text in monitors:
        watch(of, text)
    if html is not None:
        run = of.animate(html, steps=_ANIMATED if steps is None else steps, seed=seed, until=until)
        if as_json:
            click.echo(json.dumps(_as_dict(net, seed, run), ensure_ascii=False))
        told = f"{shown(html)} has {counted(range(run.steps), 'occurrence')}; open it in a browser."
        click.echo(told, err=as_json)
        return
    stepper = of.stepper(seed=seed)
    if steps is None and until is None and not stepper.is_timed:
        steps = _STEPS
    if replications is not None:
        _show_replications(net, of.replicate(replications, seed=seed, until=until, steps=steps), as_json)
        return
    run = stepper.run(until=until, steps=steps, log=log)
    if as_json:
        click.echo(json.dumps(_as_dict(net, seed, run), ensure_ascii=False))
    else:
        _show(net, run, log)


def _as_dict(net: Path, seed: int, run: Run) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "net": str(net),
        "seed": seed,
        "ended": run.ended,
        "time": run.time,
        "steps": run.steps,
        "transitions": run.transitions.to_dict(),
        "places": run.places.to_dict(),
        "monitors": run.monitors.to_dict(),
        "written": run.written,
        "occurrences": run.occurrences.to_dict(),
    }


def _show(net: Path, run: Run, log: int) -> None:
    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_table

    console = new_console()
    monitors = _monitors(run)
    parts = ([_occurrences(run)] if log else [], [_transitions(run)], [monitors] if monitors.rows else [])
    for table in (*chain(*parts), _marking(run)):
        print_table(table, console)
    time = f" at time {run.time}" if run.is_timed else ""
    why = _ENDINGS.get(run.ended, run.ended)
    click.echo(f"{shown(net)}: {counted(range(run.steps), 'occurrence')}; ended{time}: {why}.")


def _occurrences(run: Run) -> Table:
    columns = [run.occurrences[name] for name in ("transition", "binding", "time")]
    rows = [
        (transition, ", ".join(f"{name}={value}" for name, value in binding.items()), str(time))
        for transition, binding, time in zip(*columns, strict=True)
    ]
    return Table("Occurrences", ("transition", "binding", "time"), rows, text_columns=2)


def _transitions(run: Run) -> Table:
    columns = [run.transitions[name] for name in ("transition", "occurrences")]
    rows = [(name, f"{count:,}") for name, count in zip(*columns, strict=True)]
    return Table("Transitions", ("transition", "occurrences"), rows)


def _monitors(run: Run) -> Table:
    names = ("monitor", "kind", "count", "mean", "deviation", "min", "max", "last")
    return Table("Monitors", names, _values(run.monitors, names), text_columns=2)


def _values(table: Columns, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Give rows of a monitor, its kind, a count and numbers."""
    return [
        (name, kind, f"{count:,}", *(_number(value) for value in values))
        for name, kind, count, *values in zip(*(table[name] for name in names), strict=True)
    ]


def _show_replications(net: Path, found: Replications, as_json: bool) -> None:
    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_table

    if as_json:
        tables = {"ends": found.ends.to_dict(), "monitors": found.monitors.to_dict()}
        click.echo(json.dumps({"schema_version": 1, "net": str(net), **tables}, ensure_ascii=False))
        return
    rows = _values(found.monitors, ("monitor", "kind", "runs", "mean", "half_width", "min", "max"))
    if rows:
        headings = ("monitor", "kind", "runs", "mean", "95 % ±", "min", "max")
        print_table(Table("Means over all runs", headings, rows, text_columns=2), new_console())
    ends = found.ends
    steps, times = ends["steps"], ends["time"]
    click.echo(
        f"{shown(net)}: {counted(found.runs, 'run')}; {min(steps):,} to {max(steps):,} occurrences, "
        f"ended at time {min(times):g} to {max(times):g}" + ("." if rows else "; the net has no monitors.")
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.6g}"


def _marking(run: Run) -> Table:
    columns = [run.places[name] for name in ("place", "marking", "tokens")]
    rows = [(name, common.cut(text), f"{count:,}") for name, text, count in zip(*columns, strict=True)]
    return Table("Marking at the end", ("place", "marking", "tokens"), rows, text_columns=2)
