"""``pagecast cache evict``: files out of the page cache, verified."""

from pathlib import Path

import click

from pagecast.cache.changes import Eviction, evict
from pagecast.cache.files import status
from pagecast.cli.cache import common
from pagecast.cli.cache.common import Walk, amount, counted, printable, tell
from pagecast.cli.progress import Progress

__all__ = ["command", "tell_stayed"]

_MOST_STAYED = 5


@click.command("evict")
@common.files_and_options
@click.option(
    "--no-sync", is_flag=True, help="Do not make dirty data durable first; what is dirty then stays."
)
@common.dry_run
def command(
    paths: tuple[Path, ...],
    follow: bool,
    one_file_system: bool,
    method: str | None,
    as_json: bool,
    no_sync: bool,
    dry_run: bool,
) -> None:
    """Drop the files in each PATH from the page cache, and verify that they are gone.

    Dirty data is made durable first (fdatasync). Everybody who uses these files loses what was cached of
    them; no data is lost. The right to read a file is enough. Exit code 1 if anything stayed or could not be
    verified; the message says why it may have: dirty, under writeback, mapped or locked by a process, a file
    system that keeps files in memory.

    \b
    Examples:
      pagecast cache evict data
      pagecast cache evict data --dry-run             what would be dropped, and written first
      pagecast cache evict data && ./benchmark data   only if it is cold
    """
    with Progress() as progress:
        files = common.find_files(Walk(paths, follow, one_file_system), progress)
        if dry_run:
            found = status(files, method=method, progress=progress.counted)
        else:
            done = evict(files, sync=not no_sync, method=method, progress=progress.counted)
    if dry_run:
        common.refuse_nothing(len(found.files), found.problems)
        _say_plan(found.totals(), not no_sync, as_json)
        common.tell_problems(found.problems)
        return
    common.refuse_nothing(len(done.files), done.problems)
    if as_json:
        common.print_json(_document(done))
    else:
        _print(done)
        common.tell_left_out(files, done.vanished)
        common.tell_cautions(done.file_systems if done.is_cold else [])
    tell_stayed(done)
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
        "files": common.rows((name, done.files[name]) for name in done.files),
        "problems": [problem._asdict() for problem in done.problems],
        "vanished": done.vanished,
        "file_systems": done.file_systems,
    }


def _print(done: Eviction) -> None:
    before = sum(done.files["cached_before_bytes"])
    after = [value for value in done.files["cached_after_bytes"] if value is not None]
    count = counted(len(done.files), "file")
    if done.is_cold:
        click.echo(f"{count} cold: {amount(before)} dropped, 0 B cached (verified).")
        if before:
            click.echo("Others who use these files have lost what was cached of them, too.")
    elif sum(after):
        click.echo(f"Not cold: {amount(before)} of {count} were cached, {amount(sum(after))} stayed.")
    else:
        unsure = counted(len(done.problems), "file")
        click.echo(f"{count} cold: {amount(before)} dropped. Not verified: {unsure}, see below.")


def tell_stayed(done: Eviction) -> None:
    """Say on stderr what stayed, and why."""
    files, stayed = done.files, done.stayed
    for row in stayed[:_MOST_STAYED]:
        left, reasons = files["cached_after_bytes"][row], files["reasons"][row]
        if left is not None:
            tell(f"{printable(files['path'][row])}: {amount(left)} stayed: {printable('; '.join(reasons))}")
    if len(stayed) > _MOST_STAYED:
        tell(f"and {counted(len(stayed) - _MOST_STAYED, 'more file')}; --json has all")
    common.tell_problems(done.problems)
