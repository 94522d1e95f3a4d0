"""The authors' own simulators beside ours: how wrong they are, and how closely we repeat them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pagecast.comparison.rows import Row
from pagecast.studies.wrench_cache.experiments import PUBLISHED_MACHINE
from pagecast.studies.wrench_cache.forecast import CaseRun
from pagecast.studies.wrench_cache.rows import row
from pagecast.studies.wrench_cache.tables import measured, published

__all__ = ["REPEATED_BY", "VINTAGES", "Deviation", "deviations", "published_rows", "simulators", "vintage_of"]

VINTAGES: Final = ("camera_ready", "v1")
"""The two states of the authors' code and outputs; README.md says how they differ."""

REPEATED_BY: Final = {"WRENCH-cache": "wrench", "WRENCH": "no-cache"}
"""Which of our models repeats which published simulator."""

FAR: Final = 0.15
"""A deviation above this counts as far."""


def vintage_of(overrides: Iterable[str]) -> str:
    """Say which vintage the `wrench` model was told to follow."""
    chosen = VINTAGES[0]
    for override in overrides:
        name, _, value = override.partition("=")
        if name.strip() == "model.wrench.vintage":
            chosen = value.strip().strip("\"'")
    return chosen


def simulators(vintage: str) -> dict[str, str]:
    """Give the published simulators of a vintage: the name we show, and the column of the shipped table."""
    return {
        "WRENCH-cache": f"wrench_cache_{vintage}",
        "WRENCH": "wrench",
        "pysim": f"pysim_{vintage}",
    }


def published_rows(experiments: Iterable[str], vintage: str) -> list[Row]:
    """Hold the published simulators against the measured times, like a model of ours.

    Parameters
    ----------
    experiments : iterable of str
    vintage : str
        One of `VINTAGES`.

    Returns
    -------
    list of Row
        `model` is "WRENCH-cache", "WRENCH" or "pysim".
    """
    return [
        row(key, model=name, machine=PUBLISHED_MACHINE, forecast_s=seconds)
        for number in experiments
        for name, column in simulators(vintage).items()
        for key, seconds in published().get(column, {}).items()
        if key[0] == number and key in measured()
    ]


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a model of ours is from the outputs of the published simulator that it repeats."""

    experiment: str
    model: str
    simulator: str
    mean: float
    far: int
    worst: float
    worst_at: str
    n: int


def deviations(runs: Sequence[CaseRun], vintage: str) -> list[Deviation]:
    """Compare with what the authors published: `wrench` with WRENCH-cache, `no-cache` with WRENCH.

    Parameters
    ----------
    runs : sequence of CaseRun
        Those on another machine than the published one are left out.
    vintage : str

    Returns
    -------
    list of Deviation
        One per experiment and model.
    """
    columns = {"wrench": ("WRENCH-cache", f"wrench_cache_{vintage}"), "no-cache": ("WRENCH", "wrench")}
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for run in runs:
        if run.model not in columns or run.machine != PUBLISHED_MACHINE:
            continue
        theirs = published().get(columns[run.model][1], {})
        for operation in run.seconds:
            key = (run.experiment, run.case, operation)
            if key in theirs:
                deviation = abs(run.mean_s(operation) / theirs[key] - 1)
                found.setdefault((run.experiment, run.model), []).append(
                    (deviation, f"{run.case}, {operation}")
                )
    return [
        _deviation(*key, columns[key[1]][0], values) for key, values in sorted(found.items(), key=_first_word)
    ]


def _first_word(item: tuple[tuple[str, str], object]) -> str:
    return item[0][0]


def _deviation(experiment: str, model: str, simulator: str, values: list[tuple[float, str]]) -> Deviation:
    amounts = np.array([deviation for deviation, _ in values])
    worst, worst_at = max(values)
    return Deviation(
        experiment,
        model,
        simulator,
        mean=float(amounts.mean()),
        far=int((amounts > FAR).sum()),
        worst=worst,
        worst_at=worst_at,
        n=len(values),
    )
