"""``pagecast validate``: scenarios forecast, run for real, and compared."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast._core import format_bytes
from pagecast.arguments import counted, shown
from pagecast.cli import options
from pagecast.cli.real_runs import cautions
from pagecast.errors import ProbeError
from pagecast.workloads import Reading

if TYPE_CHECKING:
    from pagecast.validation import Case
    from pagecast.validation.outcome import Outcome
    from pagecast.validation.validating import Validation

__all__ = ["command"]

_SUITES = ("standard", "methods")


@click.command("validate", short_help="Forecast, run for real, and compare.")
@click.argument("scenario", type=options.FileName(allow_dash=True), required=False)
@click.option(
    "--suite",
    type=click.Choice(_SUITES),
    help="Instead of SCENARIO: cases that scale themselves to this machine's memory; uses of a page cache, "
    "or the cost of each method of writing. Needs --machine.",
)
@click.option(
    "--case",
    "names",
    multiple=True,
    type=options.Text(),
    metavar="NAME",
    help="Only this case of the suite, such as c_read; can be repeated. --dry-run names them all.",
)
@options.measured_directory
@options.machine("Machine file of this machine, by `pagecast calibrate`")
@options.models
@options.overrides
@options.reading
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Run each case N times.",
)
@click.option(
    "--tolerance",
    type=options.Percent(),
    metavar="PERCENT",
    help="Largest error of the total time of a case, instead of that of the scenario.",
)
@options.sample_hz
@click.option(
    "--trace",
    is_flag=True,
    help="Record the kernel's own rates and limits, and give the model those of before. Needs root.",
)
@click.option(
    "--uncertain",
    type=click.IntRange(min=2, max=10_000),
    metavar="N",
    help="Give the total time under kernel a 90 % range of N draws, and judge the ranges of all cases.",
)
@click.option("--dry-run", is_flag=True, help="Print the planned runs and whether they fit; do nothing.")
@options.as_json
@click.option("--out", type=options.FileName(), metavar="DIR", help="Write a report and results to DIR.")
@click.option("--force", is_flag=True, help="Replace an earlier output in DIR.")
def command(
    scenario: Path | None,
    suite: str | None,
    names: tuple[str, ...],
    directory: Path,
    machine: str | None,
    models: tuple[str, ...],
    overrides: tuple[str, ...],
    reading: Reading,
    runs: int,
    tolerance: float | None,
    sample_hz: int,
    trace: bool,
    uncertain: int | None,
    dry_run: bool,
    as_json: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Compare the forecast of SCENARIO with runs on this machine.

    SCENARIO, or each case of --suite, is simulated and run N times in a folder of --dir, as `pagecast run`
    does. Compares the time of each operation and of all, and dirty and cached memory over time, beside two
    simple rivals and the spread between the runs. Exit code 1 if a forecast is outside the tolerance, which
    is 10 % of the total time unless [tolerance] of the scenario says otherwise; with --uncertain also if the
    ranges hold too few of the cases (binomial test, 5 %).

    \b
    Examples:
      pagecast calibrate /data -o machine.toml
      pagecast validate scenario.toml --machine machine.toml --dir /data/scratch --out report
      pagecast validate --suite standard --machine machine.toml --dir /data/scratch --dry-run
      pagecast validate --suite standard --machine machine.toml --dir /data/scratch --out report
      pagecast validate scenario.toml --dir /data/scratch --runs 5 --json | jq .verdicts

    The forecast is only as good as the machine file: it should be of this very machine and disk.
    """
    _check_use(scenario, suite, names, machine, overrides)
    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    if suite is not None and machine is not None:
        cases, left_out = _suite(suite, machine, directory, names, overrides)
    else:
        cases, left_out = [_scenario(scenario or Path("-"), machine, overrides, reading)], ()
    if tolerance is not None:
        cases = [replace(case, tolerance=replace(case.tolerance, total=tolerance)) for case in cases]
    from pagecast.validation.validating import MODELS, Settings, Validation

    settings = Settings(
        runs=runs,
        models=tuple(dict.fromkeys(models)) or MODELS,
        sample_hz=sample_hz,
        trace=trace,
        machine=shown(machine) if machine else "",
        uncertain=uncertain,
    )
    validation = Validation(cases, name=suite or cases[0].name, settings=settings, left_out=left_out)
    place = validation.check(directory)
    _forecast(validation)
    _tell(validation, place, directory, overrides)
    if dry_run:
        _show_plan(validation, as_json=as_json)
        return
    outcome = _run(validation, directory, overrides)
    try:
        if out is not None:
            _save(outcome, out, force=force)
    finally:
        # What took so long to measure is shown also where it cannot be written.
        _show(outcome, as_json=as_json)
    if out is not None:
        from pagecast.cli.reports import tell_saved

        tell_saved(out)
    if not outcome.is_within:
        from pagecast.exit_codes import ExitCode

        raise click.exceptions.Exit(ExitCode.CHECK_FAILED)


def _check_use(
    scenario: Path | None,
    suite: str | None,
    names: tuple[str, ...],
    machine: str | None,
    overrides: tuple[str, ...],
) -> None:
    """Refuse options that do not go together."""
    problem = None
    if (scenario is None) == (suite is None):
        problem = "name a SCENARIO or a --suite" + (", not both" if suite else "")
    elif suite is None and names:
        problem = "--case chooses cases of a --suite; a scenario is one case"
    elif suite is not None and machine is None:
        problem = "a suite needs the machine file of this machine: --machine FILE, by `pagecast calibrate`"
    elif suite is not None and (other := [text for text in overrides if not text.startswith("machine.")]):
        problem = f"--set {other[0]}: of a suite only machine.KEY can be set"
    if problem is not None:
        raise click.UsageError(problem, click.get_current_context())


