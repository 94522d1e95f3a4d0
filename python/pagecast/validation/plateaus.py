"""The plateaus of runs that were traced, and those of their forecasts."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pagecast.comparison.plateaus import Settled
from pagecast.throttling import plateau, throttling

if TYPE_CHECKING:
    from pagecast.validation.case import Validated

__all__ = ["settled"]


def settled(validated: "Iterable[Validated]") -> tuple[Settled, ...]:
    """Give the plateaus of all runs that were traced, under each model that has one."""
    return tuple(pair for each in validated for pair in _of_case(each))


def _of_case(validated: "Validated") -> Iterator[Settled]:
    for number, run in enumerate(validated.measured):
        measured = plateau(throttling(run))
        if measured is None:
            continue
        for model, forecasts in validated.forecasts.items():
            if (forecast := plateau(throttling(forecasts[number]))) is not None:
                yield Settled(validated.case.name, number + 1, model, measured, forecast)
