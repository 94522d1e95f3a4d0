"""When each process read, wrote, computed and waited: a Gantt chart, by process or by core."""

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from pagecast.arguments import check_word
from pagecast.plot.axes import given_or_new, outside_legend, quiet_frame, say, time_axis
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import ACTIVITY_COLOURS, ACTIVITY_HATCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["MOST_ROWS", "gantt"]

MOST_ROWS: Final = 400
"""With more processes than this a row has too few points of the page: it is a core then."""

_MOST_NAMED: Final = 36
"""So many rows have labels."""

_MOST_HAIRS: Final = 100
"""With more bars than this in a row, such that are thinner than a hair are not made wider."""

_MOST_SHARP: Final = 5_000
"""Of more bars the SVG has a picture."""

_READING: Final = {
    "read",
    "readahead",
    "mmap_read",
    "fread",
    "pread",
    "stat",
    "open",
    "fopen",
    "mmap",
    "madvise",
    "fseek",
    "lseek",
}
_WAITING: Final = {"wait", "sleep", "drain"}

Rows: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


@dataclass(frozen=True)
class _Bars:
    """Operations as bars: which row of `operations` each is, and in which row of the chart."""

    operation: Rows
    row: Rows
    labels: list[tuple[float, str]]
    rows: int
    title: str


