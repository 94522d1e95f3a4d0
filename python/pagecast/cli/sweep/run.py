"""``pagecast sweep run``: simulate all points of a sweep."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.workloads import Reading

if TYPE_CHECKING:
    from pagecast.sweeps.result import Sweep

__all__ = ["command"]


@click.command("run")
@options.scenario
@click.option(
    "--vary",
    "varied",
    type=options.Text(),
    multiple=True,
    metavar="KEY=VALUES",
    help="Vary a key of the scenario over a list A,B,C or a range LOW..HIGH:lin:N or LOW..HIGH:log:N; can be "
    "repeated. Keys as for --set.",
)
@click.option(
    "--measure",
    "measures",
    type=options.Text(),
    multiple=True,
    metavar="MEASURE",
    help="Figure to take of each point: p99(PROCESS OPERATION), makespan, peak(dirty), share(PART, PROCESS "
    "OPERATION), at_risk and others; can be repeated.  [default: makespan]",
)
@click.option(
    "--sample",
    type=options.Text(),
    metavar="latin:N[:SEED]",
    help="Draw N points as a Latin hypercube instead of taking every combination.",
)
@options.machine("Machine file, or the name of a shipped machine")
@click.option(
    "--model",
    type=options.Text(),
    metavar="NAME",
    help="Model to ask; by default the first one that the scenario names.",
)
@options.overrides
@options.reading
@click.option(
    "--seed",
    type=options.Seed(),
    metavar="N",
    default=0,
    show_default=True,
    help="Seed of each simulation.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Simulate N points at a time; by default one per processor.",
)
@click.option(
    "--on",
    type=options.Text(),
    default="local",
    metavar="WHERE",
    help="Where: local, dask (a Dask cluster on this machine), or the address of a Dask scheduler, "
    "tcp://HOST:PORT.  [default: local]",
)
@options.as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, and nothing else, to stdout.")
@click.option(
    "--out",
    type=options.FileName(),
    metavar="DIR",
    help="Keep the rows in DIR, as Parquet. A sweep that was stopped goes on there.",
)
@click.option("--force", is_flag=True, help="Replace another sweep in DIR, or begin anew.")
@click.option(
    "--plot",
    "picture",
    type=options.FileName(),
    metavar="FILE",
    help="Draw the first measure to FILE (.png, .svg or .pdf).",
)
@click.option("--all", "every", is_flag=True, help="Show every point, however many.")
def command(
    scenario: Path,
    varied: tuple[str, ...],
    measures: tuple[str, ...],
    sample: str | None,
    machine: str | None,
    model: str | None,
    overrides: tuple[str, ...],
    reading: Reading,
    seed: int,
    workers: int | None,
    on: str,
    as_json: bool,
    as_csv: bool,
    out: Path | None,
    force: bool,
    picture: Path | None,
    every: bool,
) -> None:
    """Simulate SCENARIO with many values of its keys.

    SCENARIO is as for `pagecast simulate`. A table [sweep] in it has vary, measure, sample and model; options
    of the command stand for those of the table. A point that fails is a row with its message. Ctrl-C prints
    the rows so far.

    \b
    Examples:
      pagecast sweep scenario.toml --vary machine.vm.dirty_bytes=64MB..8GB:log:12 --measure 'p99(db fsync)'
      pagecast sweep scenario.toml --vary machine.memory.size=16GB,32GB,64GB --measure 'makespan(backup)'
      pagecast sweep scenario.toml --vary machine.vm.dirty_ratio=5..40 --vary machine.cores=1..64 \\
                               --sample latin:200
      pagecast sweep scenario.toml --out results      goes on where it was stopped
      pagecast sweep scenario.toml --on tcp://head:8786 --out results
    """
    from pagecast.cli.progress import Progress
    from pagecast.sweeps.plan import make_plan
    from pagecast.sweeps.running import do_plan
    from pagecast.sweeps.source import read_source

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other; take one", click.get_current_context())
    vary = _by_key(varied)
    if picture is not None:
        from pagecast.cli.sweep.drawing import check_picture

        check_picture(picture)
    source = read_source(scenario, overrides=overrides, machine=machine, reading=reading)
    plan = make_plan(source, vary=vary, measure=measures, sample=sample, model=model, seed=seed)
    with Progress() as progress:
        found = do_plan(plan, on=on, workers=workers, out=out, force=force, progress=progress.part)
    if found.failed:
        count, points = found.failed, len(found.rows)
        first = next(row[-1] for row in found.rows if row[-1])
        click.echo(f"Note: {count:,} of {points:,} points failed; the first one: {first}", err=True)
    if found.rows:
        _print(found, as_json=as_json, as_csv=as_csv, every=every)
    if not found.is_whole:
        _say_what_is_there(found, out)
        raise KeyboardInterrupt
    if out is not None:
        click.echo(f"Results are in {shown(out)}", err=True)
    if picture is not None:
        from pagecast.cli.sweep.drawing import default_kind, save_picture

        save_picture(found.data, picture, kind=default_kind(found.data))
        click.echo(f"The picture is {shown(picture)}", err=True)


def _by_key(varied: tuple[str, ...]) -> dict[str, object]:
    """Split at the first "=" outside of quotes."""
    found: dict[str, object] = {}
    for text in varied:
        quote = ""
        at = -1
        for number, one in enumerate(text):
            if quote:
                quote = "" if one == quote else quote
            elif one in "\"'":
                quote = one
            elif one == "=":
                at = number
                break
        key = text[:at].strip()
        context = click.get_current_context()
        if at < 0 or not key:
            raise click.UsageError(
                f"--vary {shown(text)}: write KEY=VALUES, such as machine.cores=2,4,8", context
            )
        if key in found:
            raise click.UsageError(
                f"--vary {shown(key)} is there twice; write its values in one list", context
            )
        found[key] = text[at + 1 :]
    return found


def _print(found: "Sweep", *, as_json: bool, as_csv: bool, every: bool) -> None:
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False))
    elif as_csv:
        from pagecast.cli.sweep.table import print_csv

        print_csv(found.plan.columns, found.rows)
    else:
        from pagecast.cli.sweep.table import print_sweep

        print_sweep(found, every=every)


def _say_what_is_there(found: "Sweep", out: Path | None) -> None:
    """Tell how many points are there; with `out`, how many of them are kept."""
    there, points = len(found.rows), len(found.plan.design.points)
    if out is None:
        said = f"{there:,} of {points:,} points are done; --out keeps them"
    else:
        from pagecast.sweeps.dataset import Dataset

        kept = points - len(Dataset(out, found.plan).missing)
        said = f"{kept:,} of {points:,} points are in {shown(out)}; the same command goes on there"
    click.echo(f"\nStopped: {said}", err=True)
