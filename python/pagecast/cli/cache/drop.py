"""``pagecast cache drop``: all caches of the machine; the only command here that needs root."""

import sys

import click

from pagecast._core import cache_drop_check, memory_counters
from pagecast.cache.changes import drop
from pagecast.cli import options
from pagecast.cli.cache import common
from pagecast.cli.cache.common import amount
from pagecast.cli.progress import Progress

__all__ = ["command"]

_SHOWN = {
    "cached": "page cache of files",
    "buffers": "page cache of devices",
    "shared": "of it in memory only (tmpfs)",
    "reclaimable_slab": "slabs: dentries, inodes",
    "dirty": "dirty",
    "writeback": "under writeback",
    "free": "free",
}


@click.command("drop")
@click.option(
    "--what",
    type=click.Choice(["pages", "slab", "all"]),
    default="all",
    show_default=True,
    help="Pages of files; dentries, inodes and other slabs; or both.",
)
@click.option("--no-sync", is_flag=True, help="Do not write dirty data first; dirty pages then stay.")
@common.dry_run
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.as_json
def command(what: str, no_sync: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Write all dirty data of this machine and drop its caches. Needs root.

    Every program on the machine reads from the disk again afterwards. For your own files, `pagecast cache
    evict` does it without root and without harm to others.

    \b
    Examples:
      sudo pagecast cache drop
      sudo pagecast cache drop --what pages --yes --json
    """
    if dry_run:
        _say_plan(as_json)
        return
    cache_drop_check()
    if not yes:
        _ask()
    with Progress() as progress:
        before, after = drop(what, sync=not no_sync, progress=progress.counted)
    if as_json:
        common.print_json({"what": what, "sync": not no_sync, "before": before, "after": after})
    else:
        _print(before, after)


def _ask() -> None:
    if not sys.stdin.isatty():
        raise click.UsageError(
            "this drops the caches of the whole machine and nobody is there to be asked; add --yes",
            click.get_current_context(),
        )
    click.confirm("Drop the caches of the whole machine, for everybody?", abort=True, err=True)


def _say_plan(as_json: bool) -> None:
    now = memory_counters()
    if as_json:
        common.print_json({"dry_run": True, "now": now})
        return
    click.echo(
        f"{amount(now['dirty_bytes'] + now['writeback_bytes'])} would be written first; then most of "
        f"{amount(now['cached_bytes'] + now['buffers_bytes'] - now['shared_bytes'])} of page cache and "
        f"{amount(now['reclaimable_slab_bytes'])} of slabs would be dropped. Nothing was done."
    )


def _print(before: dict[str, int], after: dict[str, int]) -> None:
    width = max(map(len, _SHOWN.values()))
    click.echo(f"{'':{width}}  {'before':>10}  {'after':>10}")
    for name, label in _SHOWN.items():
        pair = (amount(before[f"{name}_bytes"]), amount(after[f"{name}_bytes"]))
        click.echo(f"{label:{width}}  {pair[0]:>10}  {pair[1]:>10}")
