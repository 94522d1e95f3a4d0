"""Figures of the operations of runs besides the time: file, size of the calls, wait for a processor."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from statistics import mean

from pagecast.comparison.operations import names
from pagecast.comparison.tables import shown_call
from pagecast.kinds import NO_IO
from pagecast.validation.case import Validated
from pagecast.validation.comparing import all_of, has_same_operations, long_enough

__all__ = ["OperationDetails", "RunOperation", "by_operation", "run_operations"]


@dataclass(frozen=True, slots=True)
class RunOperation:
    """An operation of one run of a case.

    `call_bytes` is the size of the calls that it was made of, 0 where it moves nothing; `run_queue_s` how
    much of its duration it was ready to run and waited for a processor.
    """

    case: str
    repetition: int
    process: str
    operation: str
    path: str
    call_bytes: int
    duration_s: float
    run_queue_s: float

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OperationDetails:
    """The same over all runs; `run_queue_s` is the mean."""

    path: str
    call_bytes: int
    run_queue_s: float

    @property
    def call(self) -> str:
        """The size of a call for a person, nothing where there is none."""
        return shown_call(self.call_bytes)


def run_operations(validated: Validated) -> Iterator[RunOperation]:
    """Give the operations that have rows, run by run; sums of those of a kind where runs have others."""
    if not has_same_operations(validated):
        yield from _of_kinds(validated)
        return
    called, long = names(validated.measured[0].operations), set(long_enough(validated))
    wanted = ("process", "index", "path", "call_bytes", "duration_s", "run_queue_s")
    for repetition, run in enumerate(validated.measured, start=1):
        for process, index, path, call_bytes, duration_s, run_queue_s in zip(
            *(run.operations[name] for name in wanted), strict=True
        ):
            if (key := (process, int(index))) in long:
                yield RunOperation(
                    validated.case.name,
                    repetition,
                    process,
                    called[key],
                    path,
                    int(call_bytes),
                    float(duration_s),
                    float(run_queue_s),
                )


def _of_kinds(validated: Validated) -> Iterator[RunOperation]:
    wanted = ("process", "operation", "path", "call_bytes", "duration_s", "run_queue_s")
    for repetition, run in enumerate(validated.measured, start=1):
        found: dict[tuple[str, str], list[tuple[str, int, float, float]]] = {}
        for process, kind, *rest in zip(*(run.operations[name] for name in wanted), strict=True):
            if kind not in NO_IO:
                found.setdefault((process, kind), []).append(tuple(rest))
        for (process, kind), rows in found.items():
            paths, calls, durations, waits = zip(*rows, strict=True)
            yield RunOperation(
                validated.case.name,
                repetition,
                process,
                all_of(kind),
                paths[0] if len(set(paths)) == 1 else "",
                int(calls[0]) if len(set(calls)) == 1 else 0,
                float(sum(durations)),
                float(sum(waits)),
            )


def by_operation(of: Iterable[RunOperation], case: str) -> dict[tuple[str, str], OperationDetails]:
    """Put the runs of a case together: figures of each operation, by its process and name."""
    found: dict[tuple[str, str], list[RunOperation]] = {}
    for each in of:
        if each.case == case:
            found.setdefault((each.process, each.operation), []).append(each)
    return {
        key: OperationDetails(runs[0].path, runs[0].call_bytes, mean(run.run_queue_s for run in runs))
        for key, runs in found.items()
    }
