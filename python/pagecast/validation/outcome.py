"""What a validation gives: errors of times, levels of memory over time, and a verdict on each case."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.studies.comparison import Row, main_model, to_json
from pagecast.validation.case import Tolerance, Validated
from pagecast.validation.standing import Check, Standing

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.validation.details import RunOperation
    from pagecast.validation.residency import CachedFile

__all__ = ["ENOUGH", "MEASURED", "TOTAL", "Level", "Outcome", "Verdict", "deviation_of_most", "share_within"]

TOTAL: Final = "total"
"""The operation of the row that has a whole repetition of a case."""

MEASURED: Final = "measured"
"""The model of levels of one run that are held against another run: the measurement's own spread."""

ENOUGH: Final = 0.95
"""Share of the samples of a level that must be within its tolerance."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level of memory in one repetition of a case: how far its samples are from what one model forecast.

    `deviations`, one for each time of `time_s`, are shares of the dirty limit, or of the memory for cached
    bytes; 0 within the range of the forecast over +-0.2 s. Under the model `MEASURED` another run stands
    for the forecast.
    """

    case: str
    repetition: int
    model: str
    time_s: NDArray[np.float64]
    deviations: NDArray[np.float64]

    def share_within(self, tolerance: float) -> float:
        """Share of the samples that are no farther away than this."""
        return float(np.mean(self.deviations <= tolerance))

    def as_dict(self, tolerance: float) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "repetition": self.repetition,
            "model": self.model,
            "tolerance": tolerance,
            "share_within": self.share_within(tolerance),
            "deviation_at_95_percent": deviation_of_most([self]),
            "mean_deviation": float(np.mean(self.deviations)),
            "greatest_deviation": float(np.max(self.deviations)),
            "n": len(self.deviations),
        }


@dataclass(frozen=True, slots=True)
class LevelVerdict:
    """How a level of memory of a case is forecast.

    Attributes
    ----------
    check : Check
        The deviation that `ENOUGH` of the samples of all runs are within, and the same of runs held against
        each other.
    share_within, share_allowed : float
        Share of the samples that are within the tolerance, and within what is allowed.
    """

    check: Check
    share_within: float
    share_allowed: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a case is forecast well enough under one model.

    Attributes
    ----------
    error : float
        Signed error of the total time, of all repetitions together.
    error_without_waiting : float
        The same of the total time less what went by waiting for a processor.
    spread : float or None
        Half the range of the measured total times by their median; None of one run.
    run_queue_s : float
        How much of the measured total went by waiting for a processor, mean over the repetitions.
    tolerance : Tolerance
        What the case asks for.
    dirty, cached : LevelVerdict or None
        None where the level is not known.
    """

    case: str
    model: str
    error: float
    error_without_waiting: float
    spread: float | None
    run_queue_s: float
    tolerance: Tolerance
    dirty: LevelVerdict | None
    cached: LevelVerdict | None

    @property
    def total(self) -> Check:
        """The total time: two runs are apart by twice `spread` at most."""
        between_runs = None if self.spread is None else 2 * self.spread
        without = abs(self.error_without_waiting) if self.error < 0 else None
        return Check(abs(self.error), self.tolerance.total, between_runs, without)

    @property
    def standing(self) -> Standing:
        """The worst of total time, dirty and cached memory; a level that is not known does not count.

        Where the time is not judged, levels over that time are not either.
        """
        if self.total.standing is Standing.NOT_JUDGED:
            return Standing.NOT_JUDGED
        levels = (level.check for level in (self.dirty, self.cached) if level is not None)
        return max((check.standing for check in (self.total, *levels)), key=list(Standing).index)

    @property
    def allowed(self) -> float:
        """How far the total may be off: the tolerance, or twice the measurement's own spread."""
        return self.total.allowed

    @property
    def is_total_within(self) -> bool:
        """Whether the total time is off by no more than `allowed`."""
        return self.total.off <= self.total.allowed

    @property
    def dirty_within(self) -> float | None:
        """Share of the samples at which dirty memory is within the tolerance; None where it is not known."""
        return None if self.dirty is None else self.dirty.share_within

    @property
    def cached_within(self) -> float | None:
        """Share of the samples at which cached memory is within the tolerance; None where it is not known."""
        return None if self.cached is None else self.cached.share_within

    @property
    def is_within(self) -> bool:
        """Whether all three are judged and within what is allowed."""
        return self.standing in (Standing.WITHIN, Standing.BY_SPREAD)

    @property
    def is_by_spread(self) -> bool:
        """Whether it is within only because the measurement itself differs so much from run to run."""
        return self.standing is Standing.BY_SPREAD

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "model": self.model,
            "verdict": self.standing.value,
            "total_error": self.error,
            "total_error_without_waiting": self.error_without_waiting,
            "spread": self.spread,
            "run_queue_s": self.run_queue_s,
            "total_tolerance": self.tolerance.total,
            "total_allowed": self.allowed,
            "total_verdict": self.total.standing.value,
            **_level_dict("dirty", self.dirty, self.tolerance.dirty),
            **_level_dict("cached", self.cached, self.tolerance.cached),
            "is_within": self.is_within,
            "is_by_spread": self.is_by_spread,
        }


