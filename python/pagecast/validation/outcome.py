"""The result of a validation: errors of times, levels of memory over time, and a verdict on each case."""

from collections import Counter
from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.comparison.coverage import coverage_of
from pagecast.comparison.levels import Level
from pagecast.comparison.rows import main_model
from pagecast.comparison.standing import Standing
from pagecast.comparison.verdicts import Verdict
from pagecast.validation.case import Validated
from pagecast.validation.details import RunOperation
from pagecast.validation.percentiles import percentiles
from pagecast.validation.plateaus import settled
from pagecast.validation.residency import CachedFile

__all__ = ["Outcome"]


@dataclass(frozen=True, kw_only=True)
class Outcome(outcome.Outcome):
    """The outcome of validating cases on this machine.

    `name` is that of the suite or scenario. `rows` are times, `dirty` and `cached` levels over time,
    `files` the cached bytes of each file at the end, and after each operation where a scenario asks for
    that, `operations` the runs' figures of each operation that has rows; `verdicts` are about the
    model that is validated, one for each case. `failures` are cases that could not be run or forecast, and
    why; `left_out` names omissions of the others.
    """

    name: str
    validated: tuple[Validated, ...]
    dirty: tuple[Level, ...]
    cached: tuple[Level, ...]
    verdicts: tuple[Verdict, ...]
    failures: tuple[str, ...] = ()
    files: tuple[CachedFile, ...] = ()
    operations: tuple[RunOperation, ...] = ()

    @property
    def model(self) -> str:
        """The model that is validated: the first that is no rival."""
        return main_model(self.models)

    @property
    def is_within(self) -> bool:
        """Whether every case was run and is within the allowed error; not if nothing was compared.

        Nor if ranges were drawn and hold so few cases that they are rejected.
        """
        judged = [verdict.is_within for verdict in self.verdicts]
        coverage = coverage_of(self.rows)
        is_rejected = coverage is not None and coverage.is_rejected
        return not self.failures and bool(judged) and all(judged) and not is_rejected

    def counts(self) -> dict[Standing, int]:
        """Count the cases of each verdict, from the best to the worst; 0 where there is none."""
        counted = Counter(verdict.standing for verdict in self.verdicts)
        return {standing: counted[standing] for standing in Standing}

    @property
    def processor_pressure(self) -> float:
        """For how much of the time something waited for a processor, in the worst run."""
        runs = (run for each in self.validated for run in each.measured)
        return max((run.processor_pressure for run in runs), default=0.0)

    def beside_times(self) -> dict[str, object]:
        """Give verdicts, levels, plateaus of traced runs, under the names of ``--json``."""
        tolerances = {each.case.name: each.case.tolerance for each in self.validated}
        return {
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "is_within": self.is_within,
            "counts": {standing.value: count for standing, count in self.counts().items()},
            "processor_pressure": self.processor_pressure,
            "dirty_levels": [each.as_dict(tolerances[each.case].dirty) for each in self.dirty],
            "cached_levels": [each.as_dict(tolerances[each.case].cached) for each in self.cached],
            "operations": [each.as_dict() for each in self.operations],
            "percentiles": [one.as_dict() for each in self.validated for one in percentiles(each)],
            "cached_files": [each.as_dict() for each in self.files],
            "plateaus": [pair.as_dict() for pair in settled(self.validated)],
            "failures": list(self.failures),
            "left_out": list(self.left_out),
        }
