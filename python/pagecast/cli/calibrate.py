"""``pagecast calibrate``: a machine file of the machine that this runs on."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pagecast.api import shown
from pagecast.cache.proactive import proactive_reclaim
from pagecast.cli import options
from pagecast.cli.cache.common import amount, dry_run, print_json, printable, tell
from pagecast.cli.progress import Progress
from pagecast.errors import OutputError

__all__ = ["command"]

_USUAL_BYTES_PER_S = 500_000_000
"""Of a disk for which it is said how much is written, as nobody knows yet what this one has time for."""
_TAKES = {"quick": "less than a minute", "normal": "2 to 4 minutes", "thorough": "20 minutes or more"}


@click.command("calibrate")
@click.argument("directory", type=options.FileName(), metavar="DIR")
@click.option(
    "-o",
    "--output",
    type=options.FileName(),
    metavar="FILE",
    help="Machine file to write.  [default: stdout]",
)
@click.option("--quick", is_flag=True, help="Less than a minute in all.")
@click.option("--thorough", is_flag=True, help="More rounds and sizes; looks for limiters of the device.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@dry_run
@options.as_json
def command(
    directory: Path,
    output: Path | None,
    quick: bool,
    thorough: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure this machine and the disk that DIR is on, and write a machine file.

    What the kernel tells is read; rates and costs are measured, each several times and with its 95 %
    interval. Works in a folder in DIR that is gone afterwards, also after Ctrl-C; what a killed one left is
    removed by the next. Says first how much it writes. Needs no root.

    \b
    Examples:
      pagecast calibrate /data -o machine.toml --quick
      pagecast calibrate /data --dry-run              how much would be written
      pagecast simulate scenario.toml                 with `from = "machine.toml"` in [machine]
    """
    from pagecast.calibration import calibrate_as, survey
    from pagecast.calibration.summary import summary_lines
    from pagecast.export import write_file

    if quick and thorough:
        raise click.UsageError("--quick and --thorough exclude each other")
    effort = "quick" if quick else "thorough" if thorough else "normal"
    if output is not None:
        _check_output(output, force)
    found = survey(directory, effort=effort)
    plan = found.plan
    if dry_run and as_json:
        sizes = {"written_bytes": plan.written_bytes, "room_bytes": plan.room_bytes}
        print_json({"dry_run": True, "effort": effort, "free_bytes": found.facts.mount.free_bytes} | sizes)
        return
    where = f"{printable(str(directory))} ({found.facts.mount.kind} at {printable(found.facts.mount.point)})"
    usual = amount(plan.written_at(_USUAL_BYTES_PER_S))
    what = (
        f"up to {amount(plan.written_bytes)} {'would' if dry_run else 'will'} be written in {where}, "
        f"of which a disk of {amount(_USUAL_BYTES_PER_S)}/s has time for {usual}, "
        f"never more than {amount(plan.room_bytes)} at once; takes {_TAKES[effort]}"
    )
    if dry_run:
        click.echo(f"{what[0].upper()}{what[1:]}. Nothing was done.")
        return
    tell(what)
    for caution in (*found.cautions, proactive_reclaim()):
        if caution:
            tell(printable(caution))
    line = " ".join(
        ["pagecast calibrate", shown(directory), *([f"--{effort}"] if effort != "normal" else [])]
    )
    with Progress() as progress:
        done = calibrate_as(found, command=line, progress=progress.part)
    for line in (*summary_lines(done), *done.warnings):
        tell(line)
    if output is not None:
        write_file(output, done.toml.encode(errors="surrogateescape"), replace=force)
    if as_json:
        print_json(_document(done))
    elif output is None:
        click.echo(done.toml.encode(errors="surrogateescape"), nl=False)
    else:
        tell(f"wrote {printable(str(output))}; in a scenario: [machine] from = {json.dumps(str(output))}")


def _check_output(output: Path, force: bool) -> None:
    """Refuse what could not be written before anything is measured."""
    if output.exists() and not force:
        raise OutputError(f"{shown(output)}: is there already; choose another name or add --force")
    if output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK):
        raise OutputError(f"{shown(output)}: cannot be written; choose another name")


def _document(done: Any) -> dict[str, Any]:
    """Give everything for ``--json``."""
    from pagecast.calibration import source_of

    def row(value: Any) -> dict[str, Any]:
        found = value.estimate
        numbers = {} if found is None else asdict(found) | {"unit": value.unit}
        return {"key": value.key or None, "text": value.text, "source": source_of(value)} | numbers

    return {
        "machine_hash": done.machine.hash,
        "effort": done.survey.plan.effort,
        "rounds": done.measurements.rounds,
        "elapsed_s": done.measurements.elapsed_s,
        "values": [row(value) for value in done.values],
        "figures": [row(value) for value in done.figures],
        "warnings": done.warnings,
    }
