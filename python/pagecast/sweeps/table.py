"""The table of a sweep with what its columns mean; figures are drawn from it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pagecast.arguments import check_path, shown
from pagecast.errors import ArgumentError, OutputError
from pagecast.extras import require
from pagecast.result import Columns

__all__ = ["KeyColumn", "MeasureColumn", "SweepTable", "load_table"]


@dataclass(frozen=True)
class KeyColumn:
    """A column of a key that was varied.

    Attributes
    ----------
    column, key, unit : str
    is_log : bool
        Whether it was varied in equal factors.
    """

    column: str
    key: str
    unit: str
    is_log: bool = False


@dataclass(frozen=True)
class MeasureColumn:
    """A column of a measure.

    Attributes
    ----------
    column, text, unit : str
    more_is_better : bool
    """

    column: str
    text: str
    unit: str
    more_is_better: bool = False


@dataclass(frozen=True)
class SweepTable:
    """The rows of a sweep, and what its columns mean.

    Attributes
    ----------
    keys : tuple of KeyColumn
    measures : tuple of MeasureColumn
    columns : Columns
        With columns of the same names; NaN where a point failed.
    model : str
    is_sample : bool
        Whether points were drawn; if not, they are a grid.
    """

    keys: tuple[KeyColumn, ...]
    measures: tuple[MeasureColumn, ...]
    columns: Columns
    model: str
    is_sample: bool = False

    def key(self, name: str) -> KeyColumn:
        """Give the column of a key by the key or by the name of the column."""
        return self.keys[_place(name, "key", [(each.column, each.key) for each in self.keys])]

    def measure(self, name: str) -> MeasureColumn:
        """Give the column of a measure by its text or by the name of the column."""
        return self.measures[_place(name, "measure", [(each.column, each.text) for each in self.measures])]

    def is_numeric(self, key: KeyColumn) -> bool:
        """Tell whether the values of a key are numbers, and not texts or flags."""
        values = self.columns[key.column]
        return not isinstance(values, list) and values.dtype.kind in "if"


def _place(name: str, what: str, known: Sequence[tuple[str, str]]) -> int:
    """Find a column by its name or its text, blanks left out."""
    plain = "".join(name.split())
    for place, (column, text) in enumerate(known):
        if name == column or plain == "".join(text.split()):
            return place
    there = ", ".join(text for _, text in known)
    raise ArgumentError(f"there is no {what} `{shown(name)}` in this sweep; there are {there}")


def load_table(directory: str | os.PathLike[str]) -> SweepTable:
    """Read the table of a sweep on a disk, of the points that are there.

    Parameters
    ----------
    directory : path-like
        As ``--out`` made it.

    Returns
    -------
    SweepTable

    Raises
    ------
    OutputError
        There is no sweep, or no row of it yet.
    MissingPackageError
        pyarrow is not installed.
    """
    require("pyarrow", "sweep", "a data set")
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pagecast.sweeps.dataset import part_files, read_manifest

    folder = Path(check_path("directory", directory))
    manifest = read_manifest(folder)
    parts = part_files(folder)
    if not parts:
        raise OutputError(f"{shown(folder)}: no point is there yet; the command that made it goes on")
    try:
        table = pa.concat_tables([pq.read_table(part) for part in parts])
        design = manifest["design"]
        keys = [
            KeyColumn(axis["column"], axis["key"], axis["unit"], axis["is_log"]) for axis in design["axes"]
        ]
        measures = [
            MeasureColumn(each["column"], each["measure"], each["unit"], each["more_is_better"])
            for each in manifest["measures"]
        ]
        columns = {
            name: table[name].to_pylist()
            if pa.types.is_string(table.schema.field(name).type)
            else table[name].to_numpy()
            for name in ["point", *(key.column for key in keys), *(each.column for each in measures)]
        }
        return SweepTable(
            tuple(keys),
            tuple(measures),
            Columns(columns),
            manifest["provenance"]["model"],
            is_sample=bool(design["sample"]),
        )
    except (KeyError, TypeError, OSError, pa.ArrowInvalid) as error:
        raise OutputError(f"{shown(folder)}: is no sweep of this version ({error})") from None
