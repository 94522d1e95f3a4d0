"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.studies.cawl.forecast import SeriesRun
from pagecast.studies.cawl.predictions import Deviation
from pagecast.studies.cawl.rows import Points
from pagecast.studies.cawl.series import Series

__all__ = ["CawlOutcome"]


@dataclass(frozen=True, kw_only=True)
class CawlOutcome(outcome.Outcome):
    """Outcome: a `SeriesRun` per series and model.

    `deviations` are those of the model `cawl`, if it was asked, from its authors' predictions. `alone` are
    runs of series of which nothing was published. `points` are the measured times, of each write with
    ``--data`` (`is_full`), else of blocks of writes.
    """

    experiments: tuple[str, ...]
    runs: tuple[SeriesRun, ...]
    alone: tuple[SeriesRun, ...]
    points: Points
    is_full: bool
    deviations: tuple[Deviation, ...]

    def beside_times(self) -> dict[str, object]:
        """Say how far `cawl` is from the predictions, under the names of ``--json``."""
        return {"predictions": [each.as_dict() for each in self.deviations]}

    @property
    def series(self) -> list[Series]:
        """The series that were forecast, each once."""
        return list({run.series.name: run.series for run in self.runs}.values())

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that were simulated."""
        return tuple(dict.fromkeys(run.machine for run in self.runs))