def _suite(
    suite: str, machine: str, directory: Path, names: tuple[str, ...], overrides: tuple[str, ...]
) -> "tuple[list[Case], tuple[str, ...]]":
    """Give the cases that the disk allows and has room for, and what is said of the others."""
    from pagecast.comparison.machines import load
    from pagecast.validation import Scale, fitting, methods, standard

    host = load(machine, overrides=overrides)
    scale = Scale.here(directory, host)
    allowed, refused = methods(scale, host) if suite == "methods" else (standard(scale, host), ())
    cases = {case.name: case for case in allowed}
    if unknown := [name for name in names if name not in cases]:
        known = f"the suite has no case `{unknown[0]}`; it has {', '.join(cases)}"
        why = next((text for text in refused if text.startswith(f"{unknown[0]}: ")), known)
        raise click.UsageError(why, click.get_current_context())
    wanted = [case for name, case in cases.items() if name in names or not names]
    fit, left_out = fitting(wanted, scale.room_bytes)
    if not fit:
        raise ProbeError(
            f"{shown(directory)}: {left_out[0]}; make room, or name a directory on a larger disk"
        )
    return [*fit], left_out if names else (*refused, *left_out)


def _scenario(name: Path, machine: str | None, overrides: tuple[str, ...], reading: Reading) -> "Case":
    from pagecast.cli.notices import of_sources
    from pagecast.validation.validating import case_of

    loaded = options.load_scenario(name, overrides, machine, reading)
    for line in of_sources(loaded):
        click.echo(f"Note: {line}", err=True)
    return case_of(loaded)


def _tell(
    validation: "Validation", place: dict[str, Any], directory: Path, overrides: tuple[str, ...]
) -> None:
    """Print how much will be written, before it is."""
    from pagecast.cli.notices import of_overrides

    written, space, memory = map(
        format_bytes, (validation.written_bytes, validation.space_bytes, validation.memory_bytes)
    )
    free, available = map(format_bytes, (place["free_bytes"], place["available_bytes"]))
    cases, runs = counted(validation.cases, "case"), counted(range(validation.settings.runs), "run")
    click.echo(
        f"On {place['file_system']}, in a folder of {shown(directory)}: "
        f"{cases}, {runs} each; "
        f"{written} to write in all; {space} of disk at a time ({free} free), {memory} of memory "
        f"({available} available). About {_duration(validation.expected_s)} by the forecast.",
        err=True,
    )
    missing = (
        *(f"Failed: {text}" for text in validation.failures),
        *(f"Left out: {text}" for text in validation.left_out),
        *(f"Memory: {text}." for text in validation.cautions),
    )
    for line in (*missing, *cautions(place), *(f"Note: {line}" for line in of_overrides(overrides))):
        click.echo(line, err=True)


def _duration(time_s: float) -> str:
    """Say roughly how long something takes."""
    return f"{time_s:.2g} s" if time_s < 100 else f"{time_s / 60:.0f} min"


def _show_plan(validation: "Validation", *, as_json: bool) -> None:
    """Describe each case."""
    if as_json:
        document = {
            "dry_run": True,
            "runs": validation.settings.runs,
            "models": list(validation.settings.models),
            "written_bytes": validation.written_bytes,
            "space_bytes": validation.space_bytes,
            "memory_bytes": validation.memory_bytes,
            "expected_s": validation.expected_s,
            "cases": [
                {
                    "case": each.case.name,
                    "what": each.case.what,
                    "written_bytes": each.written_bytes,
                    "space_bytes": each.plan.space_bytes,
                    "expected_s": each.expected_s,
                }
                for each in validation.planned
            ],
            "failures": list(validation.failures),
            "left_out": list(validation.left_out),
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    for each in validation.planned:
        written, space = format_bytes(each.written_bytes), format_bytes(each.plan.space_bytes)
        takes = (
            f"A run writes {written}, needs {space} of disk, and takes about {_duration(each.expected_s)}."
        )
        click.echo(" ".join(filter(None, (f"{each.case.name}:", each.case.what, takes))))


def _forecast(validation: "Validation") -> None:
    from pagecast.cli.progress import Progress

    with Progress() as progress:
        validation.forecast(progress=progress.part)


def _run(validation: "Validation", directory: Path, overrides: tuple[str, ...]) -> "Outcome":
    from pagecast.cli.progress import Progress

    try:
        with Progress() as progress:
            validation.run(directory, progress=progress.part)
    except KeyboardInterrupt:
        _tell_so_far(validation)
        raise
    return validation.outcome(
        command=shlex.join(["pagecast", *map(shown, sys.argv[1:])]), overrides=overrides
    )


def _save(outcome: "Outcome", out: Path, *, force: bool) -> None:
    from pagecast.cli.progress import Progress
    from pagecast.cli.reports import save

    with Progress() as progress:
        progress.begin(f"writing {shown(out)}")
        save(outcome, out, replace=force)


def _show(outcome: "Outcome", *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(outcome.to_json(), ensure_ascii=False, allow_nan=False))
    else:
        from pagecast.cli.summary import new_console

        outcome.print_to(new_console())


def _tell_so_far(validation: "Validation") -> None:
    """Print the results until the interruption; they are not written anywhere else."""
    outcome = validation.outcome()
    if outcome.verdicts:
        from rich.console import Console

        outcome.print_to(Console(stderr=True))
    runs = validation.settings.runs * len(validation.cases)
    click.echo(f"\nStopped after {validation.runs_done} of {runs} runs; the folder is removed.", err=True)
