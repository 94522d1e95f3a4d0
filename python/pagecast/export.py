"""Results as files, all or nothing."""

import csv
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pagecast.arguments import check_path, shown
from pagecast.errors import OutputError
from pagecast.stopping import finished_first

if TYPE_CHECKING:
    from pagecast.result import Columns, Result

__all__ = [
    "check_directory",
    "new_directory",
    "quoted_cell",
    "save_csv",
    "save_provenance",
    "save_tables",
    "unquoted",
    "write_file",
]

PROVENANCE = "provenance.json"
"""The file by which a directory is known to be one of ours."""


def check_directory(
    directory: str | os.PathLike[str], *, replace: bool = False, remedy: str = "choose another name"
) -> Path:
    """Check that a directory can be made, before any work is done.

    Parameters
    ----------
    directory : path-like
    replace : bool
        An earlier output of pagecast may be there.
    remedy : str
        What to do about one that may not.

    Returns
    -------
    Path
        Absolute.

    Raises
    ------
    OutputError
        There is something else, or it cannot be written.
    """
    directory = check_path("directory", directory)
    if not directory:
        raise OutputError("the name of the directory for the results is empty")
    try:
        return _checked(directory, replace=replace, remedy=remedy)
    except (OSError, RuntimeError) as error:  # a name that is too long, links that lead to each other
        if isinstance(error, OutputError):
            raise
        reason = (isinstance(error, OSError) and error.strerror) or "a link that leads to itself"
        raise OutputError(f"{shown(directory)}: cannot be used ({reason}); {remedy}") from None


def _checked(directory: str | os.PathLike[str], *, replace: bool, remedy: str) -> Path:
    target = Path(directory).resolve()
    if target.exists() and not target.is_dir():
        raise OutputError(f"{shown(directory)}: is a file, and results need a directory; choose another name")
    if target.is_dir() and any(target.iterdir()):
        if not replace:
            raise OutputError(f"{shown(directory)}: is not empty; {remedy}")
        if not (target / PROVENANCE).is_file():
            raise OutputError(f"{shown(directory)}: holds more than results of pagecast; choose another name")
    parent = next(folder for folder in target.parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{shown(directory)}: {shown(parent)} cannot be written; choose another place")
    return target


@contextmanager
def new_directory(directory: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """Fill a directory that appears under its name when the block ends well, and not at all otherwise.

    Parameters
    ----------
    directory : path-like
    replace : bool
        Replace an earlier output of pagecast.

    Yields
    ------
    Path
        The directory to fill, a temporary sibling.

    Raises
    ------
    OutputError
        It cannot be written: in the way, read-only, disk full.
    """
    target = check_directory(directory, replace=replace)
    # Called what it will be before it is there: whoever is stopped right after making it removes it.
    folder = _sibling(target)
    made = _missing_parents(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        yield folder
        with finished_first():
            _put_in_place(folder, target)
            made.clear()
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{shown(directory)}: cannot be written ({reason}); nothing was kept") from error
    finally:
        with finished_first():
            shutil.rmtree(folder, ignore_errors=True)
            for parent in made:
                with suppress(OSError):  # somebody else has put something into it
                    parent.rmdir()


def _sibling(target: Path) -> Path:
    """Give a hidden name beside a file or directory that nobody else has."""
    return target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")


def _missing_parents(target: Path) -> list[Path]:
    """Give the directories above that are not there, the innermost first."""
    return [parent for parent in target.parents if not parent.exists()]


def _put_in_place(folder: Path, target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        folder.rename(target)  # an empty directory gives way to it
        return
    old = _sibling(target)
    target.rename(old)
    try:
        folder.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)


def write_file(path: str | os.PathLike[str], content: bytes, *, replace: bool = False) -> None:
    """Write a file that is whole, or is not there; one that is replaced stays until the new one is whole.

    Parameters
    ----------
    path : path-like
    content : bytes
    replace : bool
        Another file may be there.

    Raises
    ------
    OutputError
        It is there already, or cannot be written.
    """
    target = Path(path)
    try:
        if replace and target.exists() and not target.is_file():
            target.write_bytes(content)  # what is no file, such as /dev/stdout, cannot be replaced
            return
        final = Path(os.path.realpath(target)) if replace else target  # a link stays one
        new = _sibling(final) if replace else final
        with finished_first(), new.open("xb") as file:
            try:
                file.write(content)
                file.flush()
                if replace:
                    new.replace(final)
            except BaseException:
                new.unlink()
                raise
    except FileExistsError:
        raise OutputError(f"{shown(path)}: is there already; choose another name or add --force") from None
    except OSError as error:
        raise OutputError(f"{shown(path)}: cannot be written ({error.strerror}); nothing was kept") from None


def save_provenance(results: "Sequence[Result]", folder: Path) -> None:
    """Write what is needed to repeat the simulations.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario.
    folder : Path
    """
    models = [
        {
            "model": result.model,
            "options": result.options,
            "has_all_operations": result.has_all_operations,
        }
        for result in results
    ]
    text = json.dumps({**results[0].provenance, "models": models}, indent=2, ensure_ascii=False)
    (folder / PROVENANCE).write_text(text + "\n", encoding="utf-8")


def save_tables(result: "Result", folder: Path) -> None:
    """Write all tables as CSV, and as Parquet where pyarrow is installed.

    Parameters
    ----------
    result : Result
    folder : Path
    """
    with_parquet = find_spec("pyarrow") is not None
    for name in result.tables:
        table = result.table(name)
        save_csv(table, folder / f"{name}.csv")
        if with_parquet:
            _save_parquet(table, folder / f"{name}.parquet")


def save_csv(table: "Columns", path: Path) -> None:
    """Write a table as CSV, its texts such that no spreadsheet runs them.

    Parameters
    ----------
    table : Columns
    path : Path
    """
    columns = {
        name: list(map(quoted_cell, column)) if isinstance(table[name], list) else column
        for name, column in table.to_dict().items()
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins with one of these is a formula to a spreadsheet (OWASP, "CSV Injection")."""


def quoted_cell(text: str) -> str:
    """Keep a spreadsheet from running a text: with an apostrophe before it, it is one."""
    return f"'{text}" if text.startswith((*_RUN_BY_SPREADSHEETS, "'")) else text


def unquoted(cell: str) -> str:
    """Give the text that a cell of a CSV file of ours stands for."""
    return cell.removeprefix("'")


def _save_parquet(table: "Columns", path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Few different names, many rows: a dictionary of the names and indices into it is small.
    columns = {
        name: pa.array(table[name], pa.string()).dictionary_encode()
        if isinstance(table[name], list)
        else pa.array(table[name], from_pandas=True)  # NaN is null, as in JSON
        for name in table
    }
    with path.open("wb") as file:  # by its name, Arrow takes UTF-8 only
        pq.write_table(pa.table(columns), file)
