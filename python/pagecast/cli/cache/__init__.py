"""``pagecast cache``: what the page cache of this machine holds of files, and how to change it."""

import importlib

import click

from pagecast.cli import options

__all__ = ["command"]

COMMANDS = ("status", "evict", "warm", "lock", "cold", "drop")
"""In the order of the help; each is a module below with a click command `command`."""


class _LazyGroup(options.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"pagecast.cli.cache.{name}").command
        return found


@click.group("cache", cls=_LazyGroup, short_help="See and change what the page cache of this machine holds.")
def command() -> None:
    """See and change what the page cache holds of files, and prove it.

    Works on the real kernel of this machine. Only `drop` needs root.

    \b
    Examples:
      pagecast cache status data                      what is cached, dirty, evicted
      pagecast cache evict data                       cold, without root, and verified
      pagecast cache cold data -- ./program data      how much came from the disk, how much from memory
    """
