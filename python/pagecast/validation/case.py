"""A case of a validation: a scenario that was forecast and run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagecast.tolerance import Tolerance

if TYPE_CHECKING:
    from pagecast.api import Scenario
    from pagecast.result import Result
    from pagecast.running import Measured

__all__ = ["Case", "Validated"]


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario to forecast and run; `what` describes it in a sentence."""

    name: str
    what: str
    scenario: "Scenario"
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class Validated:
    """A case with its runs, and a forecast for each of them under each model, in the order of the runs.

    `range_of_total` is the 90 % range of the total under `kernel`, as parts of its forecast.
    """

    case: Case
    measured: "tuple[Measured, ...]"
    forecasts: "Mapping[str, tuple[Result, ...]]"
    range_of_total: tuple[float, float] | None = None
