"""``pagecast run``: a scenario for real."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast._core import format_bytes
from pagecast.arguments import counted, shown
from pagecast.cli import options
from pagecast.cli.real_runs import cautions, tell_busy
from pagecast.workloads import Reading

if TYPE_CHECKING:
    from pagecast.running import Directories, Measured, Plan

__all__ = ["command"]


@click.command("run")
@options.scenario
@options.measured_directories
@options.overrides
@options.reading
@click.option(
    "--dry-run", is_flag=True, help="Print how much would be written and whether it fits; do nothing."
)
@click.option("--keep", is_flag=True, help="Leave the files where they are, and say where.")
@options.sample_hz
@click.option(
    "--trace",
    is_flag=True,
    help="Record the kernel's own rates and limits of throttling. Needs root and tracefs.",
)
@options.residency
@click.option(
    "--per-call",
    type=click.IntRange(min=1, max=2**64 - 1),
    metavar="N",
    help="Note the time of every N calls of each read and write, for the table calls; 1 is each call.",
)
@click.option(
    "--record",
    type=options.Text(),
    default="auto",
    show_default=True,
    metavar="WHICH",
    help="Operations to keep a row of: all, slow:10ms, histogram (the 100 slowest), or auto: all up to "
    "200,000, of more the 100 slowest. All are counted.",
)
@options.as_json
@options.results
def command(
    scenario: Path,
    directories: tuple[Path, ...],
    overrides: tuple[str, ...],
    reading: Reading,
    dry_run: bool,
    keep: bool,
    sample_hz: int,
    trace: bool,
    residency: str | None,
    per_call: int | None,
    record: str,
    as_json: bool,
    out: Path | None,
    force: bool,
    every: bool,
) -> None:
    """Run SCENARIO on this machine's kernel, and measure it.

    Each process is a thread that does the same operations with the same call sizes, in a folder of --dir;
    each mount is a folder in that. All hosts of a scenario are played here; --dir HOST=DIR is the place of
    one: a client's can be a mount of its server's. Files that exist before are written first with real bytes,
    then evicted, warmed or made dirty as the scenario says. All is removed at the end, also after Ctrl-C; the
    next run removes the files of a killed one. No setting of the machine is changed. Root is needed for
    drop_caches and --trace only.

    \b
    Examples:
      pagecast run scenario.toml --dir /data/scratch --dry-run
      pagecast run scenario.toml --dir /data/scratch
      pagecast run scenario.toml --dir /data/scratch --json | jq .runs[0].operations
      pagecast run scenario.toml --dir /data/scratch --per-call 100 --out results
      pagecast run nfs.toml --dir server=/srv/export --dir client=/mnt/nfs

    The result has the tables of a simulation, under the model `measured`, and four more: calls (with
    --per-call), samples (the machine's counters), file_samples (cached bytes of each file) and trace (with
    --trace).
    """
    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    loaded = options.load_scenario(scenario, overrides, reading=reading, is_run=True)
    from pagecast.cli.notices import of_overrides, of_sources
    from pagecast.running import Plan, check_tracing

    if trace:
        check_tracing()
    plan = Plan(loaded, residency=residency, per_call=per_call, record=record)
    for line in (*of_overrides(overrides), *of_sources(loaded)):
        click.echo(f"Note: {line}", err=True)
    directory = _by_host(directories, plan.hosts)
    _tell(plan, directory)
    if dry_run:
        return
    result = _run(plan, directory, keep=keep, sample_hz=sample_hz, trace=trace)
    if out is not None:
        from pagecast.cli.simulate import save

        save([result], out, force=force)
    if as_json:
        from pagecast.cli.simulate import to_json

        click.echo(json.dumps(to_json([result]), ensure_ascii=False, allow_nan=False))
    else:
        from pagecast.cli.summary import print_summary

        print_summary(loaded, [result], every=every)
    _tell_after(result, out)


def _by_host(directories: Sequence[Path], hosts: Sequence[str]) -> "Directories":
    """Read directories: a path, or HOST=DIR where HOST is a host of the scenario."""
    named: dict[str, Path] = {}
    for_all: Path | None = None
    for directory in directories:
        host, is_one, path = str(directory).partition("=")
        if is_one and path and (host in hosts or (len(hosts) > 1 and "/" not in host)):
            named[host] = Path(path)
        else:
            for_all = directory
    if for_all is None:
        return named
    return dict.fromkeys(hosts, for_all) | named if named else for_all


def _played(plan: "Plan", place: Mapping[str, Any]) -> Iterator[str]:
    """Say what stands for the hosts of a scenario, and what of it is not played."""
    if len(plan.hosts) == 1:
        return
    yield (
        f"This machine plays {counted([*plan.hosts], 'host')}: with its own memory, vm settings and disks, "
        "and without the links of the scenario."
    )
    for each in place["places"]:
        names = each["hosts"]
        together = " They share a page cache." if len(names) > 1 else ""
        yield f"{', '.join(names)}: in {shown(each['directory'])}, {each['file_system']}.{together}"


def _tell(plan: "Plan", directory: "Directories") -> None:
    """Print how much will be written, before it is; refuse a run that does not fit."""
    place = plan.check(directory)
    prepared, written, space, memory = map(
        format_bytes, (plan.prepared_bytes, plan.written_bytes, plan.space_bytes, plan.memory_bytes)
    )
    free, available = map(format_bytes, (place["free_bytes"], place["available_bytes"]))
    taken = f"{space} of disk at most ({free} free)"
    if plan.is_open_ended:
        written = "as much as they can in their time"
        taken = f"they are stopped when they have taken all but a twentieth of the disk ({free} free)"
    click.echo(
        f"On {place['file_system']}, in a folder of {shown(place['directory'])}: "
        f"{counted([*plan.paths], 'file')}, {prepared} to write before the start, {written} by the programs; "
        f"{taken}, {memory} of memory ({available} available).",
        err=True,
    )
    for line in _played(plan, place):
        click.echo(line, err=True)
    for caution in cautions(place):
        click.echo(caution, err=True)


def _run(plan: "Plan", directory: "Directories", *, keep: bool, sample_hz: int, trace: bool) -> "Measured":
    from pagecast.cli.progress import Progress

    with Progress() as progress:
        return plan.run(directory, keep=keep, sample_hz=sample_hz, trace=trace, progress=progress.counted)


def _tell_after(result: "Measured", out: Path | None) -> None:
    share = f"{100 * result.sampler_share:.2g} % of one processor"
    click.echo(f"Looked at the machine {len(result.samples)} times: {share}.", err=True)
    tell_busy(result.processor_pressure)
    if result.kept is not None:
        click.echo(f"The files are in {shown(result.kept)}", err=True)
    if out is not None:
        click.echo(f"Results are in {shown(out)}", err=True)
