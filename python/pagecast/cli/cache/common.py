"""Options and messages that all commands of ``pagecast cache`` share."""

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from pagecast._core import format_bytes
from pagecast.arguments import shown
from pagecast.cache.changes import Eviction, Warming
from pagecast.cache.files import Files, FileSystem, Problem, Status, find, status
from pagecast.cli import options
from pagecast.cli.progress import Progress
from pagecast.errors import ProbeError
from pagecast.exit_codes import ExitCode

__all__ = [
    "Request",
    "amount",
    "check_failed",
    "counted",
    "dry_run",
    "files_and_options",
    "files_and_problems",
    "find_files",
    "look",
    "print_json",
    "printable",
    "refuse_nothing",
    "tell",
    "tell_cautions",
    "tell_first",
    "tell_left_out",
    "tell_problems",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")

_MOST_TOLD = 5


@dataclass(frozen=True)
class Request:
    """Options of all commands: where to look for files, how to ask about them, and how to answer."""

    paths: tuple[Path, ...]
    follow: bool
    one_file_system: bool
    method: str | None
    as_json: bool


class _Place(options.FileName):
    """A path; whether it can be opened is found out when it is: the right to write is enough as well."""

    def __init__(self) -> None:
        super().__init__()
        self.readable = False


def files_and_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add PATH..., ``--follow``, ``--one-file-system``, ``--method`` and ``--json``, as one `Request`.

    The function gets it as its first argument; where click passes an object, right after that.
    """

    @functools.wraps(function)
    def with_request(
        *passed: Any,
        paths: tuple[Path, ...],
        follow: bool,
        one_file_system: bool,
        method: str | None,
        as_json: bool,
        **others: Any,
    ) -> None:
        function(*passed, Request(paths, follow, one_file_system, method, as_json), **others)

    for add in (
        options.as_json,
        click.option(
            "--method",
            type=click.Choice(["cachestat", "mincore"]),
            help="How to ask the kernel.  [default: cachestat where it works; it also counts dirty pages]",
        ),
        click.option("-x", "--one-file-system", is_flag=True, help="Stay on the file system of each PATH."),
        click.option(
            "--follow", is_flag=True, help="Follow symbolic links inside directories; PATH itself always is."
        ),
        click.argument("paths", type=_Place(), nargs=-1, required=True, metavar="PATH..."),
    ):
        with_request = add(with_request)
    return with_request


def dry_run(function: _F) -> _F:
    """Add ``--dry-run``."""
    return click.option("--dry-run", is_flag=True, help="Print the planned actions, and do nothing.")(
        function
    )


def find_files(request: Request, progress: Progress) -> Files:
    """Find the files of a command line."""
    return find(
        request.paths,
        follow=request.follow,
        one_file_system=request.one_file_system,
        progress=progress.counted,
    )


def look(request: Request) -> tuple[Files, Status]:
    """Find the files of a command line and measure how much of them is cached; raise if none could be."""
    with Progress() as progress:
        files = find_files(request, progress)
        found = status(files, method=request.method, progress=progress.counted)
    refuse_nothing(len(found.files), found.problems)
    return files, found


def refuse_nothing(count: int, problems: Sequence[Problem]) -> None:
    """Raise if not one file could be looked at."""
    if count == 0 and problems:
        raise ProbeError(f"{shown(problems[0].path)}: {problems[0].what}")


def printable(path: str) -> str:
    """Give a name for a terminal: bytes that are no UTF-8, and control characters, are written out."""
    text = shown(path)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def amount(value: int | None) -> str:
    """Give bytes for a person; "?" if they are not known."""
    return "?" if value is None else format_bytes(value)


def counted(count: int, one: str, many: str | None = None) -> str:
    """Give "1 file" or "1,000 files"."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def tell(text: str) -> None:
    """Say something beside the result."""
    click.echo(f"pagecast: {text}", err=True)


def tell_problems(problems: Sequence[Problem]) -> None:
    """Name the files that could not be read."""
    tell_first(
        problems, lambda problem: f"{printable(problem.path)}: {problem.what}", rest=" with such problems"
    )


def tell_first(files: Sequence[_T], line: Callable[[_T], str], *, rest: str = "") -> None:
    """Say a line for each of the first files, and how many more there are."""
    for file in files[:_MOST_TOLD]:
        tell(line(file))
    if len(files) > _MOST_TOLD:
        tell(f"and {counted(len(files) - _MOST_TOLD, 'more file')}{rest}; --json has all")


def tell_left_out(files: Files, vanished: int = 0, other_names: int = 0) -> None:
    """Name the files that were not counted, and why."""
    left_out = files.left_out
    lines = {
        f"{counted(left_out['links'], 'symbolic link')} not followed; --follow does": left_out["links"],
        f"{counted(left_out['links_back'], 'symbolic link')} to directories that were looked at already": (
            left_out["links_back"]
        ),
        f"{counted(left_out['special_files'], 'special file')} left out (sockets, pipes, devices)": (
            left_out["special_files"]
        ),
        f"{counted(left_out['mounts'], 'directory', 'directories')} on other file systems left out": (
            left_out["mounts"]
        ),
        f"{counted(other_names, 'name')} of files that are counted under another name": other_names,
        f"{counted(vanished, 'file')} gone before it was looked at": vanished,
    }
    for line in (line for line, count in lines.items() if count):
        tell(line)


def tell_cautions(file_systems: Sequence[FileSystem]) -> None:
    """Name the particulars of the file systems."""
    lines = [f"{system['name']} {system['caution']}" for system in file_systems if system["caution"]]
    for line in dict.fromkeys(lines):
        tell(printable(line))


def print_json(document: dict[str, Any]) -> None:
    """Print a document in one line; names that are no UTF-8 are as ``os.fsdecode`` gives them."""
    click.echo(json.dumps({"schema_version": 1, **document}, allow_nan=False))


def rows(columns: Iterable[tuple[str, Sequence[Any]]]) -> list[dict[str, Any]]:
    """Give columns as one object for each row."""
    names, values = zip(*columns, strict=True)
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def files_and_problems(done: Eviction | Warming) -> dict[str, Any]:
    """Give the ``--json`` of any change: each file, and the files that could not be changed."""
    return {
        "files": rows((name, done.files[name]) for name in done.files),
        "problems": [problem._asdict() for problem in done.problems],
        "vanished": done.vanished,
        "file_systems": done.file_systems,
    }


def check_failed(failed: bool) -> None:
    """End with exit code 1 if a check failed."""
    if failed:
        raise click.exceptions.Exit(ExitCode.CHECK_FAILED)
