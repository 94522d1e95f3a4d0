"""The outcome of the study: each measured number beside the forecasts of all models."""

from dataclasses import dataclass
from typing import Final

from pagecast.comparison import outcome
from pagecast.studies.live_programs.forecast import CommandForecast
from pagecast.studies.live_programs.recordings import Command, FioJob, FioRun

__all__ = ["CommandPoint", "FioPoint", "LiveProgramsOutcome"]

RATE_TOLERANCE: Final = 0.10
P50_TOLERANCE: Final = 0.25
WALL_TOLERANCE: Final = 0.15


@dataclass(frozen=True, slots=True)
class FioPoint:
    """One direction of a job, measured and forecast by one model."""

    platform: str
    run: FioRun
    model: str
    measured: FioJob
    forecast: FioJob

    @property
    def rate_error(self) -> float:
        """Signed relative error of the bandwidth."""
        return self.forecast.rate_bytes_per_s / self.measured.rate_bytes_per_s - 1

    def as_dict(self) -> dict[str, object]:
        """Give the point under the names of ``--json``."""
        of = {"experiment": self.platform, "case": self.run.case, "repetition": self.run.repetition}
        job = {"job": self.measured.job, "direction": self.measured.direction, "model": self.model}
        values: dict[str, object] = {}
        for name in ("rate_bytes_per_s", "p50_s", "p99_s"):
            values[f"measured_{name}"] = getattr(self.measured, name)
            values[f"forecast_{name}"] = getattr(self.forecast, name)
        return of | job | values


@dataclass(frozen=True, slots=True)
class CommandPoint:
    """One run of a command without strace, and the forecast of one model from the trace of another run."""

    platform: str
    command: Command
    model: str
    forecast: CommandForecast

    @property
    def error(self) -> float:
        """Signed relative error of the wall time."""
        return self.forecast.wall_s / self.command.wall_s - 1

    def as_dict(self) -> dict[str, object]:
        """Give the point under the names of ``--json``."""
        of, said = self.command, self.forecast
        return {
            "experiment": self.platform, "case": of.case, "repetition": of.repetition, "state": of.state,
            "model": self.model, "measured_s": of.wall_s, "traced_s": of.traced_s, "forecast_s": said.wall_s,
            "measured_read_bytes": of.read_bytes, "forecast_read_bytes": said.read_bytes,
            "measured_write_bytes": of.write_bytes, "forecast_write_bytes": said.write_bytes,
            "measured_read_calls": of.read_calls, "forecast_read_calls": said.read_calls,
            "measured_write_calls": of.write_calls, "forecast_write_calls": said.write_calls,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LiveProgramsOutcome(outcome.Outcome):
    """Outcome: a point per number and model; `calibrations` are keys and values of each platform."""

    platforms: tuple[str, ...]
    fio: tuple[FioPoint, ...]
    commands: tuple[CommandPoint, ...]
    calibrations: dict[str, dict[str, str]]

    def beside_times(self) -> dict[str, object]:
        """Give the points under the names of ``--json``."""
        return {
            "fio": [point.as_dict() for point in self.fio],
            "commands": [point.as_dict() for point in self.commands],
        }
