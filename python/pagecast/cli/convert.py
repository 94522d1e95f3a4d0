"""``pagecast convert``: a recording in another format as a table or in binary form."""

import math
from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.workloads import Reading

__all__ = ["command"]


@click.command("convert")
@click.argument("source", metavar="IN", type=options.FileName(allow_dash=True))
@click.argument("out", metavar="OUT", type=options.FileName(allow_dash=True))
@click.option(
    "--format", "form", type=options.Text(), metavar="NAME", help="Format of IN; see `pagecast formats`."
)
@click.option("--lenient", is_flag=True, help="Pass over lines that are not understood, and say so.")
@click.option(
    "--columns",
    type=options.Text(),
    metavar="NAME=N,...",
    help="Columns of a table without a known header: time=0,op=3,offset=4,bytes=5.",
)
@click.option(
    "--strace-overhead",
    type=options.Text(),
    metavar="TIME",
    help='What strace has added to each call, such as "40 us"; estimated if not given.',
)
@click.option(
    "--system-files",
    is_flag=True,
    help="Keep operations on files below /usr, /etc and the like, too, in a recording of strace.",
)
@click.option("--force", is_flag=True, help="Replace OUT.")
def command(
    source: Path,
    out: Path,
    form: str | None,
    lenient: bool,
    columns: str | None,
    strace_overhead: str | None,
    system_files: bool,
    force: bool,
) -> None:
    """Write the recording IN, in any format that `pagecast formats` lists, to OUT.

    The end of its name says what OUT becomes: .csv and .parquet are tables with a row for each operation,
    .pctrace is a compact binary form that is read fastest. IN may be - for stdin, OUT - for CSV to stdout.

    \b
    Examples:
      pagecast convert app.strace app.pctrace
      pagecast convert disk.blkparse.zst disk.csv
      pagecast convert trace.csv.gz trace.pctrace --format table --columns time=0,op=3,offset=4,bytes=5
      pagecast convert app.pctrace - | head
    """
    from pagecast.cli.progress import Progress
    from pagecast.recordings import check_output, read, save

    check_output(out, replace=force)
    reading = Reading(
        format=form,
        lenient=lenient,
        columns=columns,
        strace_overhead=strace_overhead,
        system_files=system_files,
    )
    with Progress() as progress:
        progress.begin(f"reading {shown(source)}")

        def is_read(share: float) -> None:
            if not math.isnan(share):
                progress.part(min(share, 1.0), f"reading {shown(source)}")

        recording = read(source, reading, progress=is_read)
        progress.begin(f"writing {shown(out)}")
        save(recording, out, replace=force, progress=lambda _: None)
    for place, text in recording.notes:
        click.echo(f"Note: {place}: {text}", err=True)
    operations = f"{len(recording):,} operation{'s' if len(recording) != 1 else ''}"
    processes = f"{recording.processes:,} process{'es' if recording.processes != 1 else ''}"
    if str(out) != "-":
        click.echo(f"{shown(out)}: {operations} of {processes}", err=True)
