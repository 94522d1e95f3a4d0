"""The tables in the folder of ``--data``: figures that were published of machines which are not ours."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pagecast.errors import StudyError

if TYPE_CHECKING:
    from pagecast.studies.skeleton import Asked

__all__ = ["Record", "folder_of", "number", "read", "whole"]

Record = dict[str, str]


def folder_of(asked: "Asked") -> Path:
    """Give the folder of the published figures, which say what the machines are.

    Raises
    ------
    StudyError
        None was named, or a machine was.
    """
    name = asked.study.name
    if asked.machine is not None:
        raise StudyError(
            f"{name} has its machines from the published cases; leave --machine {asked.machine} out"
        )
    if asked.data is None:
        raise StudyError(f"{name} needs the published figures; name their folder with --data DIR")
    return asked.data


def read(folder: Path, name: str, columns: tuple[str, ...]) -> list[Record]:
    """Read a table.

    Parameters
    ----------
    folder : Path
    name : str
    columns : tuple of str
        That it must have.

    Raises
    ------
    StudyError
        The table is not there, or a column of it.
    """
    path = folder / name
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            records = list(reader)
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
    except FileNotFoundError:
        raise StudyError(
            f"{path}: there is no such table; --data wants the folder that the study's README describes"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path}: cannot be read ({error}); --data wants the study's tables") from error
    if missing:
        raise StudyError(f"{path}: there is no column {missing[0]}; it needs {', '.join(columns)}")
    return records


def whole(record: Record, column: str, where: str) -> int:
    """Give a whole number.

    Raises
    ------
    StudyError
        It is none; the message begins with `where`.
    """
    try:
        return int(record[column])
    except ValueError as error:
        raise StudyError(f"{where}: {column} is {record[column]!r}, which is no whole number") from error


def number(record: Record, column: str, where: str) -> float:
    """Give a number.

    Raises
    ------
    StudyError
        It is none; the message begins with `where`.
    """
    try:
        return float(record[column])
    except ValueError as error:
        raise StudyError(f"{where}: {column} is {record[column]!r}, which is no number") from error
