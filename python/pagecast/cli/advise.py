"""``pagecast advise``: settings that fulfil wishes, with lines to paste; it sets nothing."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagecast.cli import options
from pagecast.exit_codes import ExitCode
from pagecast.workloads import Reading

if TYPE_CHECKING:
    from pagecast.advice import Advice
    from pagecast.advice.check import Case
    from pagecast.advice.lines import Paste
    from pagecast.advice.search import Suggestion
    from pagecast.measures import Want

__all__ = ["command"]


@click.command("advise")
@options.scenario
@click.option(
    "--want",
    "wants",
    type=options.Text(),
    multiple=True,
    metavar="CONDITION",
    help="What shall hold: 'p99(PROCESS OPERATION) < 20 ms', or 'makespan(PROCESS) < 1.2x' of what it is "
    "now; can be repeated. Measures are those of pagecast sweep.",
)
@options.machine("Machine file, or the name of a shipped machine")
@options.overrides
@options.reading
@click.option(
    "--budget",
    type=click.IntRange(2, 1_000_000),
    default=250,
    show_default=True,
    metavar="N",
    help="Simulate N times at most.",
)
@click.option(
    "--seed",
    type=options.Seed(),
    metavar="N",
    default=0,
    show_default=True,
    help="Of the search, and of each simulation.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Simulate N points at a time; by default one per processor.",
)
@click.option(
    "--uncertain",
    type=click.IntRange(min=2, max=10_000),
    metavar="N",
    help="Give each want of the table a 90 % range: of N draws, as pagecast simulate --uncertain.",
)
@options.as_json
@click.option("--all", "every", is_flag=True, help="Show each setting that was tried alone, too.")
def command(
    scenario: Path,
    wants: tuple[str, ...],
    machine: str | None,
    overrides: tuple[str, ...],
    reading: Reading,
    budget: int,
    seed: int,
    workers: int | None,
    uncertain: int | None,
    as_json: bool,
    every: bool,
) -> None:
    """Search settings with which SCENARIO does what is wanted; print lines to paste.

    Each setting is tried alone: dirty limits, the disk's queue, limits of cgroups, ionice, O_DIRECT,
    RWF_DONTCACHE and fadvise, mount and export options, memory to buy. Those that matter are then searched
    together. The model is kernel. Nothing is set. Ctrl-C shows the best so far. Exit code 1: no setting
    fulfils all that is wanted.

    \b
    Examples:
      pagecast advise scenario.toml --want 'p99(db fsync) < 20 ms' --want 'makespan(backup) < 1.2x'
      pagecast advise scenario.toml --want 'at_risk < 500 MB' --budget 100
      pagecast advise job.fio --machine m.toml --want 'rate(* write) > 400 MB/s'
    """
    from pagecast.advice.advising import advise_source
    from pagecast.advice.check import Case
    from pagecast.cli.progress import Progress
    from pagecast.sweeps.source import read_source

    source = read_source(scenario, overrides=overrides, machine=machine, reading=reading)
    with Progress() as progress:
        found = advise_source(
            source,
            want=wants,
            budget=budget,
            seed=seed,
            workers=workers,
            uncertain=uncertain,
            progress=progress.part,
        )
    case = Case(scenario, machine, overrides, reading, seed, source)
    if as_json:
        click.echo(json.dumps(_document(found, case), ensure_ascii=False, allow_nan=False))
    else:
        _print(found, case, every=every)
    if found.is_stopped:
        raise KeyboardInterrupt
    if not found.is_met:
        raise click.exceptions.Exit(ExitCode.CHECK_FAILED)


def _document(found: "Advice", case: "Case") -> dict[str, Any]:
    from pagecast.advice.lines import pastes

    def of(suggestion: "Suggestion") -> dict[str, Any]:
        return {
            "settings": [setting.text for setting in suggestion.settings],
            "overrides": suggestion.overrides,
            "values": suggestion.values,
            **({"ranges": suggestion.ranges} if found.draws else {}),
            "is_met": suggestion.is_met,
            "makespans": suggestion.makespans,
            "at_risk_bytes": suggestion.at_risk_bytes,
            "paste": [asdict(paste) for paste in pastes(suggestion)],
            "check": case.command(suggestion),
        }

    return {
        "schema_version": 1,
        "wants": [{"want": str(want), "unit": want.measure.unit} for want in found.wants],
        "is_met": found.is_met,
        "present": of(found.present),
        "suggestions": [of(each) for each in found.suggestions],
        "alone": [
            {"knob": knob, "setting": setting.text, "values": values} for knob, setting, values in found.alone
        ],
        "without_effect": found.without_effect,
        "not_tried": found.not_tried,
        "failures": found.failures,
        "simulations": found.simulations,
        "is_stopped": found.is_stopped,
    }


def _print(found: "Advice", case: "Case", *, every: bool) -> None:
    from pagecast.cli.summary import new_console
    from pagecast.report.document import Table
    from pagecast.report.terminal import print_table

    console = new_console()
    wants = [str(want) for want in found.wants]
    rows = [_row(found, f"{number}" if number else "", each) for number, each in _numbered(found)]
    print_table(
        Table(
            title=f"Settings by what they do for the wants, after {found.simulations:,} simulations",
            columns=[
                "",
                "settings",
                *(want.replace(" <", "\n<").replace(" >", "\n>") for want in wants),
                "slower\nprocesses",
                "at risk",
            ],
            rows=rows,
            text_columns=2,
            note="* the want is fulfilled. Slower processes: their makespan against now. At risk: the most "
            "that a power cut would lose, without direct I/O."
            + (f" In brackets: the 90 % range of {found.draws:,} draws." if found.draws else ""),
        ),
        console,
    )
    if every:
        print_table(
            Table(
                title="Each setting alone",
                columns=["setting", *wants],
                rows=[[setting.text, *_values(found, values)] for _, setting, values in found.alone],
            ),
            console,
        )
    click.echo("")
    if all(found.present.is_met):
        click.echo("All that is wanted holds already.")
    elif not found.is_met:
        rest = "the table has the closest" if found.suggestions else "none brings it closer"
        click.echo(f"No setting fulfils all that is wanted; {rest}.")
    for number in _worth_pasting(found):
        each = found.suggestions[number - 1]
        why = "paste these lines" if number == 1 else "which changes no program, paste these lines"
        if not all(each.is_met):
            why += ", though it does not fulfil all"
        _print_lines(number, why, each, case)
    if found.without_effect:
        click.echo(f"\nWithout effect here: {', '.join(found.without_effect)}.")
    if found.not_tried:
        click.echo(f"Not tried: {'; '.join(found.not_tried)}.")
    for text, why in found.failures.items():
        click.echo(f"Not possible: {text} ({why}).")
    if found.is_stopped:
        click.echo("Stopped: this is the best so far.", err=True)


def _worth_pasting(found: "Advice") -> list[int]:
    """Choose the best one, and the best one that lines in files do."""
    from pagecast.advice.lines import pastes

    in_files = (
        number
        for number, each in enumerate(found.suggestions, 1)
        if all(paste.file for paste in pastes(each))
    )
    return sorted({*([1] if found.suggestions else []), *([first] if (first := next(in_files, 0)) else [])})


def _print_lines(number: int, why: str, suggestion: "Suggestion", case: "Case") -> None:
    from pagecast.advice.lines import pastes

    click.echo(f"For {number}, {why}; nothing has been set:")
    found = pastes(suggestion)
    for paste in found:
        click.echo(f"  {paste.file or 'By hand'}{f' on {paste.host}' if paste.host else ''}")
        click.echo("".join(f"    {line}\n" for line in paste.lines), nl=False)
    if now := [command for paste in found for command in _commands(paste, paste.now)]:
        click.echo("  or until the next boot")
        click.echo("".join(f"    {line}\n" for line in now), nl=False)
    if cgroup := [command for paste in found for command in _commands(paste, paste.cgroup)]:
        click.echo("  or, for a process in a cgroup that is not systemd's")
        click.echo("".join(f"    {line}\n" for line in cgroup), nl=False)
    if any(paste.needs_disk for paste in found):
        click.echo("  sdX is the name that the kernel gives the disk; lsblk shows it.")
    if case.is_run(suggestion):
        click.echo("  Then check it for real, DIR on that disk:")
    else:
        click.echo("  Then time the programs themselves, and compare with")
    click.echo(f"    {case.command(suggestion)}")


def _commands(paste: "Paste", commands: Sequence[str]) -> list[str]:
    """Give commands with a comment that names their host, where there are several."""
    return [f"{command}  # on {paste.host}" if paste.host else command for command in commands]


def _numbered(found: "Advice") -> "list[tuple[int, Suggestion]]":
    return [(0, found.present), *enumerate(found.suggestions, 1)]


def _row(found: "Advice", number: str, of: "Suggestion") -> list[str]:
    from pagecast._core import format_bytes

    names = ",\n".join(setting.text for setting in of.settings) or "as it is"
    slower = {name: factor for name, factor in of.makespans.items() if factor > 1.02}
    return [
        number,
        names,
        *_with_ranges(found, of),
        "\n".join(f"{name} {factor:.2f}x" for name, factor in slower.items()),
        "" if of.at_risk_bytes is None else format_bytes(of.at_risk_bytes),
    ]


def _values(found: "Advice", values: "tuple[float | None, ...]") -> list[str]:
    return [
        _value(want, value, base)
        for want, value, base in zip(found.wants, values, found.present.values, strict=True)
    ]


def _with_ranges(found: "Advice", of: "Suggestion") -> list[str]:
    from pagecast.quantities import shown_quantity

    cells = _values(found, of.values)
    for number, each in enumerate(of.ranges):
        low, high = (shown_quantity(end, found.wants[number].measure.unit) for end in each or (None, None))
        cells[number] += f"\n({low} to {high})" if each else "\n(no range)"
    return cells


def _value(want: "Want", value: float | None, base: float | None) -> str:
    from pagecast.quantities import shown_quantity

    factor = f" ({value / base:.2f}x)" if want.is_factor and value is not None and base else ""
    mark = " *" if want.holds(value, base) else ""
    return f"{shown_quantity(value, want.measure.unit)}{factor}{mark}"
