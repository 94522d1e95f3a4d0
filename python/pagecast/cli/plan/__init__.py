"""``pagecast plan``: forecasts over a choice that one makes for a machine."""

import click

from pagecast.cli import options

__all__ = ["command"]

COMMANDS = ("stripe",)
"""In the order of the help; each is a module below with a click command `command`."""


@click.group(
    "plan",
    cls=options.lazy_group("pagecast.cli.plan", COMMANDS),
    short_help="Forecast a scenario over a choice of its machine.",
)
def command() -> None:
    """Forecast a scenario over a choice of its machine, and mark where more does not help.

    \b
    Examples:
      pagecast plan stripe scenario.toml              throughput over strip size and servers
    """
