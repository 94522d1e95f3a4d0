"""``pagecast plan stripe``: throughput over the strip size and the number of servers."""

import json
from pathlib import Path

import click

from pagecast._core import format_rate
from pagecast.cli import options
from pagecast.cli.grid import Sizes

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
    servers: tuple[int, ...],
    models: tuple[str, ...],
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Forecast the throughput of SCENARIO over strip size and number of servers.

    All striped mounts of the scenario get the strip size and the number of servers. The throughput is that of
    all reads and writes below them, from the first to the last of all operations there. The knee of a strip
    size is the smallest number of servers with at least 95 % of its highest throughput.

    \b
    Examples:
      pagecast plan stripe scenario.toml
      pagecast plan stripe scenario.toml --strip 64KiB..4MiB --servers 4 --servers 8 --json
    """
    from pagecast.cli.progress import Progress
    from pagecast.striping import plan_stripe

    if len(models) > 1:
        raise click.UsageError("name one model")
    with Progress() as progress:
        plan = plan_stripe(
            scenario,
            strip_bytes=[size for sizes in strips for size in sizes] or DEFAULT_STRIPS,
            servers=servers,
            model=models[0] if models else None,
            overrides=overrides,
            progress=progress.part,
        )
    if as_json:
        click.echo(json.dumps(plan.to_json(), ensure_ascii=False, allow_nan=False))
        return
    from pagecast.cli.summary import new_console
    from pagecast.grid.plan import size_text
    from pagecast.report.document import Table
    from pagecast.report.terminal import print_table

    counts = sorted({point.servers for point in plan.points})
    rates = {(point.strip_bytes, point.servers): point.bytes_per_s for point in plan.points}
    rows = []
    for strip in dict.fromkeys(point.strip_bytes for point in plan.points):
        knee = plan.knee(strip)
        cells = (format_rate(rates[strip, count]) + (" *" if count == knee else "") for count in counts)
        rows.append((size_text(strip), *cells))
    print_table(
        Table(
            title=f"Throughput under {plan.model} by strip size and servers",
            columns=("strip", *(str(count) for count in counts)),
            rows=rows,
            text_columns=1,
            note="* The knee: the fewest servers with at least 95 % of the highest throughput of their line.",
        ),
        new_console(),
    )
