"""``pagecast reproduce``: run a published study again and hold the forecasts against what was measured."""

import json
import shlex
import sys
from pathlib import Path

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.studies import STUDIES

__all__ = ["command"]


_STUDIES = "\n".join(f"  {name:13} {each.what}" for name, each in STUDIES.items())

_HELP = f"""Hold forecasts against what was measured.

Runs the experiments of STUDY, prints forecasts, measured times and errors, and writes a report. An
earlier report of the same study in DIR is replaced.

\b
Studies:
{_STUDIES}

\b
Examples:
  pagecast reproduce wrench-cache
  pagecast reproduce wrench-cache --exp 1 --exp 4 --model wrench
  pagecast reproduce wrench-cache --set model.wrench.vintage=v1 --json > errors.json
  pagecast reproduce wrench-cache --machine wrench-cluster --out measured-machine
  pagecast reproduce cawl --exp buffered --data DIR
  pagecast reproduce live-kernel --data DIR --machine machine.toml
  pagecast reproduce live-nfs --data DIR
  pagecast reproduce live-programs --data DIR
  pagecast reproduce kernel-law --data DIR
"""


@click.command("reproduce", help=_HELP)
@click.argument("study", metavar="STUDY", type=click.Choice(list(STUDIES)))
@click.option(
    "--exp",
    "experiments",
    multiple=True,
    type=options.Text(),
    metavar="NAME",
    help="Experiment, by default all; repeat it for several: "
    + ", ".join(f"{each.experiments} of {name}" for name, each in STUDIES.items())
    + ".",
)
@options.models
@click.option(
    "--machine",
    type=options.Text(),
    metavar="FILE",
    help="Shipped machine or machine file, instead of the one that each model is judged on.",
)
@options.overrides
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run N seeds and average; by default 5 where a disk is uneven.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Full recordings, for what the shipped summary figures do not hold. live-kernel, live-nfs, "
    "live-programs and kernel-law need them.",
)
@click.option(
    "--uncertain",
    type=click.IntRange(min=2, max=10_000),
    metavar="N",
    help="Give totals under kernel a 90 % range of N draws: of the machine's uncertain values, and of the "
    "error that the model had on other platforms. Of live-kernel and live-nfs.",
)
@click.option(
    "--learn",
    type=options.FileName(),
    metavar="FILE",
    help="Add the errors of totals under kernel to FILE, from which ranges are drawn. Of live-kernel and "
    "live-nfs.",
)
@click.option(
    "--brief", is_flag=True, help="Print the mean error of each model and where the report is, and no more."
)
@options.as_json
@click.option(
    "--out",
    type=options.FileName(),
    metavar="DIR",
    help="Where report and results go.  [default: a directory called STUDY; nowhere with --json]",
)
def command(
    study: str,
    experiments: tuple[str, ...],
    models: tuple[str, ...],
    machine: str | None,
    overrides: tuple[str, ...],
    seeds: int | None,
    data: Path | None,
    uncertain: int | None,
    learn: Path | None,
    brief: bool,
    as_json: bool,
    out: Path | None,
) -> None:
    """Hold forecasts against what was measured."""
    from pagecast.cli.progress import Progress
    from pagecast.cli.reports import save
    from pagecast.export import check_directory
    from pagecast.studies import load

    if brief and as_json:
        raise click.UsageError("--brief and --json exclude each other")
    if out is None and not as_json:
        out = Path(study)
    if out is not None:
        check_directory(out, replace=_is_earlier_report(study, out))
    with Progress() as progress:
        progress.begin(f"running {study}")
        outcome = load(study).run(
            experiments=experiments,
            models=models,
            machine=machine,
            overrides=overrides,
            seeds=seeds,
            data=data,
            uncertain=uncertain,
            command=shlex.join(["pagecast", *map(shown, sys.argv[1:])]),
            progress=progress.part,
        )
        if out is not None:
            progress.begin(f"writing {shown(out)}")
            save(outcome, out, replace=_is_earlier_report(study, out))
    if learn is not None:
        from pagecast.export import write_file
        from pagecast.studies.learning import learn_into

        write_file(learn, learn_into(learn, outcome.rows).encode(), replace=True)
    if as_json:
        click.echo(json.dumps(outcome.to_json(), ensure_ascii=False, allow_nan=False))
    elif brief:
        from pagecast.cli.brief import print_brief

        print_brief(study, outcome.rows, out)
        return
    else:
        from pagecast.cli.summary import new_console

        outcome.print_to(new_console())
    if out is not None:
        from pagecast.cli.reports import tell_saved

        tell_saved(out)


def _is_earlier_report(study: str, out: Path) -> bool:
    """Tell whether a directory holds nothing but what an earlier run of the study left there."""
    from pagecast.export import PROVENANCE

    try:
        provenance = json.loads((out / PROVENANCE).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(provenance, dict) and provenance.get("study") == study