def gantt(
    result: "Result", ax: "Axes | None" = None, *, by: Literal["process", "core"] | None = None
) -> "Axes":
    """Draw what processes did, as bars over time.

    Reading and writing are drawn last, and at least a hair wide where there are not many, so that short ones
    are seen among hours of computing. By process, the wait for cores comes before the first bar. By core
    there are processes with slots alone, each on as many rows as it has cores.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    by : {"process", "core"}, optional
        A row for each process, or for each core of a host; by process up to 400 of them if not given.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = given_or_new(ax)
    if by is None:
        processes = len(set(result.operations["process"]))
        by = "core" if processes > MOST_ROWS and result.slots else "process"
    check_word("by", by, ("process", "core"))
    bars = _by_process(result) if by == "process" else _by_core(result)
    time_axis(ax, result.end_s)
    ax.set_title(f"{bars.title}, {result.made_by}")
    if not bars.rows:
        say(ax, "no process does anything" if by == "process" else "no process holds cores")
        return ax
    shown = _draw(result, ax, bars)
    ax.set_ylim(bars.rows - 0.5, -0.5)
    if bars.labels:
        ax.set_yticks([at for at, _ in bars.labels], [label for _, label in bars.labels])
        ax.tick_params(axis="y", length=0, labelsize=9.0 if len(bars.labels) <= 20 else 6.0)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{bars.rows} processes, in the order of their starts")
    quiet_frame(ax)
    ax.grid(visible=False, axis="y")
    outside_legend(ax, range(shown))
    draw_names_as_they_are(ax)
    return ax


def _draw(result: "Result", ax: "Axes", bars: _Bars) -> int:
    """Draw all bars, each kind at once, and give the number of kinds that there are."""
    from matplotlib.collections import PolyCollection

    operations = result.operations
    names = list(ACTIVITY_COLOURS)
    kinds = {name: names.index(_activity(name)) for name in set(operations["operation"])}
    kind = np.array([kinds[name] for name in operations["operation"]], dtype=np.int64)[bars.operation]
    start, end = operations["start_s"][bars.operation], operations["end_s"][bars.operation]
    drawn = 0
    for number, name in enumerate(names):
        chosen = np.flatnonzero((kind == number) & (end > start))
        if not len(chosen):
            continue
        drawn += 1
        percent = 100 * (end - start)[chosen].sum() / (end - start).sum()
        is_thin = name in ("reading", "writing") and len(chosen) <= _MOST_HAIRS * bars.rows
        ax.add_collection(
            PolyCollection(
                _corners(start[chosen], end[chosen], bars.row[chosen], bars.rows),
                facecolor=ACTIVITY_COLOURS[name],
                edgecolor=ACTIVITY_COLOURS[name] if is_thin else "white",
                linewidth=0.5 if is_thin else 0.0,
                hatch=ACTIVITY_HATCHES.get(name),
                label=f"{name} ({percent:.0f} %)" if percent >= 0.5 else f"{name} (<1 %)",
                rasterized=len(chosen) > _MOST_SHARP,
            )
        )
    return drawn


def _corners(left: Any, right: Any, row: Any, rows: int) -> Any:
    """Give the corners of bars; rows touch where there are many."""
    half = 0.4 if rows <= _MOST_NAMED else 0.5
    low, high = row - half, row + half
    sides = ((left, low), (right, low), (right, high), (left, high))
    return np.stack([np.stack(side, axis=1) for side in sides], axis=1)


def _activity(operation: str) -> str:
    if operation == "compute":
        return "computing"
    if operation in _WAITING:
        return "waiting"
    return "reading" if operation in _READING else "writing"


def _by_process(result: "Result") -> _Bars:
    """Give a row to each process, in the order in which they became ready."""
    operations = result.operations
    number, names = _numbered(operations["process"])
    first = np.full(len(names), np.inf)
    np.minimum.at(first, number, operations["start_s"])
    order = np.argsort(first, kind="stable")
    row = np.empty(len(names), dtype=np.int64)
    row[order] = np.arange(len(names))
    labels = (
        [(float(at), names[process]) for at, process in enumerate(order)] if len(names) <= _MOST_NAMED else []
    )
    return _Bars(np.arange(len(number)), row[number], labels, len(names), "What processes do")


def _by_core(result: "Result") -> _Bars:
    """Give each process with slots the lowest free rows of its host."""
    operations, slots = result.operations, result.slots
    number, names = _numbered(operations["process"])
    cores = np.array([slots.get(name, 0) for name in names], dtype=np.int64)
    has_slots = cores[number] > 0
    first, later = (
        np.flatnonzero(has_slots & which) for which in (operations["index"] == 0, operations["index"] > 0)
    )
    since, until = np.zeros(len(names)), np.zeros(len(names))
    since[number[first]] = operations["end_s"][first]  # the wait for cores is over
    np.maximum.at(until, number[later], operations["end_s"][later])
    hosts = {host: _Cores() for host in dict.fromkeys(result.timeline["host"])}
    for row in first[np.argsort(operations["end_s"][first], kind="stable")].tolist():
        process = int(number[row])
        hosts[operations["host"][row]].take(process, int(cores[process]), since[process], until[process])
    labels, taken, count = [], dict[int, list[int]](), 0
    for host, held in hosts.items():
        if held.count:
            count += 1 if count else 0  # a gap between hosts
            labels.append(
                (count + (held.count - 1) / 2, f"{host}\n{held.count} core{'' if held.count == 1 else 's'}")
            )
            taken |= {process: [count + row for row in rows] for process, rows in held.taken.items()}
            count += held.count
    rows = [taken[process] for process in number[later].tolist()]
    return _Bars(
        np.repeat(later, [len(own) for own in rows]) if len(later) else later,
        np.array([row for own in rows for row in own], dtype=np.int64),
        labels,
        count,
        "What cores do",
    )


class _Cores:
    """The cores of a host, as rows that are given out and come back."""

    def __init__(self) -> None:
        self.count = 0
        self.taken: dict[int, list[int]] = {}
        self._free: list[int] = []
        self._busy: list[tuple[float, list[int]]] = []

    def take(self, process: int, cores: int, start: float, end: float) -> None:
        """Give a process the lowest free rows; processes come in the order of their starts."""
        while self._busy and self._busy[0][0] <= start:
            for row in heapq.heappop(self._busy)[1]:
                heapq.heappush(self._free, row)
        rows = [heapq.heappop(self._free) for _ in range(min(cores, len(self._free)))]
        rows += range(self.count, self.count + cores - len(rows))
        self.count = max(self.count, *(row + 1 for row in rows))
        self.taken[process] = rows
        heapq.heappush(self._busy, (end, rows))


def _numbered(names: list[str]) -> tuple[Rows, list[str]]:
    """Give each name a number, in the order in which they come, and the names by number."""
    numbers: dict[str, int] = {}
    column = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    return column, list(numbers)
