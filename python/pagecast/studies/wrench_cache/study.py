"""Run the four experiments of the WRENCH-cache paper and hold the forecasts against the measured cluster."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypedDict

from pagecast.comparison.rows import Row
from pagecast.studies.skeleton import Asked, Simulate, Study
from pagecast.studies.wrench_cache import recordings
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS, MODELS, Experiment, default_machine
from pagecast.studies.wrench_cache.forecast import CaseRun, is_uneven, run_case, simulate_case
from pagecast.studies.wrench_cache.memory import compare, compare_files
from pagecast.studies.wrench_cache.outcome import WrenchCacheOutcome
from pagecast.studies.wrench_cache.producing import Producing, produce
from pagecast.studies.wrench_cache.published import vintage_of
from pagecast.studies.wrench_cache.report import PRESENTATION
from pagecast.studies.wrench_cache.rows import row
from pagecast.studies.wrench_cache.tables import measured

__all__ = ["STUDY"]

SEEDS_IF_UNEVEN: Final = 5
"""How many seeds are run by default where the disk serves equal streams unequally."""


class _How(TypedDict):
    """How every case is forecast, as `run_case` and `produce` take it."""

    machine: str | None
    overrides: Sequence[str]
    simulate: Simulate


def _forecast(asked: Asked) -> WrenchCacheOutcome:
    """Forecast every case of each experiment under each model, with as many seeds as it needs."""
    vintage = vintage_of(asked.overrides)
    profiles = recordings.memory_profiles(asked.data) if asked.data else {}
    plan = {
        (number, model): asked.seeds
        or _default_seeds(asked.machine or default_machine(model), EXPERIMENTS[number])
        for number in asked.experiments
        for model in asked.models
    }
    how: _How = {"machine": asked.machine, "overrides": asked.overrides, "simulate": asked.simulate}
    runs: list[CaseRun] = []
    producing: list[Producing] = []
    for number, model in asked.steps(list(plan), lambda step: f"Exp {step[0]}, {step[1]}"):
        experiment, of = EXPERIMENTS[number], range(plan[number, model])
        runs += (run_case(experiment, case, model=model, seeds=of, **how) for case in experiment.cases)
        if number == "4":
            producing.append(produce(model=model, seeds=of, **how))
    of_memory = [run for run in runs if run.experiment == "1"]
    left_out = tuple(_left_out(asked.experiments, asked.data))
    seeds = max(plan.values())
    return WrenchCacheOutcome(
        presentation=PRESENTATION,
        experiments=asked.experiments,
        models=asked.models,
        vintage=vintage,
        seeds=seeds,
        overrides=asked.overrides,
        runs=tuple(runs),
        rows=tuple(one for run in runs for one in _rows(run)),
        memory=tuple(one for run in of_memory if (one := compare(run, profiles.get(run.case))) is not None),
        cached_files=tuple(one for run in of_memory for one in compare_files(run)),
        producing=tuple(producing),
        profiles=profiles,
        left_out=left_out,
        provenance=asked.provenance(
            {(run.experiment, run.machine): run.result.provenance["machine_hash"] for run in runs},
            left_out=left_out,
            seeds=seeds,
        ),
    )


def _default_seeds(machine: str, experiment: Experiment) -> int:
    return SEEDS_IF_UNEVEN if is_uneven(machine, experiment.mount) else 1


def _rows(run: CaseRun) -> Iterator[Row]:
    """Make a row of each operation that was measured."""
    for operation in run.seconds:
        key = (run.experiment, run.case, operation)
        if key in measured():
            yield row(
                key,
                model=run.model,
                machine=run.machine,
                forecast_s=run.mean_s(operation),
                forecast_range_s=run.range_s(operation),
            )


def _left_out(chosen: Sequence[str], data: Path | None) -> Iterator[str]:
    if "1" in chosen and not data:
        yield (
            "samples of the memory during Exp 1 (means over windows are compared instead), which need --data "
            f"with {recordings.MEMORY_PROFILES}.csv.gz"
        )


STUDY: Final = Study(
    name="wrench-cache",
    source="Do et al., Modeling the Linux Page Cache for Accurate Simulation of Data-Intensive Applications, "
    "CLUSTER 2021; data: github.com/big-data-lab-team/paper-io-simulation at 5ccedcbd",
    experiments=tuple(EXPERIMENTS),
    models=MODELS,
    forecast=_forecast,
    simulate=simulate_case,
    is_random=True,
)
