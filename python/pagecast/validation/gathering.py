"""Everything that is known of cases that were run, put together as an outcome."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pagecast._core import format_bytes
from pagecast.comparison.levels import Level
from pagecast.comparison.machines import memory_of
from pagecast.comparison.operations import total_s
from pagecast.comparison.provenance import provenance
from pagecast.comparison.rows import TOTAL, Row, main_model
from pagecast.validation import comparing
from pagecast.validation.case import Case, Validated
from pagecast.validation.details import run_operations
from pagecast.validation.doing import Doing, Settings
from pagecast.validation.learning import COSTED
from pagecast.validation.levels import LEVELS, away_from_forecast, away_from_run, sees_files
from pagecast.validation.outcome import Outcome
from pagecast.validation.report import PRESENTATION
from pagecast.validation.residency import CachedFile, cached_files
from pagecast.validation.room import Room

__all__ = ["gather", "other_memory"]

_OF_RUNS: Final = ("kernel", "machine", "processors", "file_system", "sample_hz")
"""Provenance shared by all runs."""


def gather(
    name: str,
    doing: Sequence[Doing],
    settings: Settings,
    room: Room,
    *,
    failures: Sequence[str],
    left_out: Sequence[str],
    command: str,
    overrides: Sequence[str],
) -> Outcome:
    """Compare the finished runs.

    Parameters
    ----------
    name : str
        Of the suite or scenario.
    doing : sequence of Doing
        Those without a run are not part of the outcome.
    settings : Settings
    room : Room
        Memory and disk of the runs.
    failures, left_out : sequence of str
        Known facts of both.
    command : str
        The command that made the report.
    overrides : sequence of str
        Overrides in the report.
    """
    done = [each for each in doing if each.runs]
    validated = tuple(each.validated for each in done)
    dirty, cached = (tuple(_levels(validated, level, room)) for level in LEVELS)
    judged = [comparing.verdict(each, main_model(settings.models), dirty, cached) for each in validated]
    told = (*left_out, *_not_compared(validated, room), *_unknown(done, settings), *_start(done))
    missing = tuple(dict.fromkeys(told))
    return Outcome(
        presentation=PRESENTATION,
        name=name,
        validated=validated,
        models=settings.models,
        rows=tuple(
            _with_range(row, each)
            for each in validated
            for row in comparing.rows(name, each, _machine_of(each.case, settings))
        ),
        dirty=dirty,
        cached=cached,
        verdicts=tuple(verdict for verdict in judged if verdict is not None),
        left_out=missing,
        provenance=_provenance(name, done, settings, command, overrides, missing),
        failures=tuple(failures),
        files=tuple(file for each in validated for file in _files(each, room)),
        operations=tuple(one for each in validated for one in run_operations(each)),
    )


def _with_range(row: Row, validated: Validated) -> Row:
    """Give the total under `kernel` its range, where one was drawn."""
    if row.operation != TOTAL or row.model != COSTED or validated.range_of_total is None:
        return row
    low, high = validated.range_of_total
    return replace(row, range_s=(low * row.forecast_s, high * row.forecast_s))


def _machine_of(case: Case, settings: Settings) -> str:
    return settings.machine or f"of {case.scenario.origin}"


def _levels(validated: Sequence[Validated], level: str, room: Room) -> Iterator[Level]:
    """Hold a level of each run against its forecasts, and against the next run of the same case."""
    for each in validated:
        name, runs = each.case.name, each.measured
        for forecasts in each.forecasts.values():
            for repetition, (run, forecast) in enumerate(zip(runs, forecasts, strict=True), start=1):
                if (found := away_from_forecast(name, repetition, run, forecast, level, room)) is not None:
                    yield found
        others = [*runs[1:], runs[0]] if len(runs) > 1 else []
        for repetition, (run, other) in enumerate(zip(runs, others, strict=False), start=1):
            if (found := away_from_run(name, repetition, run, other, level, room)) is not None:
                yield found


def _files(validated: Validated, room: Room) -> Iterator[CachedFile]:
    """Compare the cached bytes of each file with the forecasts of its run."""
    for forecasts in validated.forecasts.values():
        for repetition, (run, forecast) in enumerate(
            zip(validated.measured, forecasts, strict=True), start=1
        ):
            yield from cached_files(validated.case.name, repetition, run, forecast, room)


def _not_compared(validated: Sequence[Validated], room: Room) -> Iterator[str]:
    for each in validated:
        name = each.case.name
        if not all(map(sees_files, each.measured)):
            yield f"{name}: cached memory; the kernel did not tell what is cached of its files"
        if total_s(each.measured[0]) == 0:
            yield f"{name}: it does nothing with files"
        if (other := other_memory(each.case, room)) is not None:
            yield f"what else takes memory: {other}"


def other_memory(case: Case, room: Room) -> str | None:
    """Say that the forecast is for a machine of another memory; None if it is about the same."""
    if room.usable_bytes is None or room.is_of(case.scenario):
        return None
    return (
        f"the forecast has {format_bytes(memory_of(case.scenario.machine))}, of this machine "
        f"{format_bytes(room.usable_bytes)} are free or hold files; calibrate it as it is now"
    )


def _unknown(done: Sequence[Doing], settings: Settings) -> Iterator[str]:
    learnt = (run.learnt for each in done for run in each.runs)
    if COSTED in settings.models and not all("write_bandwidth" in known for known in learnt):
        yield (
            f"how fast the kernel believed the disk to be before, which {_unseen()}: "
            f"{COSTED} begins as after a boot"
        )


def _start(done: Sequence[Doing]) -> Iterator[str]:
    """Say from which free memory forecasts began, where that of a simulation is another."""
    sizes = sorted(
        int(run.learnt["backed"].removesuffix(" B"))
        for each in done
        for run in each.runs
        if "backed" in run.learnt
    )
    if sizes:
        least, most = format_bytes(sizes[0]), format_bytes(sizes[-1])
        which = least if least == most else f"{least} to {most}"
        yield (
            "what `pagecast simulate` begins with: all free memory is with the host of this machine there; "
            f"before the runs {which} of it was not, and {COSTED} was told. [model.{COSTED}] "
            f'backed = "{least}" tells a simulation'
        )


def _unseen() -> str:
    if os.geteuid() != 0:
        return "only root sees"
    return "--trace would tell, or debugfs, mounted at /sys/kernel/debug"


def _provenance(
    name: str,
    done: Sequence[Doing],
    settings: Settings,
    command: str,
    overrides: Sequence[str],
    left_out: Sequence[str],
) -> dict[str, object]:
    known = done[0].runs[0].measured.provenance if done else {}
    machines = {(name, _machine_of(each.case, settings)): each.case.scenario.machine_hash for each in done}
    common = provenance(
        "validate",
        source="runs on this machine",
        command=command,
        machines=machines,
        seeds=1,
        overrides=overrides,
        data=None,
        left_out=left_out,
    )
    return common | {
        "runs": settings.runs,
        "measured_on": {fact: known[fact] for fact in _OF_RUNS if fact in known},
        "learnt": {each.case.name: [run.learnt for run in each.runs] for each in done},
    }
