"""Reads the tables that ``--out`` or `Result.save` has written, as far as an explanation needs them."""

import csv
import json
import math
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from pagecast.arguments import check_path, shown
from pagecast.errors import ArgumentError, OutputError
from pagecast.export import PROVENANCE, unquoted
from pagecast.result import Columns

__all__ = ["SavedResult", "read_saved"]

_TEXTS: Final = frozenset(
    {
        "process",
        "host",
        "operation",
        "path",
        "part",
        "behind_process",
        "behind_path",
        "device",
        "cgroup",
        "event",
    }
)
_REAL: Final = ("_s", "utilisation", "mean_depth")
"""Ends of the names of columns that are no whole numbers; the others are bytes and counts."""

_EMPTY: Final = {
    "waits": ("process", "index", "part", "behind_process", "behind_path", "waited_s"),
    "at_risk": ("time_s", "host", "device"),
}
"""Columns of tables that another model or a real run does not have, or that were not asked for."""


class SavedResult:
    """The tables of one model, or of a real run, in a folder.

    Parameters
    ----------
    folder : Path
        It holds ``operations.csv``.
    model : str
        "measured" for a real run.
    has_all_operations : bool
        Whether each operation has a row.
    """

    def __init__(self, folder: Path, model: str, has_all_operations: bool) -> None:
        self._folder = folder
        self.model = model
        self.has_all_operations = has_all_operations
        self.events_left_out = 0
        self.cgroups: tuple[str, ...] = ()

    @property
    def made_by(self) -> str:
        """How figures and tables call it."""
        return "measured" if self.model == "measured" else f"forecast by {self.model}"

    @property
    def changes_evenly(self) -> bool:
        """Whether levels change evenly between the rows of `timeline`."""
        return self.model in ("kernel", "measured")

    @cached_property
    def end_s(self) -> float:
        """When the last operation or the last level ends."""
        ends = [self.operations["end_s"], self.timeline["time_s"]]
        return max(float(each.max(initial=0.0)) for each in ends)

    @cached_property
    def operations(self) -> Columns:
        """As `Result.operations`."""
        return self._table("operations")

    @cached_property
    def parts(self) -> Columns:
        """As `Result.parts`."""
        return self._table("parts")

    @cached_property
    def waits(self) -> Columns:
        """As `Result.waits`."""
        return self._table("waits")

    @cached_property
    def at_risk(self) -> Columns:
        """As `Result.at_risk`."""
        return self._table("at_risk")

    @cached_property
    def timeline(self) -> Columns:
        """As `Result.timeline`."""
        return self._table("timeline")

    @cached_property
    def devices(self) -> Columns:
        """As `Result.devices`."""
        return self._table("devices")

    @cached_property
    def events(self) -> Columns:
        """As `Result.events`."""
        return self._table("events")

    def _table(self, name: str) -> Columns:
        path = self._folder / f"{name}.csv"
        try:
            with path.open(encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            columns = zip(*rows, strict=True) if rows else [() for _ in header]
            return Columns({of: _column(of, cells) for of, cells in zip(header, columns, strict=True)})
        except FileNotFoundError:
            if name in _EMPTY:
                return Columns({of: _column(of, ()) for of in _EMPTY[name]})
            raise OutputError(f"{shown(path)}: there is no such table; make the output again") from None
        except (OSError, ValueError, csv.Error) as error:
            raise OutputError(
                f"{shown(path)}: cannot be understood ({error}); make the output again"
            ) from error


def read_saved(folder: str | os.PathLike[str], model: str | None = None) -> SavedResult:
    """Read a folder that ``pagecast simulate --out``, ``pagecast run --out`` or `Result.save` has made.

    Parameters
    ----------
    folder : path-like
    model : str, optional
        Which of several; by default ``kernel`` if it is there, else the first.

    Returns
    -------
    SavedResult

    Raises
    ------
    OutputError
        The folder holds no tables of operations.
    ArgumentError
        It holds none of this model.
    """
    path = Path(check_path("folder", folder))
    found = {each.parent.name: each.parent for each in sorted(path.glob("*/operations.csv"))}
    described = _described(path)
    if (path / "operations.csv").is_file():
        described = described or _described(path.parent)
        name = next(iter(described), path.name) if len(described) == 1 else path.name
        found = {name: path}
    if not found:
        raise OutputError(f"{shown(path)}: holds no tables; name what `pagecast simulate --out` has made")
    chosen = model or ("kernel" if "kernel" in found else next(iter(found)))
    if chosen not in found:
        raise ArgumentError(f"{shown(path)}: there is no `{shown(chosen)}`; there are {', '.join(found)}")
    return SavedResult(found[chosen], chosen, described.get(chosen, True))


def _described(folder: Path) -> dict[str, bool]:
    """Give the models that a folder describes, and whether each operation of them has a row."""
    try:
        models = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))["models"]
        return {each["model"]: each["has_all_operations"] for each in models}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _column(name: str, cells: "tuple[str, ...]") -> Any:
    if name in _TEXTS:
        return [unquoted(cell) for cell in cells]
    if name.endswith(_REAL):
        return np.array([float(cell) if cell else math.nan for cell in cells], dtype=np.float64)
    return np.array([int(float(cell)) if cell else 0 for cell in cells], dtype=np.int64)
