"""``pagecast cache evict``: files out of the page cache, verified."""

import click

from pagecast.cache.changes import Eviction, evict
from pagecast.cli.cache import common
from pagecast.cli.cache.common import Request, amount, counted, printable
from pagecast.cli.progress import Progress

__all__ = ["command"]


@click.command("evict", short_help="Drop files from the page cache, and verify it.")
@common.files_and_options
@click.option("--no-sync", is_flag=True, help="Do not make dirty data durable first; dirty pages then stay.")
@common.dry_run
def command(request: Request, no_sync: bool, dry_run: bool) -> None:
    """Drop the files in each PATH from the page cache, and verify that they are gone.

    Dirty data is made durable first (fdatasync). All users of these files lose their cached pages; no data
    is lost. The right to read a file is enough. Exit code 1 if anything stayed or could not be verified;
    the message says why it may have: dirty, under writeback, mapped or locked by a process, a file system
    that keeps files in memory.

    \b
    Examples:
      pagecast cache evict data
      pagecast cache evict data --dry-run             pages to drop, and to write first
      pagecast cache evict data && ./benchmark data   only if it is cold
    """
    if dry_run:
        _, found = common.look(request)
        _say_plan(found.totals(), not no_sync, request.as_json)
        common.tell_problems(found.problems)
        return
    with Progress() as progress:
        files = common.find_files(request, progress)
        done = evict(files, sync=not no_sync, method=request.method, progress=progress.counted)
    common.refuse_nothing(len(done.files), done.problems)
    if request.as_json:
        common.print_json(_document(done))
    else:
        _print(done)
        common.tell_left_out(files, done.vanished)
        common.tell_cautions(done.file_systems if done.is_cold else [])
    _tell_stayed(done)
    common.check_failed(not done.is_cold)


def _say_plan(totals: dict[str, int | None], sync: bool, as_json: bool) -> None:
    if as_json:
        common.print_json({"dry_run": True, "sync": sync, "totals": totals})
        return
    count = totals["files"] or 0
    first = f"{amount(totals['dirty_bytes'])} dirty would be made durable first, then " if sync else ""
    cached = f"{amount(totals['cached_bytes'])} of {counted(count, 'file')}"
    click.echo(f"{first}{cached} would be dropped. Nothing was done.")


def _document(done: Eviction) -> dict[str, object]:
    before, after = done.files["cached_before_bytes"], done.files["cached_after_bytes"]
    return {
        "is_cold": done.is_cold,
        "totals": {
            "files": len(done.files),
            "size_bytes": sum(done.files["size_bytes"]),
            "cached_before_bytes": sum(before),
            "cached_after_bytes": None if None in after else sum(after),
        },
        **common.files_and_problems(done),
    }


def _print(done: Eviction) -> None:
    before = sum(done.files["cached_before_bytes"])
    after = [value for value in done.files["cached_after_bytes"] if value is not None]
    count = counted(len(done.files), "file")
    if done.is_cold:
        click.echo(f"{count} cold: {amount(before)} dropped, 0 B cached (verified).")
        if before:
            click.echo("Other users of these files have lost their cached pages, too.")
    elif sum(after):
        click.echo(f"Not cold: {amount(before)} of {count} were cached, {amount(sum(after))} stayed.")
    else:
        unsure = counted(len(done.problems), "file")
        click.echo(f"{count} cold: {amount(before)} dropped. Not verified: {unsure}, see below.")


def _tell_stayed(done: Eviction) -> None:
    """Name on stderr the files that stayed, and why."""
    path, left, reasons = (done.files[name] for name in ("path", "cached_after_bytes", "reasons"))
    common.tell_first(
        [row for row in done.stayed if left[row] is not None],  # of the others the problem is told
        lambda row: (
            f"{printable(path[row])}: {amount(left[row])} stayed: {printable('; '.join(reasons[row]))}"
        ),
    )
    common.tell_problems(done.problems)
