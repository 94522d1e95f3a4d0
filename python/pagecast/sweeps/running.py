"""Does a sweep: points that are not there yet, on this machine or on a cluster."""

import math
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pagecast.api import Scenario
from pagecast.arguments import check_path, check_progress, check_text, check_whole, texts
from pagecast.errors import MeasureError, ScenarioError, SimulationError
from pagecast.measures import Measure
from pagecast.progress import Progress, teller
from pagecast.sweeps.local import Todo, run_here
from pagecast.sweeps.plan import SweepPlan, make_plan
from pagecast.sweeps.point import Outcome
from pagecast.sweeps.result import Sweep, row_of
from pagecast.sweeps.source import read_source

__all__ = ["do_plan", "sweep"]

_EXPECTED_AFTER_S = 0.5
"""Before, the time that is left is a guess."""


def sweep(
    scenario: "str | os.PathLike[str] | Scenario",
    *,
    vary: Mapping[str, object] | None = None,
    measure: Sequence[str | Measure] = (),
    sample: str | None = None,
    model: str | None = None,
    seed: int = 0,
    set: Sequence[str] = (),
    workers: int | None = None,
    on: str = "local",
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Simulate a scenario with many values of its keys.

    What is not given is that of the table ``[sweep]`` of the scenario. The result does not depend on where
    and by how many workers it is computed.

    Parameters
    ----------
    scenario : path-like or Scenario
        A `Scenario` must come from TOML.
    vary : mapping of str to str or sequence
        Values by key, the keys as for ``--set``: ``{"machine.vm.dirty_bytes": "64MB..8GB:log:12"}``.
    measure : sequence of str or Measure
        Such as ``p99(db fsync)``; ``makespan`` if there is none.
    sample : str, optional
        ``latin:N`` or ``latin:N:SEED`` draws points; by default every combination is one.
    model : str, optional
        By default the first one that the scenario names.
    seed : int
        Of each simulation.
    set : sequence of str
        As for `Scenario.load`.
    workers : int, optional
        Processes; one for each processor if not given.
    on : str
        ``local``, ``dask`` for a Dask cluster on this machine, or the address of a scheduler,
        ``tcp://HOST:PORT``.
    out : path-like, optional
        A directory for ``sweep.json`` and the rows as Parquet. What is there of the same sweep is not
        simulated again.
    force : bool
        Replace another sweep in that directory.
    progress : callable, optional
        Gets the fraction done, and how many points that is.

    Returns
    -------
    Sweep

    Raises
    ------
    ArgumentError, MeasureError, ScenarioError
        Something cannot be understood.
    SimulationError, ScenarioError
        All points failed.
    OutputError
        The directory holds something else, or cannot be written.
    ClusterError
        The cluster cannot be reached.
    KeyboardInterrupt
        Ctrl-C was pressed; what is in `out` stays.
    """
    if workers is not None:
        workers = check_whole("workers", workers, least=1, most=10_000)
    source = read_source(scenario, overrides=texts("set", set))
    plan = make_plan(source, vary=vary, measure=measure, sample=sample, model=model, seed=seed)
    where = None if out is None else check_path("out", out)
    found = do_plan(plan, workers=workers, on=on, out=where, force=force, progress=check_progress(progress))
    if not found.is_whole:
        raise KeyboardInterrupt
    return found


def do_plan(
    plan: SweepPlan,
    *,
    workers: int | None = None,
    on: str = "local",
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Do a sweep that is planned; arguments as for `sweep`. If it is interrupted, it has the rows so far."""
    run = _runner(check_text("on", on), workers)
    dataset = None
    points = range(len(plan.design.points))
    missing: Sequence[int] = points
    rows: dict[int, tuple[Any, ...]] = {}
    if out is not None:
        from pagecast.sweeps.dataset import Dataset

        dataset = Dataset.begin(Path(out), plan, force=force)
        missing = dataset.missing
        rows = {row[0]: row for row in dataset.rows()}
    todo = [(index, plan.design.overrides(index)) for index in missing]
    told = _Told(teller(progress), len(points), len(todo))
    failures: list[Outcome] = []
    outcomes = run(plan, todo)
    try:
        for index, outcome in outcomes:
            if outcome.kind == "measure" and len(failures) == len(rows):
                raise MeasureError(outcome.error)
            row = rows[index] = row_of(plan, index, outcome)
            if outcome.error:
                failures.append(outcome)
            if dataset is not None:
                dataset.add(row)
            told.one_more()
    except KeyboardInterrupt:
        pass  # the rows that are missing tell
    finally:
        outcomes.close()
    done = Sweep(plan, [rows[index] for index in sorted(rows)])
    if done.failed == len(points):
        _all_failed(failures[0] if failures else Outcome((), done.rows[0][-1]), len(points))
    return done


def _runner(
    on: str, workers: int | None
) -> "Callable[[SweepPlan, Todo], Generator[tuple[int, Outcome], None, None]]":
    """Give what simulates points where they shall be simulated."""
    if on == "local":
        return lambda plan, todo: run_here(plan.task, todo, workers=workers)
    from pagecast.sweeps.cluster import check_cluster, run_on_dask

    check_cluster(on)
    return lambda plan, todo: run_on_dask(plan.task, todo, on=on, workers=workers)


class _Told:
    """Tells how many points are done, and how long the others will take."""

    def __init__(self, tell: Progress, points: int, todo: int) -> None:
        self._tell = tell
        self._points = points
        self._todo = todo
        self._done = 0
        self._begun = time.monotonic()
        self._say()

    def one_more(self) -> None:
        self._done += 1
        self._say()

    def _say(self) -> None:
        there = self._points - self._todo + self._done
        what = f"{there:,} of {self._points:,} points"
        so_far_s = time.monotonic() - self._begun
        if self._done and self._done < self._todo and so_far_s > _EXPECTED_AFTER_S:
            what += f", {_rounded(so_far_s / self._done * (self._todo - self._done))} left"
        self._tell(there / self._points, what)


def _rounded(time_s: float) -> str:
    if time_s < 90:
        return f"{math.ceil(time_s)} s"
    return f"{time_s / 60:.0f} min" if time_s < 5400 else f"{time_s / 3600:.1f} h"


def _all_failed(first: Outcome, points: int) -> None:
    """Raise what a point says; of one that was read again it is not known what kind of failure it was."""
    said = first.error if points == 1 else f"all {points:,} points failed; the first one: {first.error}"
    raise {"simulation": SimulationError, "measure": MeasureError}.get(first.kind, ScenarioError)(said)
