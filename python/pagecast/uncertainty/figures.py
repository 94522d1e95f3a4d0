"""The figures of a forecast that get ranges: measures, each with the kind of I/O that its time belongs to."""

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pagecast.errors import MeasureError
from pagecast.kinds import NO_IO
from pagecast.measures import Measure, evaluate, parse_measure
from pagecast.measures.evaluate import rows_of
from pagecast.result import is_modelled
from pagecast.uncertainty.curves import MOST_HOSTS
from pagecast.uncertainty.kinds import Kind, kind_of_whole, kinds_of_rows, seconds_by_kind

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["Figure", "Floats", "figures_for", "figures_of", "values_of"]

Floats: TypeAlias = NDArray[np.float64]

MOST_PROCESSES: Final = 20
"""Of more, only figures of all together have ranges."""

ENOUGH: Final = 10
"""Percentiles say something of so many operations."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, and how the error of the model changes it.

    Attributes
    ----------
    measure : Measure
    kind : str or None
        The kind of I/O whose error it has; None of levels, to which no error of the model is applied.
    share : float
        The part of it that is I/O: a process that computes for half of its time is off by half.
    """

    measure: Measure
    kind: Kind | None
    share: float = 1.0

    def changed(self, times: Floats, factors: Floats) -> Floats:
        """Multiply the part of times that is I/O, shape (draws,); a rate is divided."""
        scale = 1 + self.share * (factors - 1)
        return times / scale if self.measure.unit == "bytes_per_s" else times * scale


@dataclass(frozen=True, slots=True)
class _Row:
    """What rows of `latency` have together: the seconds of each kind, how many operations, first and last."""

    seconds: dict[Kind, float]
    count: int
    start_s: float
    end_s: float

    @property
    def kind(self) -> Kind:
        return kind_of_whole(self.seconds)

    @property
    def share(self) -> float:
        """The part of the span that is I/O; several at once count one by one, but to the whole at most."""
        span = self.end_s - self.start_s
        return min(sum(self.seconds.values()) / span, 1.0) if span > 0 else 1.0


def figures_of(result: "Result", *, nfs: Collection[str] = ()) -> list[Figure]:
    """Choose the figures of a forecast: spans of processes, times of operations, levels of memory.

    Parameters
    ----------
    result : Result
        The forecast itself, which no draw has changed.
    nfs : collection of str
        Mount points of NFS.

    Returns
    -------
    list of Figure
        `makespan` comes first.
    """
    table = result.latency
    together = _together(result, nfs)
    processes = list(dict.fromkeys(table["process"]))

    def rows(process: str | None, operation: str | None = None) -> list[int]:
        columns = zip(table["process"], table["operation"], strict=True)
        return [
            row
            for row, (of, what) in enumerate(columns)
            if process in (None, of) and operation in (None, what)
        ]

    whole = together(rows(None))
    found = [Figure(parse_measure("makespan"), whole.kind, _io_share(result, whole))]
    each = processes if 1 < len(processes) <= MOST_PROCESSES else []
    for process in each:
        of = together(rows(process))
        found.append(Figure(parse_measure(f"makespan({_quoted(process)})"), of.kind, of.share))
    operations = dict.fromkeys(what for what in table["operation"] if what not in NO_IO)
    for process in processes if len(processes) <= MOST_PROCESSES else [None]:
        for operation in operations:
            of = together(rows(process, operation))
            if of.count and sum(of.seconds.values()) > 0:
                named = f"{'*' if process is None else _quoted(process)} {operation}"
                found += [Figure(measure, of.kind) for measure in _of_operations(named, of.count)]
    return found + [Figure(measure, None) for measure in _levels(result)]


def figures_for(measures: Sequence[Measure], result: "Result", *, nfs: Collection[str] = ()) -> list[Figure]:
    """Make figures of measures: the error of the model is that of the operations which they are about.

    Parameters
    ----------
    measures : sequence of Measure
        That the result has.
    result : Result
        The forecast itself, which no draw has changed.
    nfs : collection of str
        Mount points of NFS.

    Returns
    -------
    list of Figure
    """
    together = _together(result, nfs)
    return [_figure_for(measure, result, together) for measure in measures]


def _figure_for(measure: Measure, result: "Result", together: "_Together") -> Figure:
    if measure.unit not in ("s", "bytes_per_s"):
        return Figure(measure, None)
    if measure.operations is None:
        whole = together(range(len(result.latency)))
        return Figure(measure, whole.kind, _io_share(result, whole))
    is_makespan = measure.function == "makespan"
    of = together(rows_of(measure, result.latency, with_all_kinds=is_makespan).tolist())
    return Figure(measure, of.kind, of.share if is_makespan or measure.function == "rate" else 1.0)


_Together: TypeAlias = Callable[[Sequence[int]], _Row]


def _together(result: "Result", nfs: Collection[str]) -> _Together:
    """Give what adds up rows of `latency`."""
    table = result.latency
    kinds = kinds_of_rows(table, result.latency_parts, nfs)

    def together(rows: Sequence[int]) -> _Row:
        chosen = list(rows)
        return _Row(
            seconds_by_kind([kinds[row] for row in chosen], table["total_s"][chosen]),
            int(table["count"][chosen].sum()),
            float(table["first_start_s"][chosen].min(initial=np.inf)),
            float(table["last_end_s"][chosen].max(initial=0.0)),
        )

    return together


def _quoted(process: str) -> str:
    return shlex.quote(process) if process else "''"


def _of_operations(named: str, count: int) -> Iterator[Measure]:
    functions = ["sum"] if count == 1 else ["sum", "mean"]
    functions += ["p50", "p99", "max"] if count >= ENOUGH else []
    return (parse_measure(f"{function}({named})") for function in functions)


def _levels(result: "Result") -> Iterator[Measure]:
    hosts = list(dict.fromkeys(result.timeline["host"]))
    for host in hosts if len(hosts) <= MOST_HOSTS else []:
        for level in ("dirty", "cached"):
            if is_modelled(result.model, level):
                yield parse_measure(f"peak({level}{f' {_quoted(host)}' if len(hosts) > 1 else ''})")


def _io_share(result: "Result", whole: _Row) -> float:
    """Give the part of the time until the end in which an operation on a file is under way."""
    if not result.end_s:
        return 1.0
    if not result.has_all_operations:
        return min(sum(whole.seconds.values()) / result.end_s, 1.0)
    table = result.operations
    is_io = np.array([what not in NO_IO for what in table["operation"]], dtype=bool)
    start_s, end_s = table["start_s"][is_io], table["end_s"][is_io]
    order = np.argsort(start_s, kind="stable")
    before = np.concatenate([[0.0], np.maximum.accumulate(end_s[order])[:-1]]) if len(order) else start_s
    return float(np.maximum(end_s[order] - np.maximum(start_s[order], before), 0.0).sum() / result.end_s)


def values_of(figures: Sequence[Figure], result: "Result") -> list[float]:
    """Compute the figures of a result; NaN of operations that it does not have.

    Parameters
    ----------
    figures : sequence of Figure
    result : Result

    Returns
    -------
    list of float
    """
    return [_value(figure.measure, result) for figure in figures]


def _value(measure: Measure, result: "Result") -> float:
    try:
        [value] = evaluate([measure], result)
    except MeasureError:
        return float("nan")
    return float("nan") if value is None else float(value)
