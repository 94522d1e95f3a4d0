"""Recordings: CSV files, gzipped or not, in a folder that ``--data`` names."""

import csv
import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pagecast.errors import StudyError

__all__ = ["chosen_of", "find", "needed", "records"]

_Platform = TypeVar("_Platform")
_Record = TypeVar("_Record")


def find(folder: Path, name: str) -> Path | None:
    """Find a table by its name without endings, ``io.csv.gz`` or ``io.csv`` for "io"."""
    candidates = (folder / f"{name}.csv.gz", folder / f"{name}.csv")
    return next((path for path in candidates if path.is_file()), None)


def chosen_of(found: Mapping[str, _Platform], named: Sequence[str]) -> list[_Platform]:
    """Give the platforms of recordings that are named, or all; a `StudyError` names one that is not there."""
    if unknown := [name for name in named if name not in found]:
        raise StudyError(f"the recordings have no platform {unknown[0]!r}; they have {', '.join(found)}")
    return [platform for name, platform in found.items() if name in named or not named]


def needed(folder: Path, name: str) -> Path:
    """Find a table by its name without endings; a `StudyError` says if it is not there."""
    path = find(folder, name)
    if path is None:
        raise StudyError(
            f"{folder}: no {name}.csv.gz in it; --data wants the folder of recordings "
            "that the study's README describes, and can be left out"
        )
    return path


def records(path: Path, read: Callable[[dict[str, str]], _Record]) -> list[_Record]:
    """Read a table row by row.

    Parameters
    ----------
    path : Path
        Ends in ``.gz`` if it is compressed.
    read : callable
        Makes a record of a row, whose values are texts by column.

    Raises
    ------
    StudyError
        The file cannot be read, or a row is malformed; the message names the line.
    """
    return list(_read(path, read))


def _read(path: Path, read: Callable[[dict[str, str]], _Record]) -> Iterator[_Record]:
    line = 1
    try:
        with (
            gzip.open(path, "rt", newline="", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(newline="", encoding="utf-8")
        ) as file:
            rows = csv.DictReader(file)
            for row in rows:
                line = rows.line_num
                yield read(row)
    except KeyError as error:
        raise StudyError(f"{path}: has no column {error}; the study's README says what it needs") from error
    except (OSError, EOFError, TypeError, ValueError) as error:
        raise StudyError(f"{path}:{line}: cannot be read as a recording ({error})") from error
