"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.comparison.plateaus import Settled
from pagecast.studies.live_kernel.calibration import Calibration
from pagecast.studies.live_kernel.forecast import CaseRun
from pagecast.studies.live_kernel.levels import CachedFile, DirtyLevel

__all__ = ["LiveKernelOutcome"]


@dataclass(frozen=True, kw_only=True)
class LiveKernelOutcome(outcome.Outcome):
    """Outcome: a `CaseRun` per repetition and model, and the comparisons.

    `dirty` are levels of dirty memory, `cached` bytes of files in the page cache.
    `calibrations` are those of each platform.
    """

    platforms: tuple[str, ...]
    runs: tuple[CaseRun, ...]
    dirty: tuple[DirtyLevel, ...]
    cached: tuple[CachedFile, ...]
    calibrations: dict[str, Calibration]

    def beside_times(self) -> dict[str, object]:
        """Give levels and plateaus under the names of ``--json``."""
        return {
            "dirty_levels": [each.as_dict() for each in self.dirty],
            "cached_files": [each.as_dict() for each in self.cached],
            "plateaus": [each.as_dict() for each in self.plateaus],
        }

    @property
    def plateaus(self) -> tuple[Settled, ...]:
        """Where throttling was traced: where it settled, and where it was to."""
        return tuple(pair for run in self.runs if (pair := run.settled()) is not None)

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that were simulated."""
        return tuple(dict.fromkeys(run.machine for run in self.runs))
