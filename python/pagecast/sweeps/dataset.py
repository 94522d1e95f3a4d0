"""A sweep on a disk: ``sweep.json``, and ``points``, a Parquet data set in parts.

A part holds the same points however many workers there are, and appears whole. A sweep that was stopped goes
on with the parts that are missing.
"""

import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pagecast.arguments import shown
from pagecast.errors import OutputError
from pagecast.export import write_file
from pagecast.extras import require
from pagecast.sweeps.plan import SweepPlan

__all__ = ["MANIFEST", "Dataset", "part_files", "read_manifest"]

MANIFEST = "sweep.json"
"""The file by which a directory is known to hold a sweep."""

POINTS = "points"
"""The directory of the parts: it holds nothing else, so that other tools read it as one table."""

_PART = re.compile(r"part-\d{6}\.parquet")
_MOST_PARTS = 256

_TYPES = {"s": "float64", "share": "float64", "bytes_per_s": "float64", "bytes": "int64", "": "int64"}
"""Of measures, by unit."""


class Dataset:
    """The parts of a sweep, and those that are still missing.

    Parameters
    ----------
    folder : Path
    plan : SweepPlan
    """

    def __init__(self, folder: Path, plan: SweepPlan) -> None:
        self._folder = folder
        self._plan = plan
        count = len(plan.design.points)
        self._types = _types(plan)
        self._size = -(-count // _MOST_PARTS)
        self._count = count
        self._pending: dict[int, dict[int, tuple[Any, ...]]] = {}
        self._whole = {part for part in range(-(-count // self._size)) if self._is_whole(part)}

    @classmethod
    def begin(cls, folder: Path, plan: SweepPlan, *, force: bool = False) -> "Dataset":
        """Make a directory for a sweep, or find what is there of it.

        Parameters
        ----------
        folder : Path
        plan : SweepPlan
        force : bool
            Begin anew where there is another sweep, or a part of this one.

        Returns
        -------
        Dataset

        Raises
        ------
        OutputError
            Something else is there, or it cannot be written.
        MissingPackageError
            pyarrow is not installed.
        """
        require("pyarrow", "sweep", "a data set")
        try:
            if folder.exists() and not folder.is_dir():
                raise OutputError(
                    f"{shown(folder)}: is a file, and results need a directory; choose another name"
                )
            folder.mkdir(parents=True, exist_ok=True)
            names = os.listdir(folder)
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            reason = error.strerror or error
            raise OutputError(f"{shown(folder)}: cannot be used ({reason}); choose another place") from None
        if MANIFEST in names:
            _check_same(folder, plan, force=force)
        elif names:
            raise OutputError(f"{shown(folder)}: is not empty, and holds no sweep; choose another name")
        if force:
            _clear(folder)
        if force or MANIFEST not in names:
            text = json.dumps(_manifest(plan), indent=1, ensure_ascii=False, allow_nan=False)
            write_file(folder / MANIFEST, (text + "\n").encode("utf-8", "backslashreplace"), replace=True)
        try:
            (folder / POINTS).mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{shown(folder / POINTS)}: cannot be made ({error.strerror})") from None
        return cls(folder, plan)

    @property
    def missing(self) -> list[int]:
        """The points that are in no part yet."""
        return [point for point in range(self._count) if point // self._size not in self._whole]

    def add(self, row: tuple[Any, ...]) -> None:
        """Take the row of a point; its part is written when all of its points are there.

        Parameters
        ----------
        row : tuple
            As of `Sweep`.

        Raises
        ------
        OutputError
            The part cannot be written.
        """
        part = row[0] // self._size
        if part in self._whole:
            return
        rows = self._pending.setdefault(part, {})
        rows[row[0]] = row
        if len(rows) == len(self._points(part)):
            self._write(part, [rows[point] for point in sorted(rows)])
            del self._pending[part]
            self._whole.add(part)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Give the rows of all parts that are there, in the order of the points."""
        import pyarrow.parquet as pq

        for part in sorted(self._whole):
            for row in pq.read_table(self._path(part)).to_pylist():
                values = list(row.values())
                yield (*values[:-1], values[-1] or "")

    def _points(self, part: int) -> range:
        return range(part * self._size, min((part + 1) * self._size, self._count))

    def _path(self, part: int) -> Path:
        return self._folder / POINTS / f"part-{part:06}.parquet"

    def _is_whole(self, part: int) -> bool:
        """Tell whether a part is there; one that a power cut has left empty is not."""
        import pyarrow.parquet as pq

        with suppress(OSError, ValueError):
            return bool(pq.read_metadata(self._path(part)).num_rows == len(self._points(part)))
        return False

    def _write(self, part: int, rows: Sequence[tuple[Any, ...]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = self._types
        arrays = [
            pa.array([row[number] or None if name == "error" else row[number] for row in rows], types[name])
            for number, name in enumerate(self._plan.columns)
        ]
        content = io.BytesIO()
        pq.write_table(pa.table(dict(zip(self._plan.columns, arrays, strict=True))), content)
        try:
            write_file(self._path(part), content.getvalue(), replace=True)
        except OutputError as error:
            said = str(error).removesuffix("; nothing was kept")
            raise OutputError(f"{said}; other parts stay, and the same command goes on there") from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read ``sweep.json``.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict

    Raises
    ------
    OutputError
        There is no sweep.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise OutputError(
            f"{shown(folder)}: holds no sweep; make one with pagecast sweep SCENARIO --out {shown(folder)}"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"{shown(folder / MANIFEST)}: cannot be read ({reason})") from None
    if not isinstance(manifest, dict) or not {"digest", "design", "measures"} <= manifest.keys():
        raise OutputError(f"{shown(folder / MANIFEST)}: is no manifest of a sweep")
    return manifest


def part_files(folder: Path) -> list[Path]:
    """Give the parts that are there, in the order of their points."""
    with suppress(FileNotFoundError):
        return sorted(path for path in (folder / POINTS).iterdir() if _PART.fullmatch(path.name))
    return []


def _manifest(plan: SweepPlan) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "digest": plan.digest,
        "provenance": plan.provenance,
        "set": plan.task.overrides,
        "design": plan.design.to_dict(),
        "measures": [
            {
                "column": measure.name,
                "measure": measure.text,
                "unit": measure.unit,
                "more_is_better": measure.more_is_better,
            }
            for measure in plan.task.measures
        ],
        "columns": plan.columns,
        "scenario": plan.task.text.decode(errors="backslashreplace"),
    }


def _check_same(folder: Path, plan: SweepPlan, *, force: bool) -> None:
    if not force and read_manifest(folder)["digest"] != plan.digest:
        raise OutputError(
            f"{shown(folder)}: holds another sweep (of another scenario, design, measure, seed or version); "
            "choose another name or add --force"
        )


def _clear(folder: Path) -> None:
    for path in [folder / MANIFEST, *part_files(folder)]:
        path.unlink(missing_ok=True)


def _types(plan: SweepPlan) -> dict[str, Any]:
    import pyarrow as pa

    types = {"point": pa.int64(), "error": pa.string()}
    for number, name in enumerate(plan.design.names):
        values = [point[number].value for point in plan.design.points]
        kinds = {type(value) for value in values}
        kind = bool if kinds == {bool} else str if str in kinds else float if float in kinds else int
        types[name] = {bool: pa.bool_(), str: pa.string(), float: pa.float64(), int: pa.int64()}[kind]
    for measure in plan.task.measures:
        types[measure.name] = getattr(pa, _TYPES[measure.unit])()
    return types
