"""The tables in the folder of ``--data``."""

import csv
from pathlib import Path

from pagecast.errors import StudyError

__all__ = ["Record", "read", "whole"]

Record = dict[str, str]


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
