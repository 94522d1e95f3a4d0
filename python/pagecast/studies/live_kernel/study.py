"""Forecast the cases of live kernels and hold the forecasts against what was recorded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pagecast.calibration.fits import limit_share
from pagecast.comparison import machines
from pagecast.comparison.plateaus import Settled
from pagecast.comparison.provenance import provenance
from pagecast.comparison.rows import RIVALS, Row, to_json
from pagecast.errors import SimulationError, StudyError
from pagecast.progress import Progress, teller
from pagecast.studies.asked import check_seeds, models_of
from pagecast.studies.live_kernel import calibration
from pagecast.studies.live_kernel.calibration import Calibration
from pagecast.studies.live_kernel.forecast import CaseRun, Simulate, initial_state, run_case, simulate_case
from pagecast.studies.live_kernel.levels import CachedFile, DirtyLevel
from pagecast.studies.live_kernel.program import MAIN, UnsupportedError
from pagecast.studies.live_kernel.recordings import Platform, Recording, platforms

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["EXPERIMENTS", "MODELS", "LiveKernelOutcome", "run"]

EXPERIMENTS: Final[tuple[str, ...]] = ()
"""An experiment is a platform; the recordings say which there are."""

MODELS: Final = ("kernel", *RIVALS)
"""The models that are asked by default."""

TOTAL: Final = "total"
"""The operation of the row that has a whole case."""

LEAST_S: Final = 0.5
"""A phase that took less has no row: its repetitions differ too much."""

COSTED: Final = "kernel"
"""The model that is told what was calibrated, and what the kernel had learnt before."""

MACHINES: Final = {"guest612-zram-2g": "live-guest612", "host618-zram-2g": "live-host618"}
"""The shipped machine of a platform."""

SOURCE: Final = "recordings of live kernels in the folder of --data"


@dataclass(frozen=True, slots=True)
class LiveKernelOutcome:
    """What came out: a `CaseRun` per repetition and model, and what was compared.

    `rows` are times; `dirty` are levels of dirty memory, `cached` bytes of files in the page cache.
    `calibrations` are what the recordings say of each platform.
    """

    platforms: tuple[str, ...]
    models: tuple[str, ...]
    runs: tuple[CaseRun, ...]
    rows: tuple[Row, ...]
    dirty: tuple[DirtyLevel, ...]
    cached: tuple[CachedFile, ...]
    calibrations: dict[str, Calibration]
    left_out: tuple[str, ...]
    provenance: dict[str, object]

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance, and the levels."""
        return to_json(self.rows, self.provenance) | {
            "dirty_levels": [each.as_dict() for each in self.dirty],
            "cached_files": [each.as_dict() for each in self.cached],
            "plateaus": [each.as_dict() for each in self.plateaus],
        }

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.studies.live_kernel.terminal import print_outcome

        print_outcome(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report import write
        from pagecast.studies.live_kernel.report import build

        write(build(self), path)

    @property
    def plateaus(self) -> tuple[Settled, ...]:
        """Where throttling was traced: where it settled, and where it was to."""
        return tuple(pair for run in self.runs if (pair := run.settled()) is not None)

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that were simulated."""
        return tuple(dict.fromkeys(run.machine for run in self.runs))


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
) -> LiveKernelOutcome:
    """Forecast the recorded cases and compare.

    Parameters
    ----------
    experiments : sequence of str
        Names of platforms; nothing means all in the folder.
    models : sequence of str
        Nothing means `MODELS`.
    machine : str, optional
        A shipped machine or a machine file for all platforms; by default that of `MACHINES`.
    data : Path
        The folder of recordings. Nothing is shipped that could stand for it.
    seeds : int, optional
        Only 1: nothing here is random.
    overrides : sequence of str
        ``key=value`` for every machine and model, such as ``machine.vm.dirty_ratio=10``.
    command : str
        What the report names as the command that made it.
    progress : callable, optional
    simulate : callable, optional
        How a case is forecast; tests put their own in its place.

    Returns
    -------
    LiveKernelOutcome

    Raises
    ------
    StudyError
        The recordings are not there or cannot be understood, or a platform has no machine.
    ScenarioError
        The machine or an override cannot be understood.
    """
    check_seeds("live-kernel", seeds)
    if data is None:
        raise StudyError("live-kernel needs recordings; name their folder with --data DIR")
    chosen = _chosen(platforms(data), experiments)
    models = models_of(models, MODELS)
    names = {platform.name: machine or _machine_of(platform) for platform in chosen}
    calibrations = {platform.name: _calibrate(platform, names[platform.name]) for platform in chosen}
    runs: list[CaseRun] = []
    left_out = list(_left_out(chosen, calibrations, machine))
    plan = [
        (platform, each, model) for platform in chosen for each in platform.recordings for model in models
    ]
    tell = teller(progress)
    for done, (platform, recording, model) in enumerate(plan):
        tell(done / len(plan), f"{platform.name}, {recording.case}, {model}")
        name, known = names[platform.name], calibrations[platform.name]
        try:
            one = _forecast(platform, recording, model, name, known, overrides, simulate)
        except UnsupportedError as error:
            left_out.append(f"{platform.name}, {recording.case}: {error}")
        except SimulationError as error:
            left_out.append(f"{platform.name}, {recording.case} under {model}: {error}")
        else:
            runs.append(one)
            left_out += _unmatched(one)
    tell(1.0, "")
    left_out = list(dict.fromkeys(left_out))
    return LiveKernelOutcome(
        platforms=tuple(platform.name for platform in chosen),
        models=models,
        runs=tuple(runs),
        rows=tuple(row for one in runs for row in _rows(one)),
        dirty=tuple(level for one in runs if (level := one.dirty()) is not None),
        cached=tuple(file for one in runs for file in one.cached),
        calibrations=calibrations,
        left_out=tuple(left_out),
        provenance=provenance(
            "live-kernel",
            source=SOURCE,
            command=command,
            machines={(one.platform, one.machine): one.machine_hash for one in runs},
            seeds=1,
            overrides=overrides,
            data=data,
            left_out=left_out,
        ),
    )


def _chosen(found: Sequence[Platform], named: Sequence[str]) -> list[Platform]:
    known = [platform.name for platform in found]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise StudyError(f"the recordings have no platform {unknown[0]!r}; they have {', '.join(known)}")
    return [platform for platform in found if platform.name in named or not named]


def _machine_of(platform: Platform) -> str:
    if platform.name not in MACHINES:
        raise StudyError(
            f"platform {platform.name} has no shipped machine; describe it in a file "
            "and name that with --machine"
        )
    return MACHINES[platform.name]


def _calibrate(platform: Platform, machine: str) -> Calibration:
    """Calibrate a platform; the machine file says by which rule its kernel set the dirty limit."""
    host = machines.described(machines.load(machine))
    return calibration.calibrate(
        platform.recordings, share=limit_share(host["vm"], host["kernel"]["version"])
    )


def _forecast(
    platform: Platform,
    recording: Recording,
    model: str,
    machine: str,
    known: Calibration,
    overrides: Sequence[str],
    simulate: Simulate,
) -> CaseRun:
    """Forecast a repetition; the model `COSTED` is told what is known of the platform and its kernel."""
    is_told = model == COSTED
    host = machines.load(machine, overrides=overrides, values=known.values() if is_told else None)
    options = initial_state(recording, host) if is_told else {}
    return run_case(
        platform.cases[recording.case],
        recording,
        platform=platform.name,
        model=model,
        machine_name=machine,
        machine=host,
        options=options | machines.model_options(model, overrides),
        simulate=simulate,
    )


def _rows(one: CaseRun) -> Iterator[Row]:
    """Make a row of the whole case, and one of each phase that is long enough."""
    measured_s = one.recording.total_s()
    if measured_s > 0:
        yield _row(one, None, TOTAL, measured_s, one.total_s)
    for (process, phase), time_s in one.recording.phases().items():
        if time_s > LEAST_S and (process, phase) in one.seconds:
            yield _row(one, process, phase, time_s, one.seconds[process, phase])


def _unmatched(one: CaseRun) -> Iterator[str]:
    """Name what was recorded in a process and phase that the steps of the case do not have."""
    for (process, phase), time_s in one.recording.phases().items():
        if time_s > LEAST_S and (process, phase) not in one.seconds:
            yield (
                f"{one.platform}, {one.recording.case}: phase {phase} of process {process}, "
                "which is in the recording, but not in the steps"
            )


def _row(one: CaseRun, process: str | None, operation: str, measured_s: float, forecast_s: float) -> Row:
    return Row(
        one.platform,
        one.recording.case,
        repetition=one.recording.repetition,
        process=process if process != MAIN else None,
        operation=operation,
        model=one.model,
        machine=one.machine,
        role="calibration" if one.recording.case == calibration.CASE else "judged",
        measured_s=measured_s,
        forecast_s=forecast_s,
    )


def _left_out(
    chosen: Sequence[Platform], calibrations: dict[str, Calibration], machine: str | None
) -> Iterator[str]:
    for platform in chosen:
        if platform.unknown:
            yield f"{platform.name}: recordings without steps in cases/: {', '.join(platform.unknown)}"
        recorded = {recording.case for recording in platform.recordings}
        if missing := [name for name in platform.cases if name not in recorded]:
            yield f"{platform.name}: cases without a recording: {', '.join(missing)}"
        found = calibrations[platform.name]
        if found.costs is None:
            yield f"{platform.name}: calibration on {calibration.CASE}; costs are those of the machine file"
        if found.memory is None:
            yield f"{platform.name}: samples of {calibration.CASE}; memory is that of the machine file"
    if machine is not None and len(chosen) > 1:
        yield f"machines of their own: {machine} stands for all {len(chosen)} platforms (--exp chooses one)"
