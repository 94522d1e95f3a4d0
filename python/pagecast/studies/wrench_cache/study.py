"""Run the four experiments of the WRENCH-cache paper and hold the forecasts against the measured cluster."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from pagecast.comparison.provenance import provenance
from pagecast.comparison.rows import Row, to_json
from pagecast.progress import Progress, teller
from pagecast.studies.asked import experiments_of, models_of
from pagecast.studies.wrench_cache import recordings
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS, MODELS, Experiment, default_machine
from pagecast.studies.wrench_cache.forecast import CaseRun, Simulate, is_uneven, run_case, simulate_case
from pagecast.studies.wrench_cache.memory import CachedFile, Levels, compare, compare_files
from pagecast.studies.wrench_cache.producing import Producing, produce
from pagecast.studies.wrench_cache.published import vintage_of
from pagecast.studies.wrench_cache.rows import row
from pagecast.studies.wrench_cache.tables import long_writes, measured

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["WrenchCacheOutcome", "run"]

SOURCE: Final = (
    "Do et al., Modeling the Linux Page Cache for Accurate Simulation of Data-Intensive Applications, "
    "CLUSTER 2021; data: github.com/big-data-lab-team/paper-io-simulation at 5ccedcbd"
)

SEEDS_IF_UNEVEN: Final = 5
"""How many seeds are run by default where the disk serves equal streams unequally."""


@dataclass(frozen=True, slots=True)
class WrenchCacheOutcome:
    """What came out: a `CaseRun` per case and model, and the rows of those that were measured.

    `seeds` is the greatest number of them; where nothing depends on it, one was run.
    `memory` and `cached_files` hold memory during Exp 1 against what was measured, `producing` has Exp 4 with
    the program's own rate. `profiles` are the measured memory profiles of Exp 1, empty without ``--data``;
    `left_out` says what is missing.
    """

    experiments: tuple[str, ...]
    models: tuple[str, ...]
    vintage: str
    seeds: int
    overrides: tuple[str, ...]
    runs: tuple[CaseRun, ...]
    rows: tuple[Row, ...]
    memory: tuple[Levels, ...]
    cached_files: tuple[CachedFile, ...]
    producing: tuple[Producing, ...]
    profiles: dict[str, recordings.Profile]
    left_out: tuple[str, ...]
    provenance: dict[str, object]

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance, and what is compared beside times."""
        return to_json(self.rows, self.provenance) | {
            "memory_levels": [one.as_dict() for one in self.memory],
            "cached_files": [one.as_dict() for one in self.cached_files],
            "long_writes": [
                {
                    "experiment": "2",
                    "case": run.case,
                    "model": run.model,
                    "measured_share": long_writes()[run.case],
                    "forecast_share": run.long_writes,
                }
                for run in self.with_long_writes()
            ],
            "producing": [one.as_dict() for one in self.producing],
        }

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.studies.wrench_cache.terminal import print_outcome

        print_outcome(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report import write
        from pagecast.studies.wrench_cache.report import build

        write(build(self), path)

    def of(self, experiment: str, model: str) -> list[CaseRun]:
        """Give the runs of one experiment under one model, in the order of the cases."""
        return [run for run in self.runs if run.experiment == experiment and run.model == model]

    def with_long_writes(self) -> list[CaseRun]:
        """Give the runs of Exp 2 for whose case the share of long writes was measured."""
        return [run for run in self.runs if run.experiment == "2" and run.case in long_writes()]

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that were simulated."""
        return tuple(dict.fromkeys(run.machine for run in self.runs))

    def machine_of(self, model: str) -> str:
        """Name the machine that a model was asked on."""
        return next(run.machine for run in self.runs if run.model == model)

    @property
    def machines_text(self) -> str:
        """The machines that were simulated, each with its models if there are several."""
        if len(self.machines) == 1:
            return self.machines[0]
        models = {name: [m for m in self.models if self.machine_of(m) == name] for name in self.machines}
        return "; ".join(f"{name} ({', '.join(asked)})" for name, asked in models.items())


def run(
    *,
    experiments: Sequence[str] = (),
    models: Sequence[str] = (),
    machine: str | None = None,
    data: Path | None = None,
    seeds: int | None = None,
    overrides: Sequence[str] = (),
    command: str = "",
    progress: Progress | None = None,
    simulate: Simulate = simulate_case,
) -> WrenchCacheOutcome:
    """Forecast the experiments and compare.

    Parameters
    ----------
    experiments : sequence of str
        "1" to "4"; nothing means all.
    models : sequence of str
        Nothing means `MODELS`.
    machine : str, optional
        A shipped machine or a machine file; by default the one that each model is judged on.
    data : Path, optional
        Folder with the full recordings, for the measured memory profiles.
    seeds : int, optional
        How many seeds to run and average; by default 1, or 5 where the disk of an experiment serves streams
        unequally.
    overrides : sequence of str
        ``key=value`` for every scenario, such as ``model.wrench.vintage=v1``.
    command : str
        What the report names as the command that made it.
    progress : callable, optional
    simulate : callable, optional
        How a case is forecast; tests put their own in its place.

    Returns
    -------
    WrenchCacheOutcome

    Raises
    ------
    StudyError
        An experiment or the recordings are not there.
    ScenarioError
        The machine or an override cannot be understood.
    """
    chosen = experiments_of("wrench-cache", experiments, tuple(EXPERIMENTS))
    models = models_of(models, MODELS)
    vintage = vintage_of(overrides)
    profiles = recordings.memory_profiles(data) if data else {}
    plan = {
        (number, model): seeds or _default_seeds(machine or default_machine(model), EXPERIMENTS[number])
        for number in chosen
        for model in models
    }
    how: _How = {"machine": machine, "overrides": overrides, "simulate": simulate}
    runs, producing = _carry_out(plan, how, teller(progress))
    of_memory = [run for run in runs if run.experiment == "1"]
    left_out = tuple(_left_out(chosen, data))
    return WrenchCacheOutcome(
        experiments=chosen,
        models=models,
        vintage=vintage,
        seeds=max(plan.values()),
        overrides=tuple(overrides),
        runs=runs,
        rows=tuple(one for run in runs for one in _rows(run)),
        memory=tuple(one for run in of_memory if (one := compare(run, profiles.get(run.case))) is not None),
        cached_files=tuple(one for run in of_memory for one in compare_files(run)),
        producing=producing,
        profiles=profiles,
        left_out=left_out,
        provenance=provenance(
            "wrench-cache",
            source=SOURCE,
            command=command,
            machines={(run.experiment, run.machine): run.result.provenance["machine_hash"] for run in runs},
            seeds=max(plan.values()),
            overrides=overrides,
            data=data,
            left_out=left_out,
        ),
    )


class _How(TypedDict):
    """How every case is forecast, as `run_case` and `produce` take it."""

    machine: str | None
    overrides: Sequence[str]
    simulate: Simulate


def _carry_out(
    plan: Mapping[tuple[str, str], int], how: _How, tell: Progress
) -> tuple[tuple[CaseRun, ...], tuple[Producing, ...]]:
    """Forecast every case of each experiment and model of the plan, with as many seeds as it says."""
    runs: list[CaseRun] = []
    for done, ((number, model), seeds) in enumerate(plan.items()):
        tell(done / len(plan), f"Exp {number}, {model}")
        experiment = EXPERIMENTS[number]
        runs += (
            run_case(experiment, case, model=model, seeds=range(seeds), **how) for case in experiment.cases
        )
    producing = [
        produce(model=model, seeds=range(seeds), **how)
        for (number, model), seeds in plan.items()
        if number == "4"
    ]
    tell(1.0, "")
    return tuple(runs), tuple(producing)


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
