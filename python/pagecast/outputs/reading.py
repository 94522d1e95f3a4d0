"""The times of operations in a folder that ``--out`` has made.

Of `simulate` and `run` these are the tables of operations, one for each model; of `validate` and `reproduce`
the rows of ``results.json``, measured and forecast, as means over the repetitions. Operations are those on
files, under the names that `validate` gives them.
"""

import csv
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any, Final

from pagecast.arguments import shown
from pagecast.comparison.operations import Operation, names, operations
from pagecast.comparison.rows import MEASURED, TOTAL
from pagecast.errors import OutputError
from pagecast.export import PROVENANCE, unquoted
from pagecast.outputs.percentiles import (
    PercentileKey,
    Percentiles,
    checked_seconds,
    of_results,
    of_table,
)
from pagecast.result import Columns

__all__ = ["Key", "Output", "Times", "read"]

Key = tuple[str, str, str]
"""A case ("" of `simulate` and `run`), a process and an operation: ("c_read", "app", "read 1")."""

_TABLE: Final = "operations.csv"
_LATENCY: Final = "latency.csv"
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
    percentiles : dict
        Of operations that are done often, by case, process, kind and path.
    """

    seconds: Mapping[Key, float]
    totals_s: Mapping[str, float]
    paths: Mapping[Key, str] = field(default_factory=dict)
    call_bytes: Mapping[Key, int] = field(default_factory=dict)
    percentiles: Mapping[PercentileKey, Percentiles] = field(default_factory=dict)


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
    times = _of_results(results) if results.is_file() else _of_tables(path, _slow_alone(provenance))
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


# Of simulate and run ------------------------------------------------------------------------------------


def _slow_alone(provenance: Mapping[str, Any]) -> set[str]:
    """Give the models of which slow operations alone have rows, as ``--record`` asked."""
    models = provenance.get("models", ())
    return {of["model"] for of in models if isinstance(of, dict) and of.get("has_all_operations") is False}


def _of_tables(folder: Path, slow_alone: Collection[str]) -> dict[str, Times]:
    found = {}
    for table in sorted(folder.glob(f"*/{_TABLE}")):
        model = table.parent.name
        latency, total_s = _of_latency(table.with_name(_LATENCY))
        if model in slow_alone:
            # Which of its kind an operation is cannot be told without rows of all.
            found[model] = Times({}, {"": total_s}, percentiles=latency)
        else:
            found[model] = replace(_of_table(table), percentiles=latency)
    return found


def _of_latency(path: Path) -> tuple[dict[PercentileKey, Percentiles], float]:
    if not path.is_file():
        return {}, 0.0
    try:
        return of_table(path)
    except KeyError as error:
        raise _cannot(path, f"there is no column {error}") from error
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise _cannot(path, error) from error


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
                "duration_s": [checked_seconds(row["duration_s"]) for row in rows],
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
        percentiles: Sequence[Mapping[str, Any]] = document.get("percentiles", ())
        return {
            name: replace(
                _times({key: _mean(found, column) for key, found in of.items()}, paths, calls),
                percentiles=of_results(percentiles, column, None if name == MEASURED else name),
            )
            for name, (of, column) in columns.items()
        }
    except KeyError as error:
        raise _cannot(path, f"there is no {error}") from error
    except (OSError, ValueError, TypeError) as error:
        raise _cannot(path, error) from error


def _mean(rows: Sequence[Mapping[str, Any]], column: str) -> float:
    return mean(checked_seconds(row[column]) for row in rows)


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
