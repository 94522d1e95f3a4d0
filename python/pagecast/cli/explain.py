"""``pagecast explain``: what an operation waited for, and behind whom; or what happened at an instant."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.errors import ArgumentError, OutputError
from pagecast.workloads import Reading

if TYPE_CHECKING:
    from pagecast.explanation.levels import Tables
    from pagecast.explanation.operation import OperationExplained

__all__ = ["command"]

_MOST_ROWS = 10
_NUMBERED = re.compile(r"(?P<kind>[^#]*?)\s*(?:#(?P<number>\d+))?")


@click.command("explain")
@click.argument("source", metavar="RESULT|SCENARIO", type=options.FileName(allow_dash=True))
@click.argument("process", required=False, type=options.Text())
@click.argument("operation", metavar="[OPERATION[#N]]", required=False, type=options.Text())
@click.option("--at", "at", type=options.Text(), metavar="TIME", help="Explain this instant, such as 74.1s.")
@options.machine("Machine file, or the name of a shipped machine")
@click.option(
    "--model",
    type=options.Text(),
    metavar="NAME",
    help="Model to ask, or whose tables of RESULT to read.  [default: kernel where it is there]",
)
@options.overrides
@options.reading
@click.option("--seed", type=options.Seed(), metavar="N", default=0, show_default=True, help="Of SCENARIO.")
@click.option(
    "--plot",
    "picture",
    type=options.FileName(),
    metavar="FILE",
    help="Draw it to FILE (.png, .svg or .pdf); of several operations the slowest one.",
)
@options.as_json
def command(
    source: Path,
    process: str | None,
    operation: str | None,
    at: str | None,
    machine: str | None,
    model: str | None,
    overrides: tuple[str, ...],
    reading: Reading,
    seed: int,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Explain why operations took as long as they did.

    RESULT is a directory that --out has made, SCENARIO is simulated. Without PROCESS the slowest operation of
    each kind of each process is listed; OPERATION#N is the N-th of this kind, from 1, OPERATION the slowest.
    In PROCESS * stands for anything. --at also tells what a power cut would lose: of SCENARIO under kernel,
    of a RESULT of simulate --at-risk.

    \b
    Examples:
      pagecast explain scenario.toml
      pagecast explain results db fsync
      pagecast explain results db fsync#17 --plot why.png
      pagecast explain results 'db*' fsync
      pagecast explain results --at 74.1s
      pagecast explain results db --json
    """
    at_s = None if at is None else _seconds(at)
    if at_s is not None and process is not None:
        raise click.UsageError("--at asks for an instant; leave PROCESS out", click.get_current_context())
    if picture is not None:
        from pagecast.cli.sweep.drawing import check_picture

        check_picture(picture)
    kind, number = _numbered(operation)
    result = _tables(source, machine, model, overrides, reading, seed, at_risk=at_s is not None)
    if process is None and at_s is None:
        _list(result, source, picture, as_json=as_json)
        return
    from pagecast.explanation import explain

    found = explain(result, process=process, operation=kind, number=number, at_s=at_s)
    _print(found.text, found.to_dict(), result, as_json=as_json)
    if picture is not None:
        _draw(result, found, picture)


def _tables(
    source: Path,
    machine: str | None,
    model: str | None,
    overrides: tuple[str, ...],
    reading: Reading,
    seed: int,
    *,
    at_risk: bool,
) -> "Tables":
    if source.is_dir():
        from pagecast.explanation.saved import read_saved

        if overrides or machine is not None:
            raise click.UsageError(
                f"{shown(source)} is a result, which --set and --machine cannot change; name the scenario",
                click.get_current_context(),
            )
        return read_saved(source, model)
    from pagecast.cli.simulate import run

    loaded = options.load_scenario(source, overrides, machine, reading)
    named = loaded.models
    chosen = model or ("kernel" if "kernel" in named else named[0])
    at_risk = at_risk and chosen == "kernel"
    return run(loaded, (chosen,), seed=seed, residency=None, record="auto", at_risk=at_risk)[0]


def _list(result: "Tables", source: Path, picture: Path | None, *, as_json: bool) -> None:
    from pagecast.explanation.operation import explain_row, slowest_rows

    found = [explain_row(result, row) for row in slowest_rows(result, _MOST_ROWS)]
    if not found:
        raise ArgumentError(
            f"{shown(source)}: no operation on a file takes time; there is nothing to explain"
        )
    if as_json:
        _dump({"made_by": result.made_by, "operations": [each.to_dict() for each in found]})
    else:
        _print_table(result, found)
        first = found[0]
        number = "" if first.number is None else f"#{first.number}"
        command = f"pagecast explain {shown(source)} {first.process} {first.operation}{number}"
        click.echo(f"\nMore on one: {command}")
    if picture is not None:
        _draw(result, found[0], picture)


def _print_table(result: "Tables", found: "list[OperationExplained]") -> None:
    from pagecast.cli.amounts import seconds, shortened
    from pagecast.cli.summary import new_console
    from pagecast.explanation.wording import SMALL, behind
    from pagecast.report.document import Table
    from pagecast.report.terminal import print_table

    def cells(of: "OperationExplained") -> list[str]:
        part, part_s = next(iter(of.parts.items()), ("", 0.0))
        share = f"{part.replace('_', ' ')} {100 * part_s / of.duration_s:.0f} %" if part else ""
        wait = next((each for each in of.waits if each.waited_s > SMALL * of.duration_s), None)
        number = "" if of.number is None else f"#{of.number}"
        return [
            of.process,
            f"{of.operation}{number}",
            share,
            "" if wait is None else f"{seconds(wait.waited_s)} {shortened(behind(wait), 48)}",
            seconds(of.start_s),
            seconds(of.duration_s),
            seconds(of.median_s),
        ]

    print_table(
        Table(
            title=f"The slowest operation of each kind of each process, {result.made_by}",
            columns=["process", "operation", "mostly", "of which behind", "at", "took", "median"],
            rows=[cells(of) for of in found],
            text_columns=4,
        ),
        new_console(),
    )


def _print(text: str, document: dict[str, Any], result: "Tables", *, as_json: bool) -> None:
    if as_json:
        _dump({"made_by": result.made_by, **document})
    else:
        click.echo(text)


def _dump(document: dict[str, Any]) -> None:
    click.echo(json.dumps({"schema_version": 1, **document}, ensure_ascii=False, allow_nan=False))


def _draw(result: "Tables", found: Any, picture: Path) -> None:
    from pagecast.explanation.drawing import save_picture

    try:
        save_picture(result, found, picture)
    except OSError as error:
        raise OutputError(f"{shown(picture)}: cannot be written ({error.strerror})") from None
    click.echo(f"The picture is {shown(picture)}", err=True)


def _numbered(operation: str | None) -> tuple[str | None, int | None]:
    form = _NUMBERED.fullmatch(operation or "")
    if form is None:
        raise ArgumentError(f"`{shown(operation or '')}` names no operation; write for example fsync#17")
    return form["kind"] or None, None if form["number"] is None else int(form["number"])


def _seconds(text: str) -> float:
    from pagecast.quantities import parse_quantity

    quantity = parse_quantity(text)
    if quantity is None or quantity.unit not in ("s", ""):
        raise ArgumentError(f"--at {shown(text)}: is no time; write for example 74.1s")
    return float(quantity.value)
