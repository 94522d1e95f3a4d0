"""``pagecast simulate``: forecast a scenario under one or several models."""

import json
from pathlib import Path

import click

from pagecast.api import Scenario
from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.errors import ArgumentError
from pagecast.models import simulate
from pagecast.result import Result
from pagecast.workloads import Reading

__all__ = ["command"]


@click.command("simulate")
@options.scenario
@options.machine("Machine file, or the name of a shipped machine")
@options.all_models
@options.overrides
@options.reading
@click.option(
    "--seed",
    type=options.Seed(),
    metavar="N",
    default=0,
    show_default=True,
    help="Seed of all random streams.",
)
@options.residency
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Use N threads for hosts that have nothing to do with each other, or for draws; by default one per "
    "processor.",
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
@click.option(
    "--slowest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N slowest operations and their parts.",
)
@click.option(
    "--at-risk",
    "at_risk",
    is_flag=True,
    help="Say what a power cut would lose at each moment: a table of --out and --json; needs --model kernel.",
)
@click.option(
    "--uncertain",
    type=click.IntRange(min=2, max=10_000),
    metavar="N",
    help="Give each figure a 90 % range: of N draws from the ranges of the machine's values and from the "
    "error that the model had on recorded platforms.",
)
@click.option(
    "--fio-json",
    "fio_json",
    type=options.FileName(),
    metavar="FILE",
    help="Write what fio --output-format=json+ would write of a fio job file; needs one model.",
)
@options.as_json
@options.results
def command(
    scenario: Path,
    machine: str | None,
    models: tuple[str, ...],
    overrides: tuple[str, ...],
    reading: Reading,
    seed: int,
    residency: str | None,
    threads: int | None,
    record: str,
    slowest: int | None,
    at_risk: bool,
    uncertain: int | None,
    fio_json: Path | None,
    as_json: bool,
    out: Path | None,
    force: bool,
    every: bool,
) -> None:
    """Forecast how long each operation of SCENARIO takes, and why.

    SCENARIO is a TOML file, or - for stdin. With --machine it may be a file in another format, which
    `pagecast formats` lists: a fio job, a trace, a workflow. Without --model, the models that it names are
    asked, or all but petri, which plays a scenario in Petri nets of ext3 and PVFS and refuses what they lack.

    \b
    Examples:
      pagecast simulate scenario.toml
      pagecast simulate scenario.toml --model wrench --model no-cache
      pagecast simulate job.fio --machine m.toml --model kernel
      pagecast simulate scenario.toml --set machine.memory.size=64GB --out results
      pagecast simulate scenario.toml --uncertain 200
      pagecast simulate - --json < scenario.toml | jq .runs[0].operations

    DIR gets a folder for each model, with all tables as CSV (and Parquet where pyarrow is installed), a
    trace.json for ui.perfetto.dev, and figures where matplotlib is installed; report.html has the figures
    and percentiles of all.
    """
    if out is not None:
        from pagecast.export import check_directory

        check_directory(out, replace=force, remedy="choose another name or add --force")
    if fio_json is not None:
        record = record_of_report(scenario, record)
    loaded = options.load_scenario(scenario, overrides, machine, reading)
    models = models or tuple(loaded.models)
    if fio_json is not None and len(set(models)) > 1:
        raise click.UsageError("--fio-json needs one model; choose it with --model")
    if at_risk and "kernel" not in models:
        raise click.UsageError("--at-risk needs the model kernel; add --model kernel")
    results = run(
        loaded,
        models,
        seed=seed,
        residency=residency,
        record=record,
        at_risk=at_risk,
        threads=threads,
        uncertain=uncertain,
    )
    if fio_json is not None:
        save_fio_json(results[0], scenario, fio_json)
    if out is not None:
        save(results, out, force=force)
    from pagecast.cli.notices import of_forecasts
    from pagecast.cli.ranges_table import range_notes

    notes = [*of_forecasts(loaded, results), *range_notes(loaded, results)]
    if as_json:
        for line in notes:
            click.echo(f"Note: {line}", err=True)
        if not all(result.has_all_operations for result in results):
            click.echo("Note: not every operation has a row; --record all keeps one of each", err=True)
        click.echo(json.dumps(to_json(results), ensure_ascii=False, allow_nan=False))
        return
    from pagecast.cli.summary import print_summary

    print_summary(loaded, results, every=every, slowest=slowest)
    for line in notes:
        click.echo(f"Note: {line}")
    if out is not None:
        click.echo(f"Results are in {shown(out)}", err=True)


def run(
    scenario: Scenario,
    models: tuple[str, ...],
    *,
    seed: int,
    residency: str | None,
    record: str = "all",
    at_risk: bool = False,
    threads: int | None = None,
    uncertain: int | None = None,
) -> list[Result]:
    """Simulate under each model, with a progress display for anything longer."""
    from pagecast.cli.progress import Progress

    if uncertain is not None:
        from pagecast.uncertainty import check_has_ranges, with_ranges

        for model in models:
            check_has_ranges(model)
    results = []
    with Progress() as progress:
        for model in dict.fromkeys(models):
            progress.begin(f"simulating under {model}")
            result = simulate(
                scenario,
                model=model,
                seed=seed,
                residency=residency,
                record=record,
                at_risk=at_risk,
                threads=threads,
                progress=progress.simulated,
            )
            if uncertain is not None:
                result = with_ranges(scenario, result, uncertain, threads=threads, tell=progress.part)
            results.append(result)
    return results


def save(results: list[Result], out: Path, *, force: bool) -> None:
    """Write everything to a directory, a folder for each model."""
    from pagecast.cli.progress import Progress
    from pagecast.export import new_directory
    from pagecast.outputs.saving import save_results

    with Progress() as progress, new_directory(out, replace=force) as folder:
        save_results(results, folder, begin=lambda model: progress.begin(f"writing {shown(out / model)}"))


def record_of_report(job_file: Path, record: str) -> str:
    """Refuse a report in fio's form of what is no fio job, before all else; give the rows that it needs."""
    from pagecast.fio import check_job_file, needs_rows

    if str(job_file) == "-":
        raise click.UsageError("--fio-json needs the job file itself; name it instead of -")
    if record == "auto" and needs_rows(job_file):
        return "all"
    check_job_file(job_file, has_all_operations=record == "all")
    return record


def save_fio_json(result: Result, job_file: Path, out: Path) -> None:
    """Write the report that fio would write."""
    from pagecast.fio import json_plus

    report = json.dumps(json_plus(result, job_file), indent=2, allow_nan=False)
    try:
        out.write_text(report + "\n", encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"cannot write {shown(out)}: {error.strerror}") from error


def to_json(results: list[Result]) -> dict[str, object]:
    """Give the document of ``--json``."""
    return {
        "schema_version": 1,
        "provenance": results[0].provenance,
        "runs": [result.to_dict() for result in results],
    }
