"""The range of one total time, for what holds forecasts against measurements."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pagecast.api import Scenario
from pagecast.uncertainty.curves import HIGH, LOW
from pagecast.uncertainty.draws import scalings
from pagecast.uncertainty.kinds import Kind
from pagecast.uncertainty.model_error import ModelError

if TYPE_CHECKING:
    from pagecast._core import Machine

__all__ = ["drawn_machines", "range_of_error", "range_of_total"]

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


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, (LOW, HIGH))
    return float(low), float(high)
