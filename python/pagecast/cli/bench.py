"""``pagecast bench``: the page cache benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast._core import format_bytes
from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.cli.cache.common import print_json
from pagecast.cli.real_runs import cautions
from pagecast.errors import ProbeError

if TYPE_CHECKING:
    from pagecast.benchmark import Benchmark, Measurement, Plan
    from pagecast.benchmark.profile import Profile

__all__ = ["command"]


@click.command("bench", short_help="Measure the rates of memory and disk.")
@click.argument("directory", type=options.FileName(), metavar="DIR")
@click.option(
    "--call",
    "calls",
    type=options.Size(),
    multiple=True,
    metavar="SIZE",
    help="Bytes of a call, from 4 KiB to 16 MiB; can be repeated.  [default: 4 KiB, 64 KiB and 1 MiB]",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="How many threads, each in a file of its own; can be repeated.  [default: 1 and all processors]",
)
@click.option(
    "--mode",
    "modes",
    type=click.Choice(["buffered", "direct"]),
    multiple=True,
    help="Through the page cache, or past it (O_DIRECT).  [default: both]",
)
@click.option(
    "--access",
    "accesses",
    type=click.Choice(["write-new", "overwrite", "read-cold", "read-warm"]),
    multiple=True,
    help="Access to measure; can be repeated.  [default: all]",
)
@click.option(
    "--size",
    "size_bytes",
    type=options.Size(),
    default="256 MiB",
    show_default=True,
    metavar="SIZE",
    help="Bytes that all threads together read or write.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Measure everything N times, one round after the other.",
)
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="End a measurement after so long; the bytes moved until then count.",
)
@click.option(
    "--device",
    type=options.FileName(),
    metavar="DEVICE",
    help="Measure a block device too. Destroys its content; needs --yes. One that is in use is refused.",
)
@click.option("--yes", is_flag=True, help="The content of the device of --device may be destroyed.")
@click.option(
    "--set",
    "settings",
    type=options.Text(),
    multiple=True,
    metavar="vm.NAME=VALUE",
    help="Change a kernel setting vm.dirty_* meanwhile, and put it back; needs root; can be repeated.",
)
@click.option("--with-fio", is_flag=True, help="Measure the same cells with fio too.")
@click.option(
    "--profile",
    is_flag=True,
    help="Record with perf where the time of buffered calls goes: a flame graph in --out.",
)
@click.option(
    "--dry-run", is_flag=True, help="Print how much would be written and whether it fits; do nothing."
)
@options.as_json
@click.option("--out", type=options.FileName(), metavar="DIR", help="Write figures and JSON to DIR.")
@click.option("--force", is_flag=True, help="Replace an earlier output in DIR.")
def command(
    directory: Path,
    calls: tuple[int, ...],
    threads: tuple[int, ...],
    modes: tuple[str, ...],
    accesses: tuple[str, ...],
    size_bytes: int,
    repetitions: int,
    limit_s: float,
    device: Path | None,
    yes: bool,
    settings: tuple[str, ...],
    with_fio: bool,
    profile: bool,
    dry_run: bool,
    as_json: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Measure the rates of memory and of the disk below DIR, and label each number with its source.

    Every combination of {buffered, direct}, {write new, overwrite cached, read cold, read warm}, call size
    and threads, beside the rate at which memory is copied. Before each measurement the kernel is asked
    whether the files are cached, or not, as they should be; exit code 1 if they once were not. A number
    above the measured rate of the disk with O_DIRECT is marked. All files are in a folder in DIR, which is
    removed at the end, also after Ctrl-C; the next benchmark removes the files of a killed one.

    \b
    Examples:
      pagecast bench /data/scratch --dry-run
      pagecast bench /data/scratch --out results
      pagecast bench /data/scratch --call 64KiB --call 1MiB --threads 4 --size 2GiB --json | jq .cells[0]
      sudo pagecast bench /data/scratch --set vm.dirty_ratio=40 --access write-new --size 8GiB
    """
    plan = _plan(
        calls=calls,
        threads=threads,
        modes=modes,
        accesses=accesses,
        size_bytes=size_bytes,
        repetitions=repetitions,
        limit_s=limit_s,
        device=device,
        settings=settings,
    )
    if device is not None and not (yes or dry_run):
        raise click.UsageError(
            f"the benchmark destroys the content of {shown(device)}; add --yes if you want that",
            click.get_current_context(),
        )
    if profile and out is None:
        raise click.UsageError("--profile makes a figure; say where with --out", click.get_current_context())
    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    place = plan.check(directory)
    _tell(plan, directory, place)
    if dry_run:
        if as_json:
            print_json(_planned(plan, place))
        return
    done = _measure(plan, directory, with_fio=with_fio, out=out, force=force, profile=profile)
    _show(done, as_json=as_json)
    if out is not None:
        click.echo(f"Results are in {shown(out)}", err=True)
    if not done.is_prepared:
        from pagecast.exit_codes import ExitCode

        raise click.exceptions.Exit(ExitCode.CHECK_FAILED)


