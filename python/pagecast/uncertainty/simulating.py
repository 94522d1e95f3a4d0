"""Simulates a scenario, and with ``uncertain=N`` so many draws of its machine: a range of each figure."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pagecast import api, models
from pagecast.api import Scenario
from pagecast.arguments import check_progress, check_whole
from pagecast.errors import SimulationError, UnknownModelError
from pagecast.measures import Measure
from pagecast.progress import Progress
from pagecast.ranges import Drawn, Ranges
from pagecast.result import Result
from pagecast.uncertainty.curves import HIGH, LOW, Curves, Lines, curves_of, latency_bands, level_bands
from pagecast.uncertainty.draws import scalings
from pagecast.uncertainty.figures import Figure, Floats, figures_for, figures_of, values_of
from pagecast.uncertainty.kinds import (
    KINDS,
    NAMES,
    Kind,
    kind_of_whole,
    kinds_of_rows,
    nfs_mounts,
    seconds_by_kind,
)
from pagecast.uncertainty.model_error import MODEL, ModelError, shipped
from pagecast.uncertainty.running import run_draws

__all__ = ["MOST_DRAWS", "check_has_ranges", "ranges_of", "simulate", "with_ranges"]

MOST_DRAWS: Final = 10_000
"""More say no more."""

_MOST_SEED: Final = 2**64 - 1


def simulate(
    scenario: Scenario,
    *,
    model: str = "kernel",
    seed: int = 0,
    options: Mapping[str, object] | None = None,
    residency: str | None = None,
    record: str = "all",
    at_risk: bool = False,
    threads: int | None = None,
    uncertain: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result:
    """Simulate a scenario under one model.

    Parameters
    ----------
    scenario : Scenario
    model : str
        One of `MODELS`, by default Linux's own rules; or "petri", the nets of ext3 and PVFS.
    seed : int
        Of all random streams; only machines with uneven devices, or with `service_read` or `service_write`,
        draws of `uncertain`, and the nets of PVFS draw random numbers.
    options : mapping of str, optional
        Options of the model, with units: ``{"chunk": "100 MB"}``; they come before those of the scenario.
        Of "petri" they are values of the net: ``{"prefetch_pages": 8}``.
    residency : {"end", "operation"}, optional
        When the table `files` is filled; the value of the scenario if not given, "end" by default.
    record : str
        Which operations have rows: "all"; "slow:10ms" those that take that long; "histogram" the 100 slowest,
        so that memory does not grow with their number; "auto" all up to 200,000, of more the 100 slowest.
        `Result.latency` and `Result.rates` count all of them. "petri" has rows of all.
    at_risk : bool
        Whether the result has what a power cut would lose at each moment, `Result.at_risk`.
    threads : int, optional
        How many threads share the hosts that have nothing to do with each other, or the draws; one per
        processor if not given. The result does not depend on it. Programs in Python are drawn on one.
    uncertain : int, optional
        So many machines are drawn from the ranges of its values (`Scenario.uncertainty`), and as many errors
        of the model `kernel` from those that it had on recorded platforms: `Result.ranges` has the 90 % range
        of each figure. The tables are those of the forecast without any draw.
    progress : callable, optional
        Called at most ten times a second with the fraction done (NaN if not known) and the simulated seconds;
        for draws with the fraction of them, and NaN.

    Returns
    -------
    Result

    Raises
    ------
    UnknownModelError
        No such model or option; the nets have no ranges.
    ScenarioError
        The nets cannot play the scenario; the message has all reasons.
    ArgumentError, ArgumentTypeError
        A seed that 64 bits do not hold, no thread, or fewer than 2 draws; an argument of another type.
    RecursionError
        A program simulates a scenario whose program simulates a scenario, and so on, 50 deep.
    SimulationError
        The workload cannot go on: a deadlock, a read beyond the end of a file, not enough memory; or not in
        half of the draws.
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    draws = None if uncertain is None else check_whole("uncertain", uncertain, least=2, most=MOST_DRAWS)
    if draws is not None:
        check_has_ranges(model)
    forecast = models.simulate(
        scenario,
        model=model,
        seed=seed,
        options=options,
        residency=residency,
        record=record,
        at_risk=at_risk,
        threads=threads,
        progress=progress,
    )
    if draws is None:
        return forecast
    tell = check_progress(progress) or (lambda fraction, time_s: None)
    return with_ranges(
        scenario, forecast, draws, options=options, threads=threads, tell=lambda done, _: tell(done, math.nan)
    )


