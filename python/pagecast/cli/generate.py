"""``pagecast generate``: a recording with the statistics of a description."""

from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options

__all__ = ["command"]


@click.command("generate")
@click.argument("description", metavar="DESCRIPTION", type=options.FileName())
@click.argument("out", metavar="OUT", type=options.FileName(allow_dash=True))
@click.option(
    "--requests",
    type=click.IntRange(1, 10**12),
    metavar="N",
    help="How many reads and writes; as many as DESCRIPTION has if not given.",
)
@click.option(
    "--seed", type=options.Seed(), default=0, show_default=True, metavar="N", help="Seed of all draws."
)
@click.option("--force", is_flag=True, help="Replace OUT.")
def command(description: Path, out: Path, requests: int | None, seed: int, force: bool) -> None:
    """Draw a recording that is like another one, and write it to OUT.

    DESCRIPTION is what `pagecast describe TRACE --out DESCRIPTION` wrote. The mix of reads and writes, sizes,
    runs, reuse and times have its distributions. The end of OUT's name says what it becomes: .csv, .parquet
    or .pctrace; - is CSV to stdout.

    \b
    Examples:
      pagecast describe app.strace --out described
      pagecast generate described more.pctrace --requests 10000000 --seed 7
      pagecast simulate more.pctrace --machine m.toml --record histogram
    """
    from pagecast.cli.progress import Progress
    from pagecast.description import generate
    from pagecast.recordings import check_output, save

    check_output(out, replace=force)
    with Progress() as progress:
        progress.begin("drawing requests")
        recording = generate(description, requests=requests, seed=seed)
        progress.begin(f"writing {shown(out)}")
        save(recording, out, replace=force, progress=lambda _: None)
    if str(out) != "-":
        click.echo(f"{shown(out)}: {len(recording):,} requests", err=True)