def _level_dict(name: str, level: LevelVerdict | None, tolerance: float) -> dict[str, object]:
    found = {
        "tolerance": tolerance,
        "share_within": level and level.share_within,
        "deviation_at_95_percent": level and level.check.off,
        "between_runs": level and level.check.between_runs,
        "allowed": level and level.check.allowed,
        "verdict": level and level.check.standing.value,
    }
    return {f"{name}_{key}": value for key, value in found.items()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of validating cases on this machine.

    `name` is that of the suite or scenario. `rows` are times, `dirty` and `cached` levels over time, `files`
    what was cached of each file at the end, and after each operation where a scenario asks for that,
    `operations` what else the runs tell of each operation that has rows;
    `verdicts` are about the model that is validated, one for each case. `failures` are cases that could not
    be run or forecast, and why; `left_out` is what was not compared of the others.
    """

    name: str
    validated: tuple[Validated, ...]
    models: tuple[str, ...]
    rows: tuple[Row, ...]
    dirty: tuple[Level, ...]
    cached: tuple[Level, ...]
    verdicts: tuple[Verdict, ...]
    left_out: tuple[str, ...]
    provenance: dict[str, object]
    failures: tuple[str, ...] = ()
    files: "tuple[CachedFile, ...]" = ()
    operations: "tuple[RunOperation, ...]" = ()

    @property
    def model(self) -> str:
        """The model that is validated: the first that is no rival."""
        return main_model(self.models)

    @property
    def is_within(self) -> bool:
        """Whether every case was run and is within what is allowed; not if nothing was compared."""
        judged = [verdict.is_within for verdict in self.verdicts]
        return not self.failures and bool(judged) and all(judged)

    def counts(self) -> dict[Standing, int]:
        """Count the cases of each verdict, from the best to the worst; 0 where there is none."""
        counted = Counter(verdict.standing for verdict in self.verdicts)
        return {standing: counted[standing] for standing in Standing}

    @property
    def processor_pressure(self) -> float:
        """For how much of the time something waited for a processor, in the worst run."""
        runs = (run for each in self.validated for run in each.measured)
        return max((run.processor_pressure for run in runs), default=0.0)

    def conclusion(self) -> tuple[str, ...]:
        """Say what came out, a sentence each."""
        from pagecast.validation.conclusion import conclusion

        return conclusion(self)

    def to_json(self) -> dict[str, object]:
        """Give rows, summary and provenance as studies do, levels, plateaus of traced runs, and verdicts."""
        from pagecast.validation.plateaus import settled

        tolerances = {each.case.name: each.case.tolerance for each in self.validated}
        return to_json(self.rows, self.provenance) | {
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "is_within": self.is_within,
            "counts": {standing.value: count for standing, count in self.counts().items()},
            "processor_pressure": self.processor_pressure,
            "dirty_levels": [each.as_dict(tolerances[each.case].dirty) for each in self.dirty],
            "cached_levels": [each.as_dict(tolerances[each.case].cached) for each in self.cached],
            "operations": [each.as_dict() for each in self.operations],
            "cached_files": [each.as_dict() for each in self.files],
            "plateaus": [pair.as_dict() for pair in settled(self.validated)],
            "failures": list(self.failures),
            "left_out": list(self.left_out),
        }

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.validation.terminal import print_outcome

        print_outcome(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report import write
        from pagecast.validation.report import build

        write(build(self), path)


def share_within(levels: Iterable[Level], tolerance: float) -> float | None:
    """Share of all samples of several levels that are within a tolerance; None if there are no samples."""
    all_of = [each.deviations for each in levels]
    if not all_of:
        return None
    return float(np.mean(np.concatenate(all_of) <= tolerance))


def deviation_of_most(levels: Iterable[Level]) -> float | None:
    """Give the least deviation that `ENOUGH` of all samples are within; None if there are no samples.

    So `share_within` a tolerance is `ENOUGH` if and only if this is no more than the tolerance.
    """
    all_of = [each.deviations for each in levels]
    if not all_of:
        return None
    deviations = np.sort(np.concatenate(all_of))
    # What 0.95 n is off by in binary must not ask for one sample more.
    return float(deviations[math.ceil(round(ENOUGH * len(deviations), 6)) - 1])