def check_has_ranges(model: str) -> None:
    """Refuse a model without ranges."""
    if model == models.PETRI:
        raise UnknownModelError("the nets of `petri` have no ranges; choose another model")


def with_ranges(
    scenario: Scenario,
    forecast: Result,
    draws: int,
    *,
    options: Mapping[str, object] | None = None,
    threads: int | None = None,
    error: ModelError | None = None,
    tell: Callable[[float, str], object] = lambda fraction, what: None,
) -> Result:
    """Draw machines and errors of the model, and add the ranges to a forecast.

    Parameters
    ----------
    scenario : Scenario
    forecast : Result
        Of the scenario, without any draw.
    draws : int
    options : mapping of str, optional
        Of the model.
    threads : int, optional
    error : ModelError, optional
        That of all platforms if not given.
    tell : callable
        Gets the fraction done, and how many draws that is.

    Raises
    ------
    SimulationError
        Over half of the draws cannot go on.
    """
    nfs = nfs_mounts(scenario)
    figures, lines = figures_of(forecast, nfs=nfs), Lines.of(forecast)
    taken = _draw(scenario, forecast, draws, figures, lines, options=options, threads=threads, tell=tell)
    done, failures = _sorted_out(taken)
    known = (shipped() if error is None else error) if forecast.model == MODEL else ModelError(())
    factors = _factors(known, forecast.seed, draws, done)
    kind = figures[0].kind
    assert kind is not None, "the makespan has the error of a kind"
    curves = [each.curves for each in done.values()]
    drawn = Drawn(
        draws=draws,
        failed=len(failures),
        first_failure=str(failures[0]) if failures else "",
        values=len(scenario.uncertainty),
        platforms=len(known.platforms),
        cases=known.cases,
        kind=NAMES[kind],
        cases_of_kind=known.cases_of(kind),
    )
    ranges = Ranges(
        drawn,
        _table(figures, values_of(figures, forecast), [each.values for each in done.values()], factors),
        level_bands(curves, figures[0].changed(np.ones(len(done)), factors[kind])),
        latency_bands(curves, lines, [factors[of] for of in _kinds_of_lines(forecast, lines, nfs)]),
    )
    return forecast.with_ranges(ranges)


def ranges_of(
    measures: Sequence[Measure],
    scenario: Scenario,
    forecast: Result,
    draws: int,
    *,
    threads: int | None = None,
    tell: Progress = lambda fraction, what: None,
) -> list[tuple[float, float]]:
    """Give the 90 % ranges of measures of a forecast by `kernel`.

    Parameters
    ----------
    measures : sequence of Measure
    scenario, forecast, draws, threads, tell
        As for `with_ranges`.

    Returns
    -------
    list of tuple of float
        NaN of what no draw has.

    Raises
    ------
    SimulationError
        Over half of the draws cannot go on.
    """
    figures = figures_for(measures, forecast, nfs=nfs_mounts(scenario))
    lines = Lines.of(forecast)
    taken = _draw(scenario, forecast, draws, figures, lines, options=None, threads=threads, tell=tell)
    done, _ = _sorted_out(taken)
    factors = _factors(shipped(), forecast.seed, draws, done)
    low, _, high = _percentiles(figures, [each.values for each in done.values()], factors)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _sorted_out(
    taken: "Sequence[_Draw | SimulationError]",
) -> "tuple[dict[int, _Draw], list[SimulationError]]":
    """Part draws by their numbers from failures, of which there may be half."""
    failures = [each for each in taken if isinstance(each, SimulationError)]
    if 2 * len(failures) > len(taken):
        raise SimulationError(
            f"{len(failures):,} of {len(taken):,} draws cannot go on; the first: {failures[0]}"
        )
    return {n: each for n, each in enumerate(taken) if not isinstance(each, SimulationError)}, failures


