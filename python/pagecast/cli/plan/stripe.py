"""``pagecast plan stripe``: throughput over strip size, stripe count and number of servers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagecast._core import format_rate
from pagecast.cli import options
from pagecast.cli.grid import Sizes

if TYPE_CHECKING:
    from pagecast.report.document import Table
    from pagecast.striping import StripePlan, StripePoint

__all__ = ["command"]

DEFAULT_STRIPS = (64 << 10, 256 << 10, 1 << 20, 4 << 20)
"""PVFS2's default and its multiples, up to what Lustre and BeeGFS use."""


@click.command("stripe")
@options.scenario
@click.option(
    "--strip",
    "strips",
    type=Sizes(),
    multiple=True,
    metavar="SIZE",
    help="Strip size, or A..B, each twice the one before; can be repeated.  "
    "[default: 64KiB, 256KiB, 1MiB, 4MiB]",
)
@click.option(
    "--count",
    "stripe_counts",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Stripe count: servers of each file; can be repeated.  [default: that of SCENARIO, or all]",
)
@click.option(
    "--servers",
    "servers",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="The first N servers of each mount; can be repeated.  [default: 1, 2, 4 and so on, up to all]",
)
@options.models
@options.overrides
@options.as_json
def command(
    scenario: Path,
    strips: tuple[tuple[int, ...], ...],
    stripe_counts: tuple[int, ...],
    servers: tuple[int, ...],
    models: tuple[str, ...],
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Forecast the throughput of SCENARIO over strip size, stripe count and number of servers.

    All striped mounts of the scenario get the strip size, the stripe count and the number of servers. The
    throughput is that of all bytes moved below them, from the first to the last of all operations there. The
    knee of a strip size and a stripe count is the smallest number of servers with at least 95 % of their
    highest throughput.

    \b
    Examples:
      pagecast plan stripe scenario.toml
      pagecast plan stripe scenario.toml --strip 64KiB..4MiB --servers 4 --servers 8 --json
      pagecast plan stripe scenario.toml --strip 1MiB --count 1 --count 4
    """
    from pagecast.cli.progress import Progress
    from pagecast.striping import plan_stripe

    if len(models) > 1:
        raise click.UsageError("name one model")
    with Progress() as progress:
        plan = plan_stripe(
            scenario,
            strip_bytes=[size for sizes in strips for size in sizes] or DEFAULT_STRIPS,
            stripe_counts=stripe_counts,
            servers=servers,
            model=models[0] if models else None,
            overrides=overrides,
            progress=progress.part,
        )
    if as_json:
        click.echo(json.dumps(plan.to_json(), ensure_ascii=False, allow_nan=False))
        return
    from pagecast.cli.summary import new_console
    from pagecast.report.terminal import print_table

    print_table(_table(plan), new_console())


def _table(plan: "StripePlan") -> "Table":
    """Make a line of each strip size and stripe count, with a column for each number of servers."""
    from pagecast.grid.plan import size_text
    from pagecast.report.document import Table

    servers = sorted({point.servers for point in plan.points})
    points = {(point.strip_bytes, point.stripe_count, point.servers): point for point in plan.points}
    has_counts = any(point.stripe_count is not None for point in plan.points)
    by = "strip size, stripe count" if has_counts else "strip size"
    rows = []
    for strip, stripe in dict.fromkeys((point.strip_bytes, point.stripe_count) for point in plan.points):
        layout = (size_text(strip), *([str(stripe)] if has_counts else []))
        cells = (_cell(plan, points.get((strip, stripe, number))) for number in servers)
        rows.append((*layout, *cells))
    return Table(
        title=f"Throughput under {plan.model} by {by} and servers",
        columns=("strip", *(["count"] if has_counts else []), *(str(number) for number in servers)),
        rows=rows,
        text_columns=1,
        note="* The knee: the fewest servers with at least 95 % of the highest throughput of their line.",
    )


def _cell(plan: "StripePlan", point: "StripePoint | None") -> str:
    """Give the throughput of a point with the mark of a knee; nothing where files need more servers."""
    if point is None:
        return ""
    is_knee = point.servers == plan.knee(point.strip_bytes, point.stripe_count)
    return format_rate(point.bytes_per_s) + (" *" if is_knee else "")
