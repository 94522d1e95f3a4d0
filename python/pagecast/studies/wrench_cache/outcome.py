"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.studies.wrench_cache import recordings
from pagecast.studies.wrench_cache.forecast import CaseRun
from pagecast.studies.wrench_cache.memory import CachedFile, Levels
from pagecast.studies.wrench_cache.producing import Producing
from pagecast.studies.wrench_cache.tables import long_writes

__all__ = ["WrenchCacheOutcome"]


@dataclass(frozen=True, kw_only=True)
class WrenchCacheOutcome(outcome.Outcome):
    """Outcome: a `CaseRun` per case and model; those that were measured have rows.

    `seeds` is the greatest number of them; where nothing depends on it, one was run.
    `memory` and `cached_files` compare memory during Exp 1 with the measurement, `producing` has Exp 4 with
    the program's own rate. `profiles` are the measured memory profiles of Exp 1, empty without ``--data``.
    """

    experiments: tuple[str, ...]
    vintage: str
    seeds: int
    overrides: tuple[str, ...]
    runs: tuple[CaseRun, ...]
    memory: tuple[Levels, ...]
    cached_files: tuple[CachedFile, ...]
    producing: tuple[Producing, ...]
    profiles: dict[str, recordings.Profile]

    def beside_times(self) -> dict[str, object]:
        """Give memory, files, long writes and producing under the names of ``--json``."""
        return {
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
