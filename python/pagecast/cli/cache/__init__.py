"""``pagecast cache``: show and change which files the page cache of this machine holds."""

import click

from pagecast.cli import options

__all__ = ["command"]

COMMANDS = ("status", "evict", "warm", "lock", "cold", "drop", "sync-time")
"""In the order of the help; each is a module below with a click command `command`."""


@click.group(
    "cache",
    cls=options.lazy_group("pagecast.cli.cache", COMMANDS),
    short_help="Show and change the content of the page cache.",
)
def command() -> None:
    """Show and change which files the page cache holds, and verify it.

    Works on the real kernel of this machine. Only `drop` needs root.

    \b
    Examples:
      pagecast cache status data                      cached, dirty, evicted pages
      pagecast cache evict data                       cold, without root, and verified
      pagecast cache cold data -- ./program data      how much came from the disk, how much from memory
      pagecast cache sync-time --machine m.toml       how long sync takes now, without doing it
    """