def _factors(known: ModelError, seed: int, draws: int, done: Collection[int]) -> dict[Kind, Floats]:
    """Draw the errors of the model; those of the draws that are done."""
    errors = {kind: known.factors(kind, draws, seed) for kind in KINDS}
    return {kind: np.array([errors[kind][draw] for draw in done]) for kind in KINDS}


@dataclass(frozen=True, slots=True)
class _Draw:
    """The figures and curves of a draw, before the error of the model."""

    values: list[float]
    curves: Curves


def _draw(
    scenario: Scenario,
    forecast: Result,
    draws: int,
    figures: Sequence[Figure],
    lines: Lines,
    *,
    options: Mapping[str, object] | None,
    threads: int | None,
    tell: Progress,
) -> "list[_Draw | SimulationError]":
    """Simulate the draws; where nothing is uncertain and no other seed matters, one stands for all."""
    seed = forecast.seed
    machines = scalings(scenario.uncertainty, scenario.hosts, draws, seed)

    def one(draw: int, look: Callable[[float, float], object]) -> _Draw:
        result = api.simulate(
            scenario.scaled(machines[draw]) if machines[draw] else scenario,
            model=forecast.model,
            seed=(seed + draw) & _MOST_SEED,
            options=options,
            record="histogram",
            at_risk=any(figure.measure.needs_at_risk for figure in figures),
            threads=1,
            progress=look,
        )
        return _Draw(values_of(figures, result), curves_of(result, lines))

    threads = 1 if scenario.toml is None else threads
    if not scenario.uncertainty:
        first, second = run_draws(2, one, threads=threads, tell=lambda fraction, what: None)
        if not isinstance(first, SimulationError) and _is_same(first, second):
            tell(1.0, "")
            return [first] * draws
    return run_draws(draws, one, threads=threads, tell=tell)


def _is_same(one: _Draw, other: "_Draw | SimulationError") -> bool:
    return isinstance(other, _Draw) and np.array_equal(one.values, other.values, equal_nan=True)


def _table(
    figures: Sequence[Figure],
    forecast: Sequence[float],
    drawn: Sequence[Sequence[float]],
    factors: Mapping[Kind, Floats],
) -> dict[str, object]:
    """Give the columns of `Result.ranges`."""
    low, median, high = _percentiles(figures, drawn, factors)
    return {
        "measure": [figure.measure.text for figure in figures],
        "unit": [figure.measure.unit for figure in figures],
        "forecast": np.array(forecast),
        "median": median,
        "low": low,
        "high": high,
    }


def _percentiles(
    figures: Sequence[Figure], drawn: Sequence[Sequence[float]], factors: Mapping[Kind, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Give the low end, the median and the high end of each figure; NaN where no draw has it."""
    percentiles = []
    for number, figure in enumerate(figures):
        values = np.array([values[number] for values in drawn])
        if figure.kind is not None:
            values = figure.changed(values, factors[figure.kind])
        known = values[~np.isnan(values)]
        percentiles.append(np.quantile(known, (LOW, 0.5, HIGH)) if len(known) else (np.nan,) * 3)
    low, median, high = np.array(percentiles).T
    return low, median, high


def _kinds_of_lines(forecast: Result, lines: Lines, nfs: frozenset[str]) -> list[Kind]:
    """Give the kind of I/O of each line of the figure of latencies."""
    table = forecast.latency
    kinds = kinds_of_rows(table, forecast.latency_parts, nfs)
    places = lines.groups.of(table)
    found = []
    for place in range(len(lines.counts)):
        rows = np.flatnonzero(places == place)
        found.append(kind_of_whole(seconds_by_kind([kinds[row] for row in rows], table["total_s"][rows])))
    return found
