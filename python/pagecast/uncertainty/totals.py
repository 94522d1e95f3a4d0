"""The range of one total time, for what holds forecasts against measurements."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pagecast.api import Scenario, simulate
from pagecast.errors import SimulationError
from pagecast.kinds import NO_IO
from pagecast.progress import Progress
from pagecast.uncertainty.curves import HIGH, LOW
from pagecast.uncertainty.draws import scalings
from pagecast.uncertainty.kinds import Kind, kind_of_whole, kinds_of_rows, nfs_mounts, seconds_by_kind
from pagecast.uncertainty.model_error import ModelError, shipped
from pagecast.uncertainty.running import run_draws

if TYPE_CHECKING:
    from pagecast._core import Machine
    from pagecast.result import Result

__all__ = ["drawn_machines", "range_of_error", "range_of_scenario", "range_of_total"]

_SEED = 0


def drawn_machines(machine: "Machine", draws: int) -> list["Machine"]:
    """Draw machines; none where all values are exact.

    Parameters
    ----------
    machine : Machine
    draws : int

    Returns
    -------
    list of Machine
        Of length `draws`, or empty.
    """
    scenario = Scenario(machine, processes={"none": []})
    if not scenario.uncertainty:
        return []
    drawn = scalings(scenario.uncertainty, scenario.hosts, draws, _SEED)
    return [scenario.scaled(factors).machine for factors in drawn]


def range_of_total(
    machine: "Machine",
    kind: Kind,
    total_s: Callable[["Machine"], float],
    *,
    draws: int,
    error: ModelError,
) -> tuple[float, float]:
    """Give the 90 % range of a total time.

    Parameters
    ----------
    machine : Machine
    kind : str
        The kind of I/O that takes most of it.
    total_s : callable
        Forecasts it on a machine.
    draws : int
    error : ModelError
        Of the model; without the platform that is judged.

    Returns
    -------
    tuple of float
        Its 5th and 95th percentile, in seconds.
    """
    machines = drawn_machines(machine, draws)
    totals = [total_s(each) for each in machines] or [total_s(machine)] * draws
    return _range(np.array(totals) * error.factors(kind, draws, _SEED))


def range_of_error(forecast_s: float, kind: Kind, *, draws: int, error: ModelError) -> tuple[float, float]:
    """Give the 90 % range of a total time on a machine whose values are exact.

    Parameters are those of `range_of_total`.
    """
    return _range(forecast_s * np.array(error.factors(kind, draws, _SEED)))


def range_of_scenario(
    scenario: Scenario,
    forecast: "Result",
    *,
    draws: int,
    options: Mapping[str, str] | None = None,
    error: ModelError | None = None,
    simulate: "Callable[..., Result]" = simulate,
    tell: Progress = lambda fraction, what: None,
) -> tuple[float, float]:
    """Give the 90 % range of the time that operations on files take in all, as parts of the forecast.

    Parameters
    ----------
    scenario : Scenario
    forecast : Result
        Of the scenario, without any draw.
    draws : int
    options : mapping of str, optional
        Of the model.
    error : ModelError, optional
        That of all platforms if not given.
    simulate : callable
        Like `pagecast.api.simulate`.
    tell : callable
        Gets the fraction done, and how many draws that is.

    Returns
    -------
    tuple of float
        1 where the forecast takes no time.
    """
    total_s = _io_s(forecast)
    if not total_s:
        return 1.0, 1.0
    kinds = kinds_of_rows(forecast.operations, forecast.parts, nfs_mounts(scenario))
    kind = kind_of_whole(seconds_by_kind(kinds, forecast.operations["duration_s"]))
    machines = scalings(scenario.uncertainty, scenario.hosts, draws, _SEED)

    def one(draw: int, _: Callable[[float, float], object]) -> float:
        drawn = scenario.scaled(machines[draw])
        return _io_s(simulate(drawn, model=forecast.model, options=options))

    totals = run_draws(draws, one, threads=1, tell=tell) if scenario.uncertainty else [total_s] * draws
    factors = (shipped() if error is None else error).factors(kind, draws, _SEED)
    done = [
        total * factor / total_s
        for total, factor in zip(totals, factors, strict=True)
        if not isinstance(total, SimulationError)
    ]
    return _range(np.array(done or [1.0]))


def _io_s(result: "Result") -> float:
    table = result.operations
    is_io = np.array([what not in NO_IO for what in table["operation"]], dtype=bool)
    return float(table["duration_s"][is_io].sum())


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, (LOW, HIGH))
    return float(low), float(high)
