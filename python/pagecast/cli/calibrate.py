"""``pagecast calibrate``: a machine file of the machine that this runs on."""

import json
import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast._core import format_bytes
from pagecast.arguments import shown
from pagecast.cache.proactive import proactive_reclaim
from pagecast.cli import options
from pagecast.cli.amounts import between
from pagecast.cli.cache.common import amount, dry_run, print_json, printable, tell
from pagecast.cli.progress import Progress
from pagecast.errors import OutputError

if TYPE_CHECKING:
    from pagecast.calibration import Survey

__all__ = ["command"]

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
@click.option(
    "--ftrace",
    is_flag=True,
    help="Time functions of the kernel, too, with the tracer function_graph; needs root and tracefs, whose "
    "settings are put back.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@dry_run
@options.as_json
def command(
    directory: Path,
    output: Path | None,
    quick: bool,
    thorough: bool,
    ftrace: bool,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Measure this machine and the disk that DIR is on, and write a machine file.

    Reads the settings of the kernel; measures rates and costs, each several times and with its 95 %
    interval. Works in a folder in DIR that is gone afterwards, also after Ctrl-C; the next one removes the
    files of a killed one. Says first how much it writes. Needs no root without --ftrace.

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
    found = survey(directory, effort=effort, ftrace=ftrace)
    if dry_run and as_json:
        print_json({"dry_run": True, "effort": effort} | _sizes(found))
        return
    what = f"{_how_much(found)}; takes {_TAKES[effort]}"
    if dry_run:
        click.echo(f"{what[0].upper()}{what[1:]}. {_traced(found)}Nothing was done.")
        return
    tell(what)
    for caution in (*found.cautions, proactive_reclaim()):
        if caution:
            tell(printable(caution))
    chosen = [*([effort] if effort != "normal" else []), *(["ftrace"] if ftrace else [])]
    line = " ".join(["pagecast calibrate", shown(directory), *(f"--{each}" for each in chosen)])
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
    """Refuse a file that could not be written, before anything is measured."""
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
        "written_bytes": done.written_bytes,
        "warnings": done.warnings,
    }


def _how_much(found: "Survey") -> str:
    """Say how much is expected to be written, to which disk, and how much at most."""
    from pagecast.calibration.written import USUAL_DISKS, expected_bytes, most_bytes

    mount, plan, traced = found.facts.mount, found.plan, found.traced_bytes
    expected = [
        f"{_range(*(each + traced for each in expected_bytes(plan, disk)))} to {name}"
        for name, disk in USUAL_DISKS.items()
    ]
    most = _about(most_bytes(plan) + traced)
    where = f"{printable(str(found.directory))} ({mount.kind} at {printable(mount.point)})"
    return (
        f"expects to write {', '.join(expected)}, at most {most} to any, in {where}; "
        f"never more than {amount(plan.room_bytes)} at once"
    )


def _traced(found: "Survey") -> str:
    """Say what would be written into tracefs, a line for each file."""
    if found.tracer is None:
        return ""
    lines = [f"  echo {shlex.quote(text)} > {name}" for name, text in found.tracer.settings(os.getpid())]
    return "\n".join([f"It would write in {found.tracer.place}, and put back at the end:", *lines, ""])


def _sizes(found: "Survey") -> dict[str, Any]:
    """Give the same for ``--json``."""
    from pagecast.calibration.written import USUAL_DISKS, expected_bytes, in_memory_bytes, most_bytes

    plan, traced = found.plan, found.traced_bytes
    return {
        "free_bytes": found.facts.mount.free_bytes,
        "written_bytes": most_bytes(plan) + traced,
        "expected": [
            {
                "disk_bytes_per_s": disk.bytes_per_s,
                "least_bytes": least + traced,
                "most_bytes": most + traced,
            }
            for disk in USUAL_DISKS.values()
            for least, most in [expected_bytes(plan, disk)]
        ],
        "in_memory_bytes": in_memory_bytes(plan),
        "room_bytes": plan.room_bytes,
        "ftrace": None if found.tracer is None else dict(found.tracer.settings(os.getpid())),
    }


def _range(least: int, most: int) -> str:
    """Give two sizes as "14 to 16 GB"."""
    return between(_about(least), _about(most)) or _about(least)


def _about(size: int) -> str:
    """Give a size with two digits that count, rounded up: it is not known better."""
    digits = 10 ** max(len(str(size)) - 2, 0)
    return format_bytes(-(-size // digits) * digits)
