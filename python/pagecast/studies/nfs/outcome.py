"""The outcome of the study."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.studies.nfs.forecast import Forecast
from pagecast.studies.nfs.published import Case

__all__ = ["NfsOutcome"]


@dataclass(frozen=True, kw_only=True)
class NfsOutcome(outcome.Outcome):
    """Outcome; `server` is the case that fixes the rate of the server's disk, `patches` are not forecast."""

    server: Case
    disk_mib_per_s: float
    forecasts: tuple[Forecast, ...]
    patches: tuple[Case, ...]

    def beside_times(self) -> dict[str, object]:
        """Give throughputs, and sizes and round trips of COMMITs, under the names of ``--json``."""
        return {
            "cases": [
                {
                    "case": one.case.name,
                    "is_calibration": one.case == self.server,
                    "published_mib_per_s": one.case.mib_per_s,
                    "forecast_mib_per_s": one.mib_per_s,
                    "published_commit_mib": one.case.commits and one.case.commits.size_mib,
                    "forecast_commit_mib": one.commit_mib,
                    "published_round_trip_s": one.case.commits and one.case.commits.round_trip_s,
                    "forecast_round_trip_s": one.round_trip_s,
                }
                for one in self.forecasts
            ]
        }
