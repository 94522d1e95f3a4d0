"""``pagecast petri step``: choose in the terminal which transition occurs next."""

import sys
from pathlib import Path

import click

from pagecast.cli import options
from pagecast.cli.petri import common
from pagecast.petri import Stepper

__all__ = ["command"]

_SHOWN = 50
"""Enabled binding elements that are listed at once."""


@click.command("step")
@common.net
@common.values
@click.option("--seed", type=options.Seed(), default=0, show_default=True, help="Seed of all random draws.")
def command(net: Path, values: tuple[str, ...], seed: int) -> None:
    """Step through NET.cpn: shows what is enabled, and asks what shall occur.

    An answer is a number of the list, `r N` for N random occurrences, `m` for the marking, or `q`.
    Answers are read from stdin, a line each.

    \b
    Examples:
      pagecast petri step net.cpn
      printf '1\\nm\\nq\\n' | pagecast petri step net.cpn
    """
    stepper = common.loaded(net, values).stepper(seed=seed)
    answers = sys.stdin
    while True:
        enabled = stepper.enabled()
        if not enabled:
            click.echo(f"time {stepper.time}: no transition is enabled")
            return
        click.echo(f"time {stepper.time}")
        for number, (transition, binding) in enumerate(enabled[:_SHOWN], 1):
            click.echo(f"  {number}  {transition}" + (f"  {binding}" if binding else ""))
        if len(enabled) > _SHOWN:
            click.echo(f"  and {len(enabled) - _SHOWN} more")
        click.echo("> ", nl=False)
        answer = answers.readline()
        if not answer or answer.strip() == "q":
            click.echo()
            return
        _do(stepper, answer.split())


def _do(stepper: Stepper, words: list[str]) -> None:
    match words:
        case ["m"]:
            for place, marking in stepper.now().marking.items():
                click.echo(f"  {place}: {marking}")
        case ["r", number] if number.isdecimal():
            stepper.run(steps=stepper.now().steps + int(number))
        case [number] if number.isdecimal() and int(number) > 0 and stepper.occur(int(number) - 1):
            pass
        case _:
            click.echo("  answer a number of the list, `r N`, `m` or `q`")
