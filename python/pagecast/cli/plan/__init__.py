"""``pagecast plan``: forecasts over a choice that one makes for a machine."""

import importlib

import click

from pagecast.cli import options

__all__ = ["command"]

COMMANDS = ("stripe",)
"""In the order of the help; each is a module below with a click command `command`."""


class _LazyGroup(options.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"pagecast.cli.plan.{name}").command
        return found


@click.group("plan", cls=_LazyGroup, short_help="Forecast a scenario over a choice of its machine.")
def command() -> None:
    """Forecast a scenario over a choice of its machine, and mark where more does not help.

    \b
    Examples:
      pagecast plan stripe scenario.toml              throughput over strip size and servers
    """
