"""Run the scenarios and take the measured quantities out of the results.

As in the paper, a task's read (write) time goes from the start of its first read (write) to the end of its
last, and applications that run at once are averaged.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from pagecast.api import Scenario, load_machine, simulate
from pagecast.comparison.machines import described
from pagecast.studies.skeleton import Simulate
from pagecast.studies.wrench_cache.experiments import Case, Experiment, default_machine
from pagecast.workloads import as_toml

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = [
    "LONG_S",
    "TIMINGS",
    "CaseRun",
    "Columns",
    "durations",
    "is_uneven",
    "long_writes",
    "makespan",
    "run_case",
    "simulate_case",
    "task_of",
    "task_spans",
]

LONG_S: Final = 5.0
"""A write of Exp 2 that takes longer was throttled: 3 GB are copied in one second."""

TIMINGS: Final = 5
"""How often a case is simulated, at least, where the paper tells how long simulating took (Fig. 8)."""

TIMING_LIMIT_S: Final = 0.2
"""A case that has taken so long is not simulated again for its time alone."""


class Columns(Protocol):
    """A table of a result: columns by name."""

    def __getitem__(self, name: str, /) -> Any: ...

    def __contains__(self, name: object, /) -> bool: ...


_NUMBER: Final = re.compile(r"\d+$")


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One case under one model, over all seeds.

    `seconds` holds, by operation ("read 1"), one mean over the applications per seed; `makespan_s` is from
    the start of the first of them to the end of the last, `long_writes` the share of their writes that took
    more than `LONG_S`, both means over the seeds. `result` is that of the first seed; `run_time_s` is how
    long reading the scenario and simulating it took: the median over the seeds, and over `TIMINGS` runs of
    quick cases in Exp 2 and 3.
    """

    experiment: str
    case: str
    model: str
    machine: str
    seconds: dict[str, list[float]]
    makespan_s: float
    long_writes: float
    run_time_s: float
    result: "Result"

    @property
    def start_s(self) -> float:
        """When the first task begins to read, which is time 0 of the measurement."""
        return min(start for _, _, start, _ in _reads_and_writes(self.result.operations))

    def mean_s(self, operation: str) -> float:
        """Mean over the seeds."""
        return float(np.mean(self.seconds[operation]))

    def range_s(self, operation: str) -> tuple[float, float] | None:
        """Give the least and greatest over the seeds, if there are several."""
        seconds = self.seconds[operation]
        return (min(seconds), max(seconds)) if len(seconds) > 1 else None


def simulate_case(
    experiment: Experiment, case: Case, *, model: str, machine: str, seed: int, overrides: Sequence[str]
) -> "Result":
    """Read the scenario of a case and simulate it."""
    machines = [f"{host}.from={as_toml(machine)}" for host in experiment.hosts]
    scenario = Scenario.load(
        experiment.scenario,
        set=[*machines, *experiment.overrides(model, machine), *case.overrides, *overrides],
    )
    return simulate(scenario, model=model, seed=seed)


def run_case(
    experiment: Experiment,
    case: Case,
    *,
    model: str,
    machine: str | None,
    seeds: Sequence[int],
    overrides: Sequence[str],
    simulate: Simulate = simulate_case,
) -> CaseRun:
    """Forecast one case of an experiment under one model.

    Parameters
    ----------
    experiment : Experiment
    case : Case
    model : str
    machine : str or None
        A shipped name or a path; None is the one the model is judged on by default.
    seeds : sequence of int, length >= 1
    overrides : sequence of str
        ``key=value`` for the scenario, after those of the case.
    simulate : callable
        Like `simulate_case`.
    """
    machine = machine or default_machine(model)
    results: list[Result] = []
    run_times: list[float] = []
    extra = max(TIMINGS - len(seeds), 0) if experiment.number in ("2", "3") else 0
    for number, seed in enumerate([*seeds, *[seeds[0]] * extra]):
        if number >= len(seeds) and sum(run_times) > TIMING_LIMIT_S:
            break
        start = time.perf_counter()
        result = simulate(experiment, case, model=model, machine=machine, seed=seed, overrides=overrides)
        run_times.append(time.perf_counter() - start)
        results.append(result)
    per_seed = [durations(result.operations) for result in results[: len(seeds)]]
    return CaseRun(
        experiment.number,
        case.name,
        model,
        machine,
        seconds={operation: [one[operation] for one in per_seed] for operation in per_seed[0]},
        makespan_s=float(np.mean([makespan(one.operations) for one in results[: len(seeds)]])),
        long_writes=float(np.mean([long_writes(one.operations) for one in results[: len(seeds)]])),
        run_time_s=float(np.median(run_times)),
        result=results[0],
    )


def durations(operations: Columns) -> dict[str, float]:
    """Give the seconds of each task's reads and writes, mean over the applications.

    Parameters
    ----------
    operations : Columns
        `process`, `operation`, `start_s` and `end_s` of a result's table; a process is named for its task,
        "app3.task2".

    Returns
    -------
    dict
        By operation: "read 1", "write 1", "read 2", ...
    """
    spans: dict[tuple[str, str], tuple[float, float]] = {}
    for process, kind, start, end in _reads_and_writes(operations):
        first, last = spans.get((kind, process), (start, end))
        spans[kind, process] = (min(first, start), max(last, end))
    tasks: dict[tuple[int, str], list[float]] = {}
    for (kind, process), (start, end) in spans.items():
        task = task_of(process)
        assert task is not None, "only tasks are looked at"
        tasks.setdefault((task, kind), []).append(end - start)
    return {f"{kind} {task}": float(np.mean(seconds)) for (task, kind), seconds in sorted(tasks.items())}


def makespan(operations: Columns) -> float:
    """Give the seconds from the start of the first read or write of a task to the end of the last."""
    spans = [(start, end) for _, _, start, end in _reads_and_writes(operations)]
    return max(end for _, end in spans) - min(start for start, _ in spans)


def long_writes(operations: Columns) -> float:
    """Give the share of the tasks' writes that took more than `LONG_S`."""
    seconds = [end - start for _, kind, start, end in _reads_and_writes(operations) if kind == "write"]
    return float(np.mean(np.array(seconds) > LONG_S))


def task_of(process: str) -> int | None:
    """Give the number of the task that a process is named for; None if it is another program."""
    number = _NUMBER.search(process)
    return int(number.group()) if number else None


def task_spans(operations: Columns) -> dict[str, tuple[float, float]]:
    """Give start and end of one application: "read 1", "compute 1", "write 1", "read 2", ..."""
    spans = {
        f"{kind} {task_of(process)}": (start, end)
        for process, kind, start, end in _reads_and_writes(operations)
    }
    reads = [name.split()[1] for name in spans if name.startswith("read")]
    computing = {f"compute {k}": (spans[f"read {k}"][1], spans[f"write {k}"][0]) for k in reads}
    return spans | computing


def _reads_and_writes(operations: Columns) -> Iterator[tuple[str, str, float, float]]:
    columns = (operations[name] for name in ("process", "operation", "start_s", "end_s"))
    for process, kind, start, end in zip(*columns, strict=True):
        if kind in ("read", "write") and task_of(str(process)) is not None:
            yield str(process), str(kind), float(start), float(end)


@cache
def is_uneven(machine: str, mount: str) -> bool:
    """Say whether the disk that a machine has mounted there serves equal streams unequally: seeds matter."""
    host = described(load_machine(machine))
    disk = host.get("mount", {}).get(mount, {}).get("disk")
    return bool(host.get("disk", {}).get(disk, {}).get("unevenness"))
