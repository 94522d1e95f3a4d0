"""Forecasts a job file and a trace, and takes what fio and the clock said out of the result."""

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagecast.api import Scenario
from pagecast.fio import json_plus
from pagecast.studies.live_programs.recordings import Command, FioJob, FioRun
from pagecast.studies.skeleton import Simulate
from pagecast.workloads import Reading

__all__ = ["CommandForecast", "Told", "forecast_command", "forecast_fio"]

DIRECTIONS: Final = {"read": ("read",), "write": ("write",), "copy": ("read", "write")}
"""What operations of a trace read and write."""


@dataclass(frozen=True, slots=True)
class CommandForecast:
    """How long a command takes, its calls and their bytes, those on the system's files among them."""

    wall_s: float
    read_bytes: int
    write_bytes: int
    read_calls: int
    write_calls: int
    machine_hash: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a model is told: a machine file, values that replace its own, the user's overrides, options."""

    machine: str
    values: Mapping[str, str]
    overrides: Sequence[str]
    model: str
    options: Mapping[str, str]


def scenario_of(path: Path, told: Told, *, cached: bool) -> Scenario:
    """Read a job file or a trace for a machine."""
    ours = [f"machine.{key}={json.dumps(value)}" for key, value in told.values.items()]
    reading = Reading(cached=cached)
    return Scenario.from_workload(path, machine=told.machine, reading=reading, set=[*ours, *told.overrides])


def forecast_fio(run: FioRun, told: Told, *, mount: str, simulate: Simulate) -> tuple[list[FioJob], str]:
    """Forecast a job file; gives what fio would say, job by job, and the machine's hash."""
    text = run.job_file.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name, value in {"MNT": mount, "OUT": folder, "REP": str(run.repetition)}.items():
            text = text.replace(f"${{{name}}}", value)
        job_file = Path(folder) / run.job_file.name
        job_file.write_text(text, encoding="utf-8")
        scenario = scenario_of(job_file, told, cached=not run.is_cold)
        result = simulate(scenario, model=told.model, options=told.options)
        said = json_plus(result, job_file)
    jobs = [
        _job(job["jobname"], direction, job[direction])
        for job in said["jobs"]
        for direction in ("read", "write")
        if job[direction]["total_ios"]
    ]
    return jobs, result.machine_hash


def _job(name: str, direction: str, said: Mapping[str, object]) -> FioJob:
    latencies = said["clat_ns"]
    assert isinstance(latencies, dict), "json_plus gives a table of latencies"
    p50, p99 = (float(latencies["percentile"][key]) / 1e9 for key in ("50.000000", "99.000000"))
    return FioJob(name, direction, float(str(said["bw_bytes"])), p50, p99)


def forecast_command(command: Command, told: Told, *, simulate: Simulate) -> CommandForecast:
    """Forecast a command from its trace."""
    scenario = scenario_of(command.trace, told, cached=command.state == "warm")
    result = simulate(scenario, model=told.model, options=told.options)
    bytes_of, calls_of = {"read": 0, "write": 0}, {"read": 0, "write": 0}
    latency = result.latency
    columns = (latency[name] for name in ("operation", "bytes", "count"))
    for operation, size, count in zip(*columns, strict=True):
        for direction in DIRECTIONS.get(operation, ()):
            bytes_of[direction] += int(size)
            calls_of[direction] += int(count)
    elsewhere = _elsewhere(scenario)
    return CommandForecast(
        wall_s=result.end_s,
        read_bytes=bytes_of["read"] + elsewhere.read_bytes,
        write_bytes=bytes_of["write"] + elsewhere.write_bytes,
        read_calls=calls_of["read"] + elsewhere.read_calls,
        write_calls=calls_of["write"] + elsewhere.write_calls,
        machine_hash=result.machine_hash,
    )


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """Calls that are not forecast: those on other things than files of a disk, and at the ends of files."""

    read_bytes: int
    write_bytes: int
    read_calls: int
    write_calls: int


def _elsewhere(scenario: Scenario) -> _Elsewhere:
    """Sum what the notes of a trace tell."""
    notes = "\n".join(text for _, _, all_notes in scenario.sources for _, text in all_notes)
    moved = {
        direction: [
            (int(size), int(calls))
            for size, calls in re.findall(rf"^(\d+) B {direction} .*\((\d+) calls?\)", notes, re.MULTILINE)
        ]
        for direction in ("read from", "written to")
    }
    read, written = moved["read from"], moved["written to"]
    return _Elsewhere(
        read_bytes=sum(size for size, _ in read),
        write_bytes=sum(size for size, _ in written),
        read_calls=sum(calls for _, calls in read),
        write_calls=sum(calls for _, calls in written),
    )
