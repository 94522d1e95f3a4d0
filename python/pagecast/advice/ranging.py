"""Adds the 90 % ranges of the wants to a found advice: each of its settings on drawn machines."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from pagecast.errors import SimulationError
from pagecast.models import simulate
from pagecast.progress import Progress
from pagecast.uncertainty import ranges_of

if TYPE_CHECKING:
    from pagecast.advice.search import Advice, Suggestion
    from pagecast.sweeps.point import Task

__all__ = ["with_ranges"]


def with_ranges(
    found: "Advice", task: "Task", draws: int, *, threads: int | None, tell: Progress
) -> "Advice":
    """Draw ranges for the scenario as it is and for each suggestion.

    Parameters
    ----------
    found : Advice
    task : Task
        Of the search.
    draws : int
        Machines for each.
    threads : int or None
        One for each processor if None.
    tell : callable
        Gets the fraction done, and the next action.

    Returns
    -------
    Advice
        On Ctrl-C without ranges, and stopped.
    """
    told = (found.present, *found.suggestions)

    def ranged(number: int, each: "Suggestion") -> "Suggestion":
        def tell_of(fraction: float, what: str) -> None:
            tell((number + fraction) / len(told), f"ranges of {number + 1} of {len(told)}: {what}")

        return _ranged(found, task, each, draws, threads=threads, tell=tell_of)

    try:
        present, *suggestions = [ranged(number, each) for number, each in enumerate(told)]
    except KeyboardInterrupt:
        return replace(found, is_stopped=True)
    return replace(found, present=present, suggestions=tuple(suggestions), draws=draws)


def _ranged(
    found: "Advice", task: "Task", each: "Suggestion", draws: int, *, threads: int | None, tell: Progress
) -> "Suggestion":
    measures = [want.measure for want in found.wants]
    scenario = task.scenario(each.overrides)
    forecast = simulate(scenario, model=task.model, seed=task.seed, record="histogram", at_risk=True)
    try:
        ranges = ranges_of(measures, scenario, forecast, draws, threads=threads, tell=tell)
    except SimulationError:
        return replace(each, ranges=(None,) * len(measures))
    return replace(each, ranges=tuple(None if math.isnan(low) else (low, high) for low, high in ranges))