def _plan(*, settings: tuple[str, ...], **given: Any) -> "Plan":
    from pagecast.benchmark import ACCESSES, MODES, Plan

    given["modes"] = given["modes"] or MODES
    given["accesses"] = given["accesses"] or ACCESSES
    try:
        return Plan(**given, settings=dict(map(_setting, settings)))
    except ValueError as error:
        raise click.UsageError(str(error), click.get_current_context()) from error


def _setting(text: str) -> tuple[str, int]:
    """Read "vm.dirty_ratio=40"; a value in bytes may have a unit."""
    from pagecast._core import parse_bytes
    from pagecast.errors import ScenarioError

    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not value:
        raise ValueError(f"--set {text!r} is no setting; write vm.dirty_ratio=40")
    if value.isascii() and value.isdigit():
        return name, int(value)
    try:
        if name.endswith("_bytes"):
            return name, parse_bytes(value)
    except ScenarioError as error:
        raise ValueError(f"--set {name}: {error}") from error
    raise ValueError(f"--set {name}: {value!r} is no whole number")


def _tell(plan: "Plan", directory: Path, place: dict[str, Any]) -> None:
    """Print how much will be written, before it is."""
    cells = len(list(plan.cells()))
    where = f"On {place['file_system']}, in a folder of {shown(directory)}"
    if plan.device is not None:
        where += f", and on {shown(plan.device)}, whose data is lost"
    written, read = format_bytes(plan.written_bytes()), format_bytes(plan.read_bytes())
    click.echo(
        f"{where}: {cells} cells, {plan.repetitions} times; about {written} to write and {read} to read; "
        f"{format_bytes(plan.size_bytes)} at a time ({format_bytes(place['free_bytes'])} of disk free, "
        f"{format_bytes(place['available_bytes'])} of memory available).",
        err=True,
    )
    for caution in cautions(place):
        click.echo(caution, err=True)


def _planned(plan: "Plan", place: dict[str, Any]) -> dict[str, Any]:
    return {
        "dry_run": True,
        "cells": [cell._asdict() for cell in plan.cells()],
        "repetitions": plan.repetitions,
        "written_bytes": plan.written_bytes(),
        "read_bytes": plan.read_bytes(),
        "size_bytes": plan.size_bytes,
        "place": place,
    }


def _measure(
    plan: "Plan", directory: Path, *, with_fio: bool, out: Path | None, force: bool, profile: bool
) -> "Benchmark":
    from contextlib import nullcontext

    from pagecast.benchmark.measuring import measure
    from pagecast.cli.progress import Progress

    if profile:
        from pagecast.benchmark.profile import Profile

        recorder = Profile()
    recording = recorder if profile else nullcontext()
    with recording, Progress() as progress:
        done = measure(plan, directory, with_fio=with_fio, progress=progress.part)
    if out is not None:
        from pagecast.benchmark.export import save

        save(done, out, force=force, flame_graph=_flame_graph(recorder, done) if profile else None)
    return done


def _flame_graph(recorder: "Profile", done: "Benchmark") -> str | None:
    """Give the figure, or note why there is none: the measurements are worth keeping without it."""
    try:
        return recorder.flame_graph()
    except ProbeError as error:
        done.notes.append(str(error))
        return None


def _show(done: "Benchmark", *, as_json: bool) -> None:
    if as_json:
        from pagecast.benchmark.export import document

        print_json(document(done))
    else:
        from pagecast.cli.bench_table import print_table

        print_table(done)
    for note in done.notes:
        click.echo(f"pagecast: {note}", err=True)
    for one in done.measurements:
        if not one.is_prepared:
            _tell_unprepared(one)


def _tell_unprepared(one: "Measurement") -> None:
    cell, times = one.cell, sum(not repetition.is_prepared for repetition in one.repetitions)
    cached = "in the page cache" if cell.access in ("write-new", "read-cold") else "not all in the page cache"
    click.echo(
        f"pagecast: {cell}: {times} of {len(one.repetitions)} times the files were {cached}: something else "
        "uses the memory or the files",
        err=True,
    )
