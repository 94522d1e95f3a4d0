"""``pagecast cache sync-time``: how long sync(2) takes with the dirty memory of this machine."""

from dataclasses import asdict

import click

from pagecast._core import format_bytes
from pagecast.cli import options
from pagecast.cli.amounts import seconds_and_more
from pagecast.cli.cache import common

__all__ = ["command"]


@click.command("sync-time", short_help="Forecast how long sync takes now.")
@click.option(
    "--machine",
    type=options.Text(),
    required=True,
    metavar="FILE",
    help="Machine file of this machine, as `pagecast calibrate` writes it, or the name of a shipped machine.",
)
@click.option(
    "--dirty",
    type=options.Size(),
    metavar="SIZE",
    help="Dirty memory, instead of Dirty and Writeback of /proc/meminfo.",
)
@click.option(
    "--disk",
    type=options.Text(),
    metavar="NAME",
    help="Disk of the machine file that the dirty memory goes to, where several have a mount.",
)
@options.as_json
def command(machine: str, dirty: int | None, disk: str | None, as_json: bool) -> None:
    """Forecast how long sync(2) takes now, without writing anything.

    All dirty memory counts as one file, which is written in order; scattered pages take a disk that turns
    longer.

    \b
    Examples:
      pagecast cache sync-time --machine machine.toml
      pagecast cache sync-time --machine machine.toml --disk nvme --json
      pagecast cache sync-time --machine machine.toml --dirty 5GB
    """
    from pagecast.api import load_machine
    from pagecast.cache.sync_time import sync_time

    found = sync_time(load_machine(machine), dirty_bytes=dirty, disk=disk)
    if as_json:
        common.print_json(asdict(found))
    else:
        took = seconds_and_more(found.duration_s)
        click.echo(f"sync takes {took}: {format_bytes(found.dirty_bytes)} of dirty memory go to {found.disk}")
