"""``pagecast describe``: what the requests of a recording, of a scenario or of other programs are like."""

import json
import math
import sys
from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.workloads import Reading

__all__ = ["command"]


@click.command("describe")
@click.argument("source", metavar="TRACE", type=options.FileName(allow_dash=True))
@click.option(
    "--format", "form", type=options.Text(), metavar="NAME", help="Format of TRACE; see `pagecast formats`."
)
@click.option("--lenient", is_flag=True, help="Pass over what is not understood, and say so.")
@click.option(
    "--columns",
    type=options.Text(),
    metavar="NAME=N,...",
    help="Columns of a table without a known header: time=0,op=3,offset=4,bytes=5.",
)
@click.option(
    "--system-files",
    is_flag=True,
    help="Keep operations on files below /usr, /etc and the like, too, in a recording of strace.",
)
@click.option(
    "--operations",
    type=click.IntRange(1, 10**12),
    default=1_000_000,
    show_default=True,
    metavar="N",
    help="Of a scenario, fio job or workflow: describe so many operations at most.",
)
@click.option(
    "--pages",
    type=click.IntRange(1, 10**8),
    default=1 << 18,
    show_default=True,
    metavar="N",
    help="Reuse of more different pages of 4 KiB than this is that of a sample.",
)
@options.as_json
@click.option(
    "--out", type=options.FileName(), metavar="DIR", help="Write a report, tables and figures to DIR."
)
@click.option("--force", is_flag=True, help="Replace an earlier output in DIR.")
def command(
    source: Path,
    form: str | None,
    lenient: bool,
    columns: str | None,
    system_files: bool,
    operations: int,
    pages: int,
    as_json: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Tell what TRACE reads and writes: how random, how large, how often again.

    TRACE is a recording, a fio job or a workflow, in any format that `pagecast formats` lists, or a scenario
    (.toml), whose machine counts for nothing; - is stdin. The hit ratio of an LRU cache is told for every
    size of memory.

    \b
    Examples:
      pagecast describe app.strace
      pagecast describe trace.csv.gz --format table --columns time=0,op=3,offset=4,bytes=5
      pagecast describe job.fio --out described
      pagecast describe scenario.toml
      pagecast describe app.pctrace --json | jq '.classes'
    """
    from pagecast.cli.progress import Progress
    from pagecast.description import describe

    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    reading = Reading(format=form, lenient=lenient, columns=columns, system_files=system_files)
    with Progress() as progress:
        progress.begin(f"reading {shown(source)}")

        def is_read(share: float) -> None:
            if not math.isnan(share):
                progress.part(min(share, 1.0), f"reading {shown(source)}")

        description = describe(source, reading, operations=operations, pages=pages, progress=is_read)
    if as_json:
        click.echo(json.dumps(description.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        from pagecast.cli.summary import new_console
        from pagecast.description.report import conclusion, summary_tables
        from pagecast.report.terminal import print_ending, print_table

        console = new_console()
        for table in summary_tables(description):
            print_table(table, console)
        print_ending(conclusion(description), [], console)
    sys.stdout.flush()  # what goes to stderr comes after it, wherever both go
    for note in description.notes:
        click.echo(f"Note: {note}", err=True)
    if out is not None:
        from pagecast.description.export import save

        save(description, out, replace=force)
        report = out / "report.html"
        what = f"The report is {shown(report)}" if report.exists() else f"Tables are in {shown(out)}"
        click.echo(what, err=True)
