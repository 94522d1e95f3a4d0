"""What a validation gives: errors of times, levels of memory over time, and a verdict on each case."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.studies.comparison import Row, main_model, to_json
from pagecast.validation.case import Tolerance, Validated

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.validation.residency import CachedFile

__all__ = ["ENOUGH", "MEASURED", "TOTAL", "Level", "Outcome", "Verdict", "share_within"]

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
            "mean_deviation": float(np.mean(self.deviations)),
            "greatest_deviation": float(np.max(self.deviations)),
            "n": len(self.deviations),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a case is forecast well enough under one model.

    Attributes
    ----------
    error : float
        Signed error of the total time, of all repetitions together.
    spread : float or None
        Half the range of the measured total times by their median; None of one run.
    tolerance : Tolerance
        What the case asks for.
    dirty_within, cached_within : float or None
        Share of the samples, of all repetitions, that are within the tolerance; None where the level is not
        known.
    """

    case: str
    model: str
    error: float
    spread: float | None
    tolerance: Tolerance
    dirty_within: float | None
    cached_within: float | None

    @property
    def allowed(self) -> float:
        """How far the total may be off: the tolerance, or twice the measurement's own spread."""
        return max(self.tolerance.total, 2 * (self.spread or 0.0))

    @property
    def is_total_within(self) -> bool:
        """Whether the total time is."""
        return abs(self.error) <= self.allowed

    @property
    def is_dirty_within(self) -> bool:
        """Whether dirty memory is at `ENOUGH` of the samples, or is not known."""
        return self.dirty_within is None or self.dirty_within >= ENOUGH

    @property
    def is_cached_within(self) -> bool:
        """Whether cached memory is at `ENOUGH` of the samples, or is not known."""
        return self.cached_within is None or self.cached_within >= ENOUGH

    @property
    def is_within(self) -> bool:
        """Whether all three are."""
        return self.is_total_within and self.is_dirty_within and self.is_cached_within

    @property
    def is_by_spread(self) -> bool:
        """Whether it is within only because the measurement itself differs so much from run to run."""
        return self.is_within and abs(self.error) > self.tolerance.total

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "model": self.model,
            "total_error": self.error,
            "spread": self.spread,
            "total_tolerance": self.tolerance.total,
            "total_allowed": self.allowed,
            "dirty_tolerance": self.tolerance.dirty,
            "dirty_share_within": self.dirty_within,
            "cached_tolerance": self.tolerance.cached,
            "cached_share_within": self.cached_within,
            "is_within": self.is_within,
            "is_by_spread": self.is_by_spread,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of validating cases on this machine.

    `name` is that of the suite or scenario. `rows` are times, `dirty` and `cached` levels over time, `files`
    what was cached of each file at the end, and after each operation where a scenario asks for that;
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

    @property
    def model(self) -> str:
        """The model that is validated: the first that is no rival."""
        return main_model(self.models)

    @property
    def is_within(self) -> bool:
        """Whether every case was run and is forecast within its tolerance; not if nothing was compared."""
        judged = [verdict.is_within for verdict in self.verdicts]
        return not self.failures and bool(judged) and all(judged)

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
            "processor_pressure": self.processor_pressure,
            "dirty_levels": [each.as_dict(tolerances[each.case].dirty) for each in self.dirty],
            "cached_levels": [each.as_dict(tolerances[each.case].cached) for each in self.cached],
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
