"""The tables of a validation, for the terminal and the report: verdicts, times of operations, levels."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from pagecast._core import format_bytes
from pagecast.arguments import counted
from pagecast.comparison.levels import Level, deviation_of_most, share_within
from pagecast.comparison.rows import MEASURED, TOTAL, Row
from pagecast.comparison.standing import Standing
from pagecast.comparison.tables import MOST_OPERATIONS, percent, seconds, signed_percent
from pagecast.comparison.verdicts import LevelVerdict
from pagecast.report.document import Table
from pagecast.validation import comparing, details
from pagecast.validation.case import Validated
from pagecast.validation.percentiles import FEWEST, NAMES, Percentile, percentiles

if TYPE_CHECKING:
    from pagecast.validation.outcome import Outcome
    from pagecast.validation.residency import CachedFile

__all__ = ["files_table", "latency_table", "levels_table", "operations_table", "verdicts_table"]

_ALWAYS_SHOWN: Final = ("p50", "p90", "p99")

_SHOWN: Final = {
    Standing.WITHIN: "within",
    Standing.BY_SPREAD: "within ±",
    Standing.NOT_JUDGED: "not judged",
    Standing.OUTSIDE: "OUTSIDE",
}


def verdicts_table(outcome: "Outcome") -> Table:
    """Make the table of cases: total times, errors, spread, levels, and whether all is within."""
    lines = [_verdict_line(outcome, each) for each in outcome.validated]
    models = [_heading(model) for model in outcome.models]
    return Table(
        title="Seconds in operations on files, and errors of their sum in %",
        columns=(
            "case",
            "verdict",
            "measured",
            "run\nqueue",
            "±%",
            "allowed\n%",
            *models,
            "dirty\nin %",
            "cached\nin %",
        ),
        rows=lines,
        text_columns=2,
        note=f"Means over {_counted(outcome)}, of all processes together. run queue: how much of measured "
        "they were ready to run and waited for a processor, which no forecast knows. ±%: half of (greatest "
        "- least), by the median. allowed: the tolerance of the case, or twice ±% if that is more. dirty, "
        f"cached: at how many of the samples {outcome.model} is within what is allowed of that level, the "
        "tolerance or what 95 % of the samples of another run are within if that is more; 95 % are asked "
        "for. within ±: only by what the runs differ; not judged, to be repeated when the machine is quiet: "
        "they differ too much, or only waiting for a processor keeps the time away from its forecast.",
    )


def _counted(outcome: "Outcome") -> str:
    most = max((len(each.measured) for each in outcome.validated), default=0)
    return counted(range(most), "run")


def _verdict_line(outcome: "Outcome", validated: Validated) -> Sequence[str]:
    name = validated.case.name
    verdict = next((one for one in outcome.verdicts if one.case == name), None)
    totals = [row for row in outcome.rows if row.case == name and row.operation == TOTAL]
    if verdict is None or not totals:
        return (name, "nothing to compare")
    measured = [row.measured_s for row in totals if row.model == outcome.model]
    return (
        name,
        _SHOWN[verdict.standing],
        seconds(float(np.mean(measured))),
        seconds(verdict.run_queue_s),
        _share(verdict.spread),
        percent(verdict.allowed),
        *(_error([row for row in totals if row.model == model]) for model in outcome.models),
        _level(verdict.dirty),
        _level(verdict.cached),
    )


def _level(level: LevelVerdict | None) -> str:
    return _share(None if level is None else level.share_allowed)


def operations_table(outcome: "Outcome", validated: Validated, *, most: int | None = None) -> Table:
    """Make the table of the operations of a case: means over the runs.

    Parameters
    ----------
    outcome : Outcome
    validated : Validated
    most : int, optional
        Show so many only, those that take longest.
    """
    case = validated.case.name
    points = comparing.by_operation(outcome.rows, case)
    shown = _longest(points, most)
    spreads = comparing.spreads(validated)
    known = details.by_operation(outcome.operations, case)
    lines = [
        (
            key[0] or "",
            key[1],
            known[key[0] or "", key[1]].path,
            known[key[0] or "", key[1]].call,
            seconds(_mean(next(iter(points[key].values())))),
            seconds(known[key[0] or "", key[1]].run_queue_s),
            _share(spreads[key]),
            _forecast_s(points[key].get(outcome.model, [])),
            *(_error(points[key].get(model, [])) for model in outcome.models),
        )
        for key in shown
    ]
    few = f" The {len(shown)} longest of {len(points)}." if len(shown) < len(points) else ""
    models = [f"{_heading(model)}\n%" for model in outcome.models]
    columns = ("process", "operation", "file", "call", "measured", "run\nqueue", "±%", outcome.model, *models)
    return Table(
        title=f"{case}: seconds of each operation, and errors in %",
        columns=columns,
        rows=lines,
        text_columns=3,
        note=f"Means over {_counted(outcome)}. call: bytes of each call. run queue: for how much of measured "
        "it was ready to run and waited for a processor, which no forecast knows. Operations that take under "
        f"1 ms count in the total only.{few}",
        is_long=most is None and len(lines) > MOST_OPERATIONS,
    )


def latency_table(outcome: "Outcome", validated: Validated, *, most: int | None = None) -> Table | None:
    """Make the table of percentiles of a case; None where nothing is done often enough.

    Parameters
    ----------
    outcome : Outcome
    validated : Validated
    most : int, optional
        Show so many operations only, those of which there are most.
    """
    found: dict[tuple[str, str, str], dict[str, dict[str, Percentile]]] = {}
    for one in percentiles(validated):
        key = (one.process, one.operation, one.path)
        found.setdefault(key, {}).setdefault(one.name, {})[one.model] = one
    if not found:
        return None
    tolerance = validated.case.tolerance
    judged = {name: of for name in NAMES if (of := getattr(tolerance, name)) is not None}
    allowed = ", ".join(f"{percent(of)} % of {_dotted(name)}" for name, of in judged.items())
    shown = [name for name in NAMES if name in judged or name in _ALWAYS_SHOWN]
    often = sorted(found, key=lambda key: _any(found[key]).n, reverse=True)[:most]
    lines = [
        (
            *key,
            f"{_any(found[key]).n:,}",
            *(
                cell
                for name in shown
                for cell in (
                    _microseconds(_any({name: found[key][name]}).measured_s) if name in found[key] else "",
                    *(
                        signed_percent(found[key][name][model].error)
                        if model in found[key].get(name, {})
                        else ""
                        for model in outcome.models
                    ),
                )
            ),
        )
        for key in often
    ]
    models = [_heading(model) for model in outcome.models]
    few = f" The {len(often)} of {len(found)} that are done most often." if len(often) < len(found) else ""
    return Table(
        title=f"{validated.case.name}: percentiles in microseconds, and errors in %",
        columns=("process", "operation", "file", "n", *_headings(shown, models)),
        rows=lines,
        text_columns=3,
        note=f"Of operations of which there are {FEWEST} or more; means over {_counted(outcome)}. Allowed "
        f"are {allowed}, or what runs differ.{few}",
        is_long=most is None and len(lines) > MOST_OPERATIONS,
    )


def _headings(names: Sequence[str], models: Sequence[str]) -> list[str]:
    return [each for name in names for each in (_dotted(name), *models)]


def _dotted(name: str) -> str:
    """Write "p99_9" as "p99.9"."""
    return name.replace("_", ".")


def _microseconds(time_s: float) -> str:
    return f"{1e6 * time_s:,.{1 if time_s < 1e-4 else 0}f}"


def _any(of_names: dict[str, dict[str, Percentile]]) -> Percentile:
    return next(iter(next(iter(of_names.values())).values()))


def _longest(
    points: dict[tuple[str | None, str], dict[str, list[Row]]], most: int | None
) -> list[tuple[str | None, str]]:
    """Choose the longest, and leave them in their order."""
    by_length = sorted(points, key=lambda key: _mean(next(iter(points[key].values()))), reverse=True)
    chosen = set(by_length[:most])
    return [key for key in points if key in chosen]


def levels_table(outcome: "Outcome", level: str) -> Table | None:
    """Make the table of dirty or cached memory over time, if anything is known of it."""
    all_of = outcome.dirty if level == "dirty" else outcome.cached
    whole = "dirty limit" if level == "dirty" else "memory"
    lines = []
    for each in outcome.validated:
        tolerance = each.case.tolerance.dirty if level == "dirty" else each.case.tolerance.cached
        for model in (*outcome.models, MEASURED):
            found = [one for one in all_of if one.case == each.case.name and one.model == model]
            if found:
                name = "another run" if model == MEASURED else model
                lines.append((each.case.name, name, *_deviations(found, tolerance)))
    if not lines:
        return None
    what = "Dirty memory and pages under writeback" if level == "dirty" else "Cached memory"
    return Table(
        title=f"{what}: deviations in % of the {whole}",
        columns=("case", "against", "tolerance", "within %", "95 %\nwithin", "mean", "greatest", "samples"),
        rows=lines,
        text_columns=2,
        note="Of the scenario's files, all runs. A sample deviates by its distance from the range of the "
        "forecast within 0.2 s. within: at how many of the samples that is no more than the tolerance. 95 "
        "% within: what 95 % of the samples deviate by at most. another run: one run against the next, "
        "which is the measurement's own spread; what 95 % are within there is allowed to a forecast too.",
    )


def files_table(outcome: "Outcome") -> Table | None:
    """Make the table of cached bytes of each file at the end, if any model knows them."""
    by_file: dict[tuple[str, str], dict[str, list[CachedFile]]] = {}
    for file in outcome.files:
        if file.index < 0:
            by_file.setdefault((file.case, file.path), {}).setdefault(file.model, []).append(file)
    if not by_file:
        return None
    models = [model for model in outcome.models if any(model in of for of in by_file.values())]
    lines = [
        (
            *key,
            format_bytes(round(np.mean([one.measured_bytes for one in next(iter(of.values()))]))),
            *(cell for model in models for cell in _cached(of.get(model, []))),
        )
        for key, of in by_file.items()
    ]
    return Table(
        title="Cached of each file at the end, and deviation in % of the memory",
        columns=("case", "file", "measured", *(name for model in models for name in (model, "%"))),
        rows=lines,
        text_columns=2,
        note=f"Means over {_counted(outcome)}.",
    )


def _cached(files: "Sequence[CachedFile]") -> tuple[str, str]:
    if not files:
        return "", ""
    forecast = round(np.mean([file.forecast_bytes for file in files]))
    return format_bytes(forecast), signed_percent(float(np.mean([file.deviation for file in files])))


def _deviations(levels: Iterable[Level], tolerance: float) -> tuple[str, ...]:
    levels = list(levels)
    away = np.concatenate([level.deviations for level in levels])
    share = share_within(levels, tolerance) or 0.0
    most = deviation_of_most(levels) or 0.0
    mean, greatest = float(away.mean()), float(away.max())
    return *map(percent, (tolerance, share, most, mean, greatest)), str(len(away))


def _mean(rows: Sequence[Row]) -> float:
    return float(np.mean([row.measured_s for row in rows]))


def _forecast_s(rows: Sequence[Row]) -> str:
    return seconds(float(np.mean([row.forecast_s for row in rows]))) if rows else ""


def _error(rows: Sequence[Row]) -> str:
    """Write the error of the sum over the runs."""
    if not rows:
        return ""
    return f"{100 * (sum(row.forecast_s for row in rows) / sum(row.measured_s for row in rows) - 1):+.0f}"


def _heading(model: str) -> str:
    """Break a long name."""
    return model.replace("-", "-\n")


def _share(fraction: float | None) -> str:
    return "?" if fraction is None else percent(fraction)
