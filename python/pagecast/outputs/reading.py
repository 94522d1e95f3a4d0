"""The times of operations in a folder that ``--out`` has made.

Of `simulate` and `run` these are the tables of operations, one for each model; of `validate` and `reproduce`
the rows of ``results.json``, measured and forecast, as means over the repetitions. Operations are those on
files, under the names that `validate` gives them.
"""

import csv
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Final

from pagecast.arguments import shown
from pagecast.comparison.operations import Operation, names, operations
from pagecast.comparison.rows import MEASURED, TOTAL
from pagecast.errors import OutputError
from pagecast.export import PROVENANCE, unquoted
from pagecast.result import Columns

__all__ = ["Key", "Output", "Times", "read"]

Key = tuple[str, str, str]
"""A case ("" of `simulate` and `run`), a process and an operation: ("c_read", "app", "read 1")."""

_TABLE: Final = "operations.csv"
_RESULTS: Final = "results.json"


@dataclass(frozen=True, slots=True)
class Times:
    """The forecast of one model, or the measurement.

    Attributes
    ----------
    seconds : dict
        Of each operation on a file.
    totals_s : dict
        Of each case, of all processes together.
    paths : dict
        The file of each operation, as far as the folder tells it.
    call_bytes : dict
        The bytes of a call of it, the same.
    """

    seconds: Mapping[Key, float]
    totals_s: Mapping[str, float]
    paths: Mapping[Key, str] = field(default_factory=dict)
    call_bytes: Mapping[Key, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """A folder; `times` are by the name of the model, "measured" for what was."""

    name: str
    times: Mapping[str, Times]
    provenance: Mapping[str, Any]


def read(folder: str | os.PathLike[str]) -> Output:
    """Read a folder that ``--out`` has made.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    Output

    Raises
    ------
    OutputError
        It is not there, or holds no times of operations.
    """
    path, name = Path(folder), shown(folder)
    if path.is_file():
        raise OutputError(f"{name}: is a file; name the directory that --out has made")
    if not path.is_dir():
        raise OutputError(f"{name}: there is no such directory; check the name")
    try:
        text = (path / PROVENANCE).read_text(encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{name}: is no output of pagecast; name what --out has made") from error
    except UnicodeDecodeError as error:
        raise _cannot(path / PROVENANCE, error) from error
    provenance = _mapping(path / PROVENANCE, text)
    results = path / _RESULTS
    times = _of_results(results) if results.is_file() else _of_tables(path)
    if not times:
        raise OutputError(
            f"{name}: holds no times of operations; name the output of simulate, run or validate"
        )
    return Output(name, times, provenance)


def _cannot(path: Path, why: object) -> OutputError:
    return OutputError(f"{shown(path)}: cannot be understood ({why}); make the output again")


def _mapping(path: Path, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise _cannot(path, error) from error
    if not isinstance(found, dict):
        raise _cannot(path, "it is no object")
    return found


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not math.isfinite(seconds):
        raise ValueError(f"{value} is no time")
    return seconds


# Of simulate and run ------------------------------------------------------------------------------------


def _of_tables(folder: Path) -> dict[str, Times]:
    tables = sorted(folder.glob(f"*/{_TABLE}"))
    return {table.parent.name: _of_table(table) for table in tables}


def _of_table(path: Path) -> Times:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if any(None in row.values() for row in rows):
            raise ValueError("a row is too short")
        table = Columns(
            {
                "process": [unquoted(row["process"]) for row in rows],
                "operation": [row["operation"] for row in rows],
                "path": [unquoted(row["path"]) for row in rows],
                "index": [int(row["index"]) for row in rows],
                "duration_s": [_seconds(row["duration_s"]) for row in rows],
                "call_bytes": [int(row.get("call_bytes") or 0) for row in rows],
            }
        )
    except KeyError as error:
        raise _cannot(path, f"there is no column {error}") from error
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise _cannot(path, error) from error
    called, seconds = names(table), operations(table)
    columns = (table[name] for name in ("process", "index", "path", "call_bytes"))
    details = {(process, index): of for process, index, *of in zip(*columns, strict=True)}
    keys: dict[Key, Operation] = {("", at[0], called[at]): at for at in seconds}
    return Times(
        {key: seconds[at] for key, at in keys.items()},
        {"": sum(seconds.values())},
        {key: details[at][0] for key, at in keys.items()},
        {key: details[at][1] for key, at in keys.items()},
    )


# Of validate and reproduce ------------------------------------------------------------------------------


def _of_results(path: Path) -> dict[str, Times]:
    try:
        document = _mapping(path, path.read_text(encoding="utf-8"))
        rows: Sequence[Mapping[str, Any]] = document.get("rows", ())
        experiments = {row["experiment"] for row in rows}
        details = document.get("operations", ())
        paths = {_key(row, row["case"]): str(row["path"]) for row in details}
        calls = {_key(row, row["case"]): int(row["call_bytes"]) for row in details}
        by_model: dict[str, dict[Key, list[Mapping[str, Any]]]] = {}
        for row in rows:
            case = row["case"] if len(experiments) == 1 else f"{row['experiment']} {row['case']}"
            by_model.setdefault(row["model"], {}).setdefault(_key(row, case), []).append(row)
        if not by_model:
            return {}
        columns = {MEASURED: (next(iter(by_model.values())), "measured_s")}
        columns |= {model: (of, "forecast_s") for model, of in by_model.items()}
        return {
            name: _times(
                {key: mean(_seconds(row[column]) for row in found) for key, found in of.items()}, paths, calls
            )
            for name, (of, column) in columns.items()
        }
    except KeyError as error:
        raise _cannot(path, f"there is no {error}") from error
    except (OSError, ValueError, TypeError) as error:
        raise _cannot(path, error) from error


def _key(row: Mapping[str, Any], case: str) -> Key:
    return case, row["process"] or "", row["operation"]


def _times(means: Mapping[Key, float], paths: Mapping[Key, str], calls: Mapping[Key, int]) -> Times:
    seconds = {key: time_s for key, time_s in means.items() if key[2] != TOTAL}
    totals: dict[str, float] = {}
    for (case, _, _), time_s in seconds.items():
        totals[case] = totals.get(case, 0.0) + time_s
    # What is too short for a row is in the total of a validation all the same.
    totals |= {case: time_s for (case, _, operation), time_s in means.items() if operation == TOTAL}
    return Times(seconds, totals, paths, calls)
