"""Runs held against their forecasts: rows of times, and a verdict on each case.

A program that time ends makes more operations on one machine than on another. Where runs and forecasts have
not the same operations, the n-th one is not that of another run: then the operations of each kind of a
process are compared in sum, their mean times as often as the run made them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pagecast.comparison.levels import Level, deviation_of_most, share_within
from pagecast.comparison.operations import LEAST_S, Operation, names, operations, total_s
from pagecast.comparison.rows import MEASURED, TOTAL, Row
from pagecast.comparison.standing import Check
from pagecast.comparison.verdicts import LevelVerdict, Verdict
from pagecast.kinds import NO_IO
from pagecast.validation.case import Validated
from pagecast.validation.percentiles import judged

if TYPE_CHECKING:
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = [
    "all_of",
    "by_operation",
    "has_same_operations",
    "long_enough",
    "rows",
    "verdict",
]


def run_queue_s(measured: "Measured") -> float:
    """Add up the waits of all processes for a processor in operations on files."""
    table = measured.operations
    columns = (table[name] for name in ("operation", "run_queue_s"))
    return float(sum(waited_s for kind, waited_s in zip(*columns, strict=True) if kind not in NO_IO))


_Kind = tuple[str, str]
"""A process, and what it does."""


def has_same_operations(validated: Validated) -> bool:
    """Whether all runs and forecasts of a case have the same operations, so that one is that of another."""
    first, *others = (_names_on_files(each) for each in _results(validated))
    return all(other == first for other in others)


def _names_on_files(result: "Result") -> dict[Operation, str]:
    timed = operations(result.operations)
    return {key: called for key, called in names(result.operations).items() if key in timed}


def _results(validated: Validated) -> "Iterator[Result]":
    yield from validated.measured
    yield from chain.from_iterable(validated.forecasts.values())


def _sums(result: "Result") -> dict[_Kind, tuple[int, float]]:
    """Give how many operations of each kind a process has made, and the seconds they took."""
    table = result.operations
    found: dict[_Kind, tuple[int, float]] = {}
    columns = (table[name] for name in ("process", "operation", "duration_s"))
    for process, kind, duration_s in zip(*columns, strict=True):
        if kind not in NO_IO:
            n, sum_s = found.get((process, kind), (0, 0.0))
            found[process, kind] = (n + 1, sum_s + float(duration_s))
    return found


def _as_often(result: "Result", as_in: "Result") -> dict[_Kind, float]:
    """Give the seconds of each kind, had it been done as often as in another result; of those in both."""
    counts = _sums(as_in)
    return {key: sum_s / n * counts[key][0] for key, (n, sum_s) in _sums(result).items() if key in counts}


def _total_as_often(result: "Result", as_in: "Result", beside: "Result") -> float:
    """Add the seconds of the kinds that `beside` has, too."""
    known = _sums(beside)
    return sum(time_s for key, time_s in _as_often(result, as_in).items() if key in known)


def rows(experiment: str, validated: Validated, machine: str) -> Iterator[Row]:
    """Make a row of each whole run, and of each of its operations that is long enough, under each model.

    Parameters
    ----------
    experiment : str
        The suite or scenario.
    validated : Validated
    machine : str
        Name of the forecast machine in rows.

    Yields
    ------
    Row
        Model by model, run by run; the total comes first.
    """
    if not has_same_operations(validated):
        yield from _rows_of_kinds(experiment, validated, machine)
        return
    measured = [operations(run.operations) for run in validated.measured]
    long = long_enough(validated)
    called = names(validated.measured[0].operations)

    def row(
        repetition: int, process: str | None, operation: str, model: str, times: tuple[float, float]
    ) -> Row:
        return Row(
            experiment, validated.case.name, repetition, process, operation, model, machine, "judged", *times
        )  # fmt: skip

    for model, forecasts in validated.forecasts.items():
        for repetition, (found, forecast) in enumerate(zip(measured, forecasts, strict=True), start=1):
            expected = operations(forecast.operations)
            if (whole_s := sum(found.values())) > 0:
                yield row(repetition, None, TOTAL, model, (whole_s, sum(expected.values())))
            for key in long:
                if found[key] > 0:
                    yield row(repetition, key[0], called[key], model, (found[key], expected[key]))


def _rows_of_kinds(experiment: str, validated: Validated, machine: str) -> Iterator[Row]:
    name = validated.case.name
    for model, forecasts in validated.forecasts.items():
        for repetition, (run, forecast) in enumerate(
            zip(validated.measured, forecasts, strict=True), start=1
        ):
            found, expected = _as_often(run, run), _as_often(forecast, run)
            common = {key: (found[key], expected[key]) for key in found if key in expected and found[key] > 0}
            if not common:
                continue
            whole = (sum(times[0] for times in common.values()), sum(times[1] for times in common.values()))
            for process, operation, times in [
                (None, TOTAL, whole),
                *((process, all_of(kind), times) for (process, kind), times in common.items()),
            ]:
                yield Row(
                    experiment, name, repetition, process, operation, model, machine, "judged", *times
                )  # fmt: skip


def all_of(kind: str) -> str:
    """Name the operations of a kind in a row."""
    return f"{kind}, all"


def by_operation(of: Iterable[Row], case: str) -> dict[tuple[str | None, str], dict[str, list[Row]]]:
    """Group the rows of a case: those of each operation, by its process and name, under each model."""
    found: dict[tuple[str | None, str], dict[str, list[Row]]] = {}
    for row in of:
        if row.case == case and row.operation != TOTAL:
            found.setdefault((row.process, row.operation), {}).setdefault(row.model, []).append(row)
    return found


def long_enough(validated: Validated) -> list[Operation]:
    """Choose the operations that take `LEAST_S` in the median of the runs; none where runs have others."""
    if not has_same_operations(validated):
        return []
    measured = [operations(run.operations) for run in validated.measured]
    return [key for key in measured[0] if np.median([run[key] for run in measured]) >= LEAST_S]


def verdict(
    validated: Validated, model: str, dirty: Sequence[Level] = (), cached: Sequence[Level] = ()
) -> Verdict | None:
    """Judge a case under one model.

    Parameters
    ----------
    validated : Validated
    model : str
    dirty, cached : sequence of Level
        Of any cases and models.

    Returns
    -------
    Verdict or None
        None if no operation on a file took any time.
    """
    is_same = has_same_operations(validated)
    totals = _totals(validated, is_same=is_same)
    pairs = list(zip(validated.measured, validated.forecasts[model], strict=True))
    measured_s = sum(totals) if is_same else sum(_total_as_often(run, run, other) for run, other in pairs)
    if not measured_s:
        return None
    forecast_s = sum(
        total_s(forecast) if is_same else _total_as_often(forecast, run, run) for run, forecast in pairs
    )
    waited = [run_queue_s(run) for run in validated.measured]
    moving_s = measured_s - sum(waited)
    tolerance = validated.case.tolerance
    return Verdict(
        case=validated.case.name,
        model=model,
        error=forecast_s / measured_s - 1,
        # Whoever did nothing but wait has shown nothing.
        error_without_waiting=forecast_s / moving_s - 1 if moving_s > 0 else 0.0,
        spread=spread(totals),
        run_queue_s=float(np.mean(waited)),
        tolerance=tolerance,
        dirty=level_verdict(dirty, validated.case.name, model, tolerance.dirty),
        cached=level_verdict(cached, validated.case.name, model, tolerance.cached),
        latency=judged(validated, model, tolerance),
    )


def _totals(validated: Validated, *, is_same: bool) -> list[float]:
    """Give the seconds of each run; of others than the first as if they had made its operations."""
    first = validated.measured[0]
    return [total_s(run) if is_same else _total_as_often(run, first, first) for run in validated.measured]


def level_verdict(levels: Iterable[Level], case: str, model: str, tolerance: float) -> LevelVerdict | None:
    """Hold a level of a case against its forecasts, and its runs against each other.

    Parameters
    ----------
    levels : iterable of Level
        Of any cases and models.
    case, model : str
    tolerance : float

    Returns
    -------
    LevelVerdict or None
        None where the level is not known.
    """
    of_case = [each for each in levels if each.case == case]
    found = [each for each in of_case if each.model == model]
    off, share = deviation_of_most(found), share_within(found, tolerance)
    if off is None or share is None:
        return None
    check = Check(off, tolerance, deviation_of_most(each for each in of_case if each.model == MEASURED))
    return LevelVerdict(check, share, share_within(found, check.allowed) or 0.0)


def spread(times_s: list[float]) -> float | None:
    """Half the range of several times by their median; None of one."""
    if len(times_s) < 2:
        return None
    return (max(times_s) - min(times_s)) / 2 / float(np.median(times_s))


def spreads(validated: Validated) -> Mapping[tuple[str | None, str], float | None]:
    """Give the spread of the total (of no process) and of each operation that has rows."""
    if not has_same_operations(validated):
        first = validated.measured[0]
        kinds = [_as_often(run, first) for run in validated.measured]
        of_kinds: dict[tuple[str | None, str], float | None] = {
            (process, all_of(kind)): spread([times[process, kind] for times in kinds])
            for process, kind in kinds[0]
            if all(times.get((process, kind), 0) > 0 for times in kinds)
        }
        whole = _totals(validated, is_same=False)
        return of_kinds | {(None, TOTAL): spread(whole) if all(whole) else None}
    measured = [operations(run.operations) for run in validated.measured]
    called = names(validated.measured[0].operations)
    whole = [sum(run.values()) for run in measured]
    found: dict[tuple[str | None, str], float | None] = {
        (key[0], called[key]): spread([run[key] for run in measured]) for key in long_enough(validated)
    }
    found[None, TOTAL] = spread(whole) if all(whole) else None
    return found
