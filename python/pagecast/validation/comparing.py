"""Runs held against their forecasts: rows of times, and a verdict on each case."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    from pagecast.running import Measured

__all__ = [
    "by_operation",
    "long_enough",
    "rows",
    "verdict",
]


def run_queue_s(measured: "Measured") -> float:
    """Add up the waits of all processes for a processor in operations on files."""
    table = measured.operations
    columns = (table[name] for name in ("operation", "run_queue_s"))
    return float(sum(waited_s for kind, waited_s in zip(*columns, strict=True) if kind not in NO_IO))


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


def by_operation(of: Iterable[Row], case: str) -> dict[tuple[str | None, str], dict[str, list[Row]]]:
    """Group the rows of a case: those of each operation, by its process and name, under each model."""
    found: dict[tuple[str | None, str], dict[str, list[Row]]] = {}
    for row in of:
        if row.case == case and row.operation != TOTAL:
            found.setdefault((row.process, row.operation), {}).setdefault(row.model, []).append(row)
    return found


def long_enough(validated: Validated) -> list[Operation]:
    """Choose the operations that take `LEAST_S` in the median of the runs."""
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
    totals = [total_s(run) for run in validated.measured]
    if not (measured_s := sum(totals)):
        return None
    forecast_s = sum(map(total_s, validated.forecasts[model]))
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
    measured = [operations(run.operations) for run in validated.measured]
    called = names(validated.measured[0].operations)
    whole = [sum(run.values()) for run in measured]
    found: dict[tuple[str | None, str], float | None] = {
        (key[0], called[key]): spread([run[key] for run in measured]) for key in long_enough(validated)
    }
    found[None, TOTAL] = spread(whole) if all(whole) else None
    return found
