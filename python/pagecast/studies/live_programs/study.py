"""Forecast job files and traces, and compare with what fio and the clock said."""

from collections.abc import Iterator, Sequence
from typing import Final

from pagecast.api import simulate
from pagecast.calibration.fits import limit_share
from pagecast.comparison import machines
from pagecast.comparison.rows import RIVALS, Row
from pagecast.errors import ScenarioError, SimulationError, StudyError
from pagecast.studies.live_kernel import calibration
from pagecast.studies.live_kernel.forecast import initial_state
from pagecast.studies.live_programs.forecast import Told, forecast_command, forecast_fio
from pagecast.studies.live_programs.outcome import CommandPoint, FioPoint, LiveProgramsOutcome
from pagecast.studies.live_programs.recordings import Command, FioRun, Platform, platforms
from pagecast.studies.live_programs.report import PRESENTATION
from pagecast.studies.live_programs.requests import latencies
from pagecast.studies.skeleton import Asked, Study

__all__ = ["STUDY"]

GIB: Final = 2**30

COSTED: Final = "kernel"
"""The model that gets the calibration, and the kernel's earlier estimates."""

MACHINE: Final = "machine.toml"
"""The machine file in the folder of a platform."""


def _forecast(asked: Asked) -> LiveProgramsOutcome:
    """Forecast the recorded programs; an experiment is a platform, on the machine file in its folder."""
    if asked.data is None:
        raise StudyError("live-programs needs recordings; name their folder with --data DIR")
    found = [of for of in platforms(asked.data) if of.name in asked.experiments or not asked.experiments]
    if not found:
        raise StudyError(f"the recordings have no platform {', '.join(asked.experiments)}")
    runs: list[tuple[Platform, FioRun | Command]] = [(of, run) for of in found for run in of.fio]
    runs += [(of, run) for of in found for run in of.commands]
    plan = [(of, run, model) for of, run in runs for model in asked.models]
    known = {of.name: _Known(asked, of) for of in found}
    fio: list[FioPoint] = []
    commands: list[CommandPoint] = []
    left_out: list[str] = []
    for platform, run, model in asked.steps(plan, lambda of: f"{of[0].name}, {of[1].case}, {of[2]}"):
        try:
            if isinstance(run, FioRun):
                fio += known[platform.name].fio(run, model)
            else:
                commands.append(known[platform.name].command(run, model))
        except (ScenarioError, SimulationError) as error:
            left_out.append(f"{platform.name}, {run.case} under {model}: {error}")
    hashes = {
        (of.name, of_known.machine): of_known.hash for of, of_known in zip(found, known.values(), strict=True)
    }
    return LiveProgramsOutcome(
        presentation=PRESENTATION,
        platforms=tuple(of.name for of in found),
        models=asked.models,
        rows=tuple(_rows(fio, commands, {of.name: known[of.name].machine for of in found})),
        fio=tuple(fio),
        commands=tuple(commands),
        calibrations={name: of.values for name, of in known.items()},
        left_out=tuple(dict.fromkeys(left_out)),
        provenance=asked.provenance(hashes, left_out=left_out),
    )


class _Known:
    """What is known of a platform: its machine, and the calibration on its cases m_memory and m_disk."""

    def __init__(self, asked: Asked, platform: Platform) -> None:
        own = platform.folder / MACHINE
        if asked.machine is None and not own.is_file():
            raise StudyError(
                f"{platform.folder}: no {MACHINE} in it; describe the machine with --machine FILE"
            )
        self.machine = asked.machine or str(own)
        self.hash = ""
        self._asked, self._platform = asked, platform
        self._host = machines.load(self.machine)
        described = machines.described(self._host)
        share = limit_share(described["vm"], described["kernel"]["version"])
        found = calibration.calibrate(platform.recordings.values(), share=share)
        call_s = 0.0 if found.costs is None else found.costs.call_s
        disk = machines.disk_of(self._host)
        of_disk = latencies(platform.recordings.values(), disk, described, call_s=call_s)
        self.values = found.values() | of_disk

    def fio(self, run: FioRun, model: str) -> Iterator[FioPoint]:
        """Forecast a job file."""
        mount = machines.mount_of(self._host)
        jobs, self.hash = forecast_fio(
            run, self._told(run, model), mount=mount, simulate=self._asked.simulate
        )
        for job in run.jobs:
            # Several jobs of one name stand in the same order in both.
            same = [of for of in jobs if (of.job, of.direction) == (job.job, job.direction)]
            if same:
                jobs.remove(same[0])
                yield FioPoint(self._platform.name, run, model, job, same[0])

    def command(self, command: Command, model: str) -> CommandPoint:
        """Forecast a command."""
        forecast = forecast_command(command, self._told(command, model), simulate=self._asked.simulate)
        self.hash = forecast.machine_hash
        return CommandPoint(self._platform.name, command, model, forecast)

    def _told(self, of: FioRun | Command, model: str) -> Told:
        """Say what a model is told; `COSTED` is told what is known of the platform."""
        overrides = self._asked.overrides
        options = machines.model_options(model, overrides)
        if model != COSTED:
            return Told(self.machine, {}, overrides, model, options)
        recording = self._platform.recordings.get((of.case, of.repetition))
        state = {} if recording is None else initial_state(recording, self._host)
        return Told(self.machine, self.values, overrides, model, state | options)


def _rows(
    fio: Sequence[FioPoint], commands: Sequence[CommandPoint], machine: dict[str, str]
) -> Iterator[Row]:
    """Make rows of times: that of a GiB, the percentiles, and wall times of commands."""
    for point in fio:
        measured, forecast = point.measured, point.forecast
        yield _row(
            point, measured.name, f"GiB {measured.name}",
            GIB / measured.rate_bytes_per_s, GIB / forecast.rate_bytes_per_s, machine,
        )  # fmt: skip
        yield _row(point, measured.name, f"p50 {measured.name}", measured.p50_s, forecast.p50_s, machine)
        yield _row(point, measured.name, f"p99 {measured.name}", measured.p99_s, forecast.p99_s, machine)
    for each in commands:
        yield _row(each, None, each.command.state, each.command.wall_s, each.forecast.wall_s, machine)


def _row(
    point: FioPoint | CommandPoint,
    process: str | None,
    operation: str,
    measured_s: float,
    forecast_s: float,
    machine: dict[str, str],
) -> Row:
    of = point.run if isinstance(point, FioPoint) else point.command
    return Row(
        point.platform,
        of.case,
        repetition=of.repetition,
        process=process,
        operation=operation,
        model=point.model,
        machine=machine[point.platform],
        role="judged",
        measured_s=measured_s,
        forecast_s=forecast_s,
    )


STUDY: Final = Study(
    name="live-programs",
    source="recordings of programs on live kernels in the folder of --data",
    models=("kernel", *RIVALS),
    forecast=_forecast,
    simulate=simulate,
)
