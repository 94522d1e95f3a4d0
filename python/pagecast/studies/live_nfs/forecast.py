"""Simulates a case on client and server, and takes its phases and its calls out of the result."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from pagecast.api import Scenario
from pagecast.studies.live_kernel.case import Case
from pagecast.studies.live_kernel.program import MAIN
from pagecast.studies.live_nfs.platform import CLIENT_MOUNT, EXPORT, Platform
from pagecast.studies.live_nfs.program import Part, parts
from pagecast.studies.live_nfs.recordings import CALLS
from pagecast.studies.skeleton import Simulate

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["CaseForecast", "forecast_case"]

WRITTEN_BEFORE: Final = "server:disk 100 %"
"""The cases before have written to the server's only disk: it may hold all of the server's dirty limit."""


@dataclass(frozen=True, slots=True)
class CaseForecast:
    """The seconds in system calls by process and phase, and how often each of `CALLS` was made in a phase.

    `calls` is None under models without calls, and where there are more events than a result keeps.
    """

    seconds: dict[tuple[str, str], float]
    calls: dict[str, dict[str, int]] | None
    machine_hash: str


def forecast_case(
    case: Case,
    platform: Platform,
    *,
    values: Mapping[str, str],
    model: str,
    options: Mapping[str, str],
    overrides: Sequence[str],
    simulate: Simulate,
    dirty_limit_bytes: float | None = None,
) -> CaseForecast:
    """Forecast a case.

    `dirty_limit_bytes` is the client's hard limit before the case; None: that of long ago.

    Raises
    ------
    UnsupportedError
        The case has a step that cannot be forecast.
    ScenarioError
        An override cannot be understood.
    """
    found = parts(case, EXPORT)
    with ExitStack() as files:
        text = platform.to_toml(values) + "".join(
            _process(part, before, files) for part, before in zip(found, [None, *found], strict=False)
        )
        scenario = Scenario.from_toml(text, origin=case.origin, set=list(overrides))
        before = _before(dirty_limit_bytes) if model == "kernel" else {}
        result = simulate(scenario, model=model, options=before | dict(options))
    return _taken(found, result)


def _before(dirty_limit_bytes: float | None) -> dict[str, str]:
    """Give what the kernels have learnt before, as options of the model `kernel` for both hosts."""
    limit = {} if dirty_limit_bytes is None else {"dirty_limit": f"{dirty_limit_bytes:.0f} B"}
    return {"writeout_fraction": WRITTEN_BEFORE} | limit


def _process(part: Part, before: Part | None, files: ExitStack) -> str:
    """Write the table of a part, which begins when the one before has ended."""
    keys: dict[str, object] = {"name": part.name, "host": "server" if part.program is None else "client"}
    if before is not None:
        keys["after"] = [before.name]
    if part.program is not None:
        path = files.enter_context(part.program.file())
        keys |= {"from": str(path), "format": "pct", "files_in": CLIENT_MOUNT}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return f"\n[[process]]\n{table}" + (f"do = [{part.operations}]\n" if part.operations else "")


def _taken(found: Sequence[Part], result: "Result") -> CaseForecast:
    """Sum the times of operations by process and phase, and count the calls of each phase."""
    programs = {part.name: part.program for part in found if part.program is not None}
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    begins: dict[str, float] = {}
    columns = ("process", "index", "operation", "start_s", "duration_s")
    rows = zip(*(result.operations[name] for name in columns), strict=True)
    for name, index, operation, start_s, duration_s in rows:
        part, _, process = name.partition(".")
        program = programs.get(part)
        if program is None or int(index) >= len(program.line_of.get(process, ())):
            continue
        phase, is_timed = program.counts(process, int(index), operation)
        if phase is None:
            continue
        if is_timed:
            seconds[program.line(process, int(index)).process, phase] += float(duration_s)
        if process == MAIN:
            begins[phase] = min(begins.get(phase, np.inf), float(start_s))
    return CaseForecast(dict(seconds), _calls(result, begins), result.machine_hash)


def _calls(result: "Result", begins: Mapping[str, float]) -> dict[str, dict[str, int]] | None:
    """Count the calls of each phase: from its begin up to that of the next. None if the result lacks some."""
    if result.model != "kernel" or result.events_left_out:
        return None
    events = result.events
    phases, times = list(begins), np.array(list(begins.values()))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for time_s, kind in zip(events["time_s"], events["event"], strict=True):
        call = kind.removeprefix("nfs ").upper()
        at = int(np.searchsorted(times, time_s, side="right")) - 1
        if kind.startswith("nfs ") and call in CALLS and at >= 0:
            counts[phases[at]][call] += 1
    return {phase: {call: counts[phase][call] for call in CALLS} for phase in phases}
