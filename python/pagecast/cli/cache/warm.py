"""``pagecast cache warm``: files into the page cache, verified."""

import click

from pagecast._core import cache_available
from pagecast.cache.changes import Warming, warm
from pagecast.cli.cache import common
from pagecast.cli.cache.common import Request, amount, counted, printable
from pagecast.cli.progress import Progress

__all__ = ["command", "document", "tell_missing"]


@click.command("warm", short_help="Read files into the page cache, and verify it.")
@common.files_and_options
@common.dry_run
def command(request: Request, dry_run: bool) -> None:
    """Read the files in each PATH into the page cache, and verify that they are there.

    Holes of sparse files are left out: reading them needs no device. Refuses files that do not fit into the
    available memory. Exit code 1 if something is missing afterwards.

    \b
    Examples:
      pagecast cache warm data
      pagecast cache warm data --dry-run              how much would have to be read
    """
    if dry_run:
        _, found = common.look(request)
        columns = found.files
        needed = sum(
            map(_missing, columns["size_bytes"], columns["allocated_bytes"], columns["cached_bytes"])
        )
        _say_plan(len(columns), needed, request.as_json)
        common.tell_problems(found.problems)
        return
    with Progress() as progress:
        files = common.find_files(request, progress)
        done = warm(files, method=request.method, progress=progress.counted)
    common.refuse_nothing(len(done.files), done.problems)
    if request.as_json:
        common.print_json(document(done))
    else:
        _print(done)
        common.tell_left_out(files, done.vanished)
        common.tell_cautions(done.file_systems)
    tell_missing(done)
    common.check_failed(not done.is_warm)


def _missing(size: int, allocated: int, cached: int) -> int:
    """Give about how much of a file has to be read: bytes on its device that are not in memory."""
    return max(min(size, max(allocated, cached)) - cached, 0)


def _say_plan(count: int, needed: int, as_json: bool) -> None:
    available = cache_available()
    if as_json:
        common.print_json(
            {"dry_run": True, "files": count, "read_bytes": needed, "available_bytes": available}
        )
        return
    click.echo(
        f"About {amount(needed)} of {counted(count, 'file')} would be read; {amount(available)} of memory "
        "are available. Nothing was done."
    )


def _missing_bytes(done: Warming) -> int:
    """Give the bytes that are not in memory after warming."""
    pairs = zip(done.files["data_bytes"], done.files["cached_after_bytes"], strict=True)
    return sum(max(data - cached, 0) for data, cached in pairs)


def document(done: Warming) -> dict[str, object]:
    """Give everything for ``--json``."""
    names = ("size_bytes", "cached_before_bytes", "data_bytes", "cached_after_bytes")
    return {
        "is_warm": done.is_warm,
        "totals": {"files": len(done.files)} | {name: sum(done.files[name]) for name in names},
        **common.files_and_problems(done),
    }


def _print(done: Warming) -> None:
    data, before = sum(done.files["data_bytes"]), sum(done.files["cached_before_bytes"])
    count = counted(len(done.files), "file")
    if done.is_warm:
        click.echo(
            f"{count} warm: {amount(data)} cached (verified); {amount(max(data - before, 0))} of it was read."
        )
    else:
        click.echo(f"Not warm: {amount(_missing_bytes(done))} of {count} are not cached.")


def tell_missing(done: Warming) -> None:
    """Name on stderr the missing bytes."""
    files = done.files

    def line(row: int) -> str:
        left = files["data_bytes"][row] - files["cached_after_bytes"][row]
        return (
            f"{printable(files['path'][row])}: {amount(left)} are not cached: pushed out again by "
            f"something else, or {files['file_system'][row]} does not cache this file"
        )

    common.tell_first(done.missing, line)
    common.tell_problems(done.problems)
