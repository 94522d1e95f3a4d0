"""The entry of advice: reads wants, asks for the knobs of a scenario, searches."""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pagecast.advice.finding import find_hosts, find_knobs, largest_processes, used_disks
from pagecast.advice.omissions import omissions
from pagecast.advice.ranging import with_ranges
from pagecast.advice.search import Advice, measures_of, search
from pagecast.api import Scenario, simulate
from pagecast.arguments import check_progress, check_whole, texts
from pagecast.errors import ArgumentError, MeasureError
from pagecast.extras import require
from pagecast.measures import Measure, Want, evaluate, parse_want
from pagecast.measures.language import parse_measure
from pagecast.progress import Progress, teller
from pagecast.sweeps.point import Outcome, Task
from pagecast.sweeps.source import Source, read_source
from pagecast.uncertainty import MOST_DRAWS

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["advise", "advise_source"]

_MODEL = "kernel"


def advise(
    scenario: "str | os.PathLike[str] | Scenario",
    *,
    want: Sequence[str | Want],
    budget: int = 250,
    seed: int = 0,
    set: Sequence[str] = (),
    workers: int | None = None,
    uncertain: int | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Search settings of an administrator that fulfil wants; nothing is set.

    Parameters
    ----------
    scenario : path-like or Scenario
        A `Scenario` must come from TOML.
    want : sequence of str or Want
        Such as ``p99(db fsync) < 20 ms``, or ``makespan(backup) < 1.2x`` of what it is now.
    budget : int
        Simulations at most.
    seed : int
        Of the search, and of each simulation.
    set : sequence of str
        As for `Scenario.load`.
    workers : int, optional
        Processes; one for each processor if not given.
    uncertain : int, optional
        So many machines are drawn for each suggestion, as for `pagecast.simulate`: `Suggestion.ranges` has
        the 90 % range of each want.
    progress : callable, optional
        Gets the fraction of the budget that is used, and what is done.

    Returns
    -------
    Advice
        Ctrl-C ends the search; what was found until then is given (`is_stopped`).

    Raises
    ------
    ArgumentError, MeasureError, ScenarioError
        Something cannot be understood.
    SimulationError
        The scenario as it is cannot go on.
    MissingPackageError
        scipy is not installed.
    """
    source = read_source(scenario, overrides=texts("set", set))
    return advise_source(
        source,
        want=want,
        budget=budget,
        seed=seed,
        workers=workers,
        uncertain=uncertain,
        progress=check_progress(progress),
    )


def advise_source(
    source: Source,
    *,
    want: Sequence[str | Want],
    budget: int,
    seed: int,
    workers: int | None,
    uncertain: int | None,
    progress: Progress | None,
) -> Advice:
    """Search for a scenario that is read already; arguments as for `advise`."""
    require("scipy", "sweep", "the search")
    if isinstance(want, str):
        want = [want]
    wants = [each if isinstance(each, Want) else parse_want(each) for each in want]
    if not wants:
        raise ArgumentError("nothing is wanted; say for example --want 'p99(db fsync) < 20 ms'")
    budget = check_whole("budget", budget, least=2, most=1_000_000)
    seed = check_whole("seed", seed, least=0, most=2**64 - 1)
    draws = None if uncertain is None else check_whole("uncertain", uncertain, least=2, most=MOST_DRAWS)
    loaded = Scenario.from_toml(
        source.text, origin=source.origin, base_dir=source.base_dir, set=source.overrides
    )
    result = simulate(loaded, model=_MODEL, seed=seed, record="histogram", at_risk=True)
    measures = measures_of(wants, [*_costs(result)])
    task = Task(source.text, source.origin, source.base_dir, source.overrides, _MODEL, seed, measures)
    baseline = Outcome(tuple(evaluate(measures, result)))
    for each, value in zip(wants, evaluate([each.measure for each in wants], result), strict=True):
        if value is None:
            raise MeasureError(f"`{each.measure.text}` has no value here; want something else")
    hosts = find_hosts(loaded, used_disks(result))
    where = (hosts, source.text, source.overrides, largest_processes(result))
    found = search(
        task,
        wants,
        [*find_knobs(*where)],
        baseline=baseline,
        budget=budget,
        seed=seed,
        workers=workers,
        progress=progress,
    )
    found = replace(found, not_tried=(*omissions(*where),))
    if draws is None or found.is_stopped:
        return found
    return with_ranges(found, task, draws, threads=workers, tell=teller(progress))


def _costs(result: "Result") -> Iterator[Measure]:
    """Give what settings may cost: the time of processes, and what a power cut loses."""
    for process in largest_processes(result):
        yield parse_measure(f"makespan({shlex.quote(process)})")
    yield parse_measure("at_risk")
