"""``pagecast cache lock``: files held in memory until somebody stops it."""

import signal
import sys

import click

from pagecast._core import cache_lock_need
from pagecast.cache.changes import lock
from pagecast.cli.cache import common
from pagecast.cli.cache.common import Request, amount, counted
from pagecast.cli.cache.warm import document, tell_missing
from pagecast.cli.progress import Progress

__all__ = ["command"]

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command("lock", short_help="Hold files in memory until Ctrl-C.")
@common.files_and_options
@common.dry_run
def command(request: Request, dry_run: bool) -> None:
    """Read the files in each PATH into memory and hold them there until Ctrl-C or SIGTERM.

    Within RLIMIT_MEMLOCK (`ulimit -l`); root may lock everything. Being stopped is the usual end: exit code
    0. Exit code 1 if some files could not be locked.

    \b
    Examples:
      pagecast cache lock index.db                    until Ctrl-C
      pagecast cache lock index.db & ./benchmark; kill %1
      pagecast cache lock data --dry-run              how much it takes, and how much is allowed
    """
    with Progress() as progress:
        files = common.find_files(request, progress)
        if dry_run:
            needed, limit = cache_lock_need(files._core)
            _say_plan(len(files), needed, limit, request.as_json)
            return
        held = lock(files, method=request.method, progress=progress.counted)
    common.refuse_nothing(len(held.warming.files), held.warming.problems)
    try:
        if request.as_json:
            common.print_json({"locked_bytes": held.locked_bytes, **document(held.warming)})
        else:
            count = counted(len(held.warming.files), "file")
            click.echo(f"{amount(held.locked_bytes)} of {count} locked in memory until Ctrl-C.")
        common.tell_left_out(files, held.warming.vanished)
        tell_missing(held.warming)
        sys.stdout.flush()
        _wait()
    finally:
        held.release()
    common.check_failed(bool(held.warming.problems))


def _say_plan(count: int, needed: int, limit: int | None, as_json: bool) -> None:
    if as_json:
        common.print_json({"dry_run": True, "files": count, "needed_bytes": needed, "limit_bytes": limit})
        return
    allowed = "as much as there is" if limit is None else f"at most {amount(limit)}"
    click.echo(
        f"{amount(needed)} of {counted(count, 'file')} would be locked; this user may lock {allowed}. "
        "Nothing was done."
    )


def _wait() -> None:
    """Wait until somebody wants us to end."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
    try:
        signal.sigwait(_ENDINGS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
