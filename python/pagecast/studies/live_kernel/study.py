"""Forecast the cases of live kernels and compare them with the recordings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pagecast.calibration.fits import limit_share
from pagecast.comparison import machines
from pagecast.comparison.rows import RIVALS, TOTAL, Row
from pagecast.errors import SimulationError, StudyError
from pagecast.studies.live_kernel import calibration
from pagecast.studies.live_kernel.calibration import Calibration
from pagecast.studies.live_kernel.forecast import CaseRun, initial_state, run_case, simulate_case
from pagecast.studies.live_kernel.outcome import LiveKernelOutcome
from pagecast.studies.live_kernel.program import MAIN, UnsupportedError
from pagecast.studies.live_kernel.recordings import Platform, Recording, platforms
from pagecast.studies.live_kernel.report import PRESENTATION
from pagecast.studies.recorded import chosen_of
from pagecast.studies.skeleton import Asked, Study
from pagecast.uncertainty.model_error import MODEL, shipped
from pagecast.uncertainty.totals import range_of_total

if TYPE_CHECKING:
    from pagecast._core import Machine

__all__ = ["STUDY"]

LEAST_S: Final = 0.5
"""A phase that took less has no row: its repetitions differ too much."""

COSTED: Final = MODEL
"""The model that gets the calibration, and the kernel's earlier estimates."""

MACHINES: Final = {"guest612-zram-2g": "live-guest612", "host618-zram-2g": "live-host618"}
"""The shipped machine of a platform."""


def _forecast(asked: Asked) -> LiveKernelOutcome:
    """Forecast the recorded cases; an experiment is a platform, by default on its machine of `MACHINES`."""
    if asked.data is None:
        raise StudyError("live-kernel needs recordings; name their folder with --data DIR")
    chosen = chosen_of({platform.name: platform for platform in platforms(asked.data)}, asked.experiments)
    names = {platform.name: asked.machine or _machine_of(platform) for platform in chosen}
    calibrations = {platform.name: _calibrate(platform, names[platform.name]) for platform in chosen}
    runs: list[CaseRun] = []
    left_out = list(_left_out(chosen, calibrations, asked.machine))
    plan = [
        (platform, each, model)
        for platform in chosen
        for each in platform.recordings
        for model in asked.models
    ]
    for platform, recording, model in asked.steps(plan, lambda of: f"{of[0].name}, {of[1].case}, {of[2]}"):
        name, known = names[platform.name], calibrations[platform.name]
        try:
            one = _run(asked, platform, recording, model, name, known)
        except UnsupportedError as error:
            left_out.append(f"{platform.name}, {recording.case}: {error}")
        except SimulationError as error:
            left_out.append(f"{platform.name}, {recording.case} under {model}: {error}")
        else:
            runs.append(one)
            left_out += _unmatched(one)
    missing = tuple(dict.fromkeys(left_out))
    return LiveKernelOutcome(
        presentation=PRESENTATION,
        platforms=tuple(platform.name for platform in chosen),
        models=asked.models,
        runs=tuple(runs),
        rows=tuple(row for one in runs for row in _rows(one)),
        dirty=tuple(level for one in runs if (level := one.dirty()) is not None),
        cached=tuple(file for one in runs for file in one.cached),
        calibrations=calibrations,
        left_out=missing,
        provenance=asked.provenance(
            {(one.platform, one.machine): one.machine_hash for one in runs}, left_out=missing
        ),
    )


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


def _run(
    asked: Asked, platform: Platform, recording: Recording, model: str, machine: str, known: Calibration
) -> CaseRun:
    """Forecast a repetition; the model `COSTED` is told what is known of the platform and its kernel."""
    is_told = model == COSTED

    def on(machine_of: "Machine") -> CaseRun:
        return run_case(
            platform.cases[recording.case],
            recording,
            platform=platform.name,
            model=model,
            machine_name=machine,
            machine=machine_of,
            options=options | machines.model_options(model, asked.overrides),
            simulate=asked.simulate,
        )

    host = machines.load(machine, overrides=asked.overrides, values=known.values() if is_told else None)
    options = initial_state(recording, host) if is_told else {}
    one = on(host)
    if asked.uncertain is None or not is_told:
        return one
    range_s = range_of_total(
        host,
        one.kind,
        lambda drawn: one.total_s if drawn is host else on(drawn).total_s,
        draws=asked.uncertain,
        error=shipped().without({platform.name}),
    )
    return replace(one, range_s=range_s)


def _rows(one: CaseRun) -> Iterator[Row]:
    """Make a row of the whole case, and one of each phase that is long enough."""
    measured_s = one.recording.total_s()
    if measured_s > 0:
        yield replace(_row(one, None, TOTAL, measured_s, one.total_s), kind=one.kind, range_s=one.range_s)
    for (process, phase), time_s in one.recording.phases().items():
        if time_s > LEAST_S and (process, phase) in one.seconds:
            yield _row(one, process, phase, time_s, one.seconds[process, phase])


def _unmatched(one: CaseRun) -> Iterator[str]:
    """Name recorded operations in a process and phase that the steps of the case do not have."""
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


STUDY: Final = Study(
    name="live-kernel",
    source="recordings of live kernels in the folder of --data",
    models=("kernel", *RIVALS),
    forecast=_forecast,
    simulate=simulate_case,
    has_ranges=True,
)
