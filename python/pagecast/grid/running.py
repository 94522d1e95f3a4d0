"""Forecasts or measures all cells of a grid, one after the other."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pagecast import _core, api
from pagecast.grid.plan import Cell, GridPlan, Phase
from pagecast.grid.result import Grid, Row
from pagecast.result import Result
from pagecast.workloads import ANY_MACHINE

__all__ = ["measure", "simulate"]

Told = Callable[[float, str], object]


def simulate(
    plan: GridPlan,
    machine: _core.Machine,
    *,
    directory: str,
    models: Sequence[str] = ("kernel",),
    progress: Told | None = None,
) -> Grid:
    """Forecast a grid.

    Parameters
    ----------
    plan : GridPlan
    machine : Machine
        Each cell has it for itself, with nothing in memory.
    directory : str
        Where on its first host the file is, absolute and on one of its mounts.
    models : sequence of str
    progress : callable, optional
        Called with the fraction done, and what is done.

    Returns
    -------
    Grid
        With a source for each model.
    """
    rows = []
    count = len(plan.cells)
    for number, (cell, scenario, phases) in enumerate(plan.scenarios(machine, directory)):
        for model in models:
            if progress is not None:
                progress(number / count, f"{cell} under {model}")
            rows += _rows(model, cell, phases, api.simulate(scenario, model=model, seed=plan.seed))
    order = {model: number for number, model in enumerate(models)}
    provenance = {"machine_hash": machine.hash, **_provenance(plan)}
    return Grid(sorted(rows, key=lambda row: order[row.source]), provenance)


def measure(plan: GridPlan, dir: str | os.PathLike[str], *, progress: Told | None = None) -> Grid:
    """Measure a grid on this machine's kernel.

    Parameters
    ----------
    plan : GridPlan
    dir : path-like
        A directory on the disk to be measured; each cell has a folder in it, which is removed.
    progress : callable, optional
        As for `simulate`.

    Returns
    -------
    Grid
        With the source "measured".

    Raises
    ------
    ProbeError
        The directory cannot be used.
    """
    from pagecast.running import Plan

    machine = api.Scenario.from_toml(
        f"{ANY_MACHINE}\n[[process]]\nname = 'x'\ndo = [ {{ exit = true }} ]"
    ).machine
    all_cells = list(plan.scenarios(machine, "/"))
    plans = [(cell, Plan(scenario), phases) for cell, scenario, phases in all_cells]
    for _, each, _ in plans:
        each.check(dir)
    rows = []
    for number, (cell, each, phases) in enumerate(plans):
        if progress is not None:
            progress(number / len(plans), f"{cell} for real")
        rows += _rows("measured", cell, phases, each.run(dir))
    return Grid(rows, _provenance(plan))


def _rows(source: str, cell: Cell, phases: Sequence[Phase], result: Result) -> list[Row]:
    """Add up the times of the operations of each test."""
    operations = result.operations
    duration_s = operations["duration_s"][np.argsort(operations["index"], kind="stable")]
    return [
        Row(source, phase.test.name, cell, float(duration_s[phase.first : phase.last + 1].sum()))
        for phase in phases
    ]


def _provenance(plan: GridPlan) -> dict[str, Any]:
    return {"pagecast_version": _core.__version__, "seed": plan.seed, "fsync_in_time": plan.fsync}
