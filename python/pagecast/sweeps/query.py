"""Asks a sweep on a disk in SQL, with DuckDB; the table is called ``sweep``."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagecast.arguments import check_path, check_text, shown
from pagecast.errors import ArgumentError, OutputError
from pagecast.extras import require
from pagecast.sweeps.dataset import part_files, read_manifest

__all__ = ["Answer", "query"]


@dataclass(frozen=True)
class Answer:
    """Rows, and the names of their columns.

    Attributes
    ----------
    columns : tuple of str
    rows : sequence of tuple
        NULL is None.
    units : mapping of str to str
        Of the columns of the sweep.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    units: Mapping[str, str]


def query(directory: str | os.PathLike[str], sql: str) -> Answer:
    """Ask a sweep.

    Parameters
    ----------
    directory : path-like
        As ``--out`` made it; it need not be whole.
    sql : str
        One statement.

    Returns
    -------
    Answer

    Raises
    ------
    ArgumentError
        DuckDB does not understand the statement.
    OutputError
        There is no sweep, or no row of it yet.
    MissingPackageError
        duckdb is not installed.
    """
    folder = Path(check_path("directory", directory))
    require("duckdb", "sweep", "a query")
    import duckdb

    manifest = read_manifest(folder)
    units = {each["column"]: each["unit"] for each in (*manifest["design"]["axes"], *manifest["measures"])}
    parts = [str(path) for path in part_files(folder)]
    if not parts:
        raise OutputError(f"{shown(folder)}: no point is there yet; the command that made it goes on")
    with duckdb.connect() as connection:
        try:
            connection.read_parquet(parts).create("sweep")
            connection.execute(check_text("sql", sql))
            rows = connection.fetchall()
        except duckdb.Error as error:
            # Below the first line DuckDB draws where it is.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            hints = [line for line in lines[1:] if line.startswith(("Candidate", "Did you mean"))]
            said = "; ".join([*lines[:1], *hints]) or type(error).__name__
            raise ArgumentError(f"the query failed: {said}") from None
        names = tuple(column[0] for column in connection.description or ())
    return Answer(names, rows, units)
