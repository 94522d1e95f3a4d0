"""Describes the events of the page cache in sentences: throttling, runs of flushers, waits for memory."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from pagecast._core import format_bytes
from pagecast.cli.amounts import rate, seconds
from pagecast.result import Columns, Result
from pagecast.spans import Spans, event_spans

__all__ = ["happenings"]

_MOST_LINES = 8
_MOST_NAMES = 3
_WINDOW_S = 1.0
"""Two throttled spans less than this apart are one, as in the events; shorter ones have no rate."""

_Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"
_Told: TypeAlias = tuple[str, str]
"""A host and its sentence."""


def happenings(result: Result) -> Iterator[str]:
    """Print the events of each host, a few lines for each kind.

    There may be thousands of hosts or processes: each table is gone through once, and not once for each.

    Parameters
    ----------
    result : Result

    Yields
    ------
    str
    """
    hosts = {host: number for number, host in enumerate(dict.fromkeys(result.timeline["host"]))}
    for tell, rest in (
        (_throttled, "throttled"),
        (_background, "with background write-back"),
        (_direct_reclaim, "with direct reclaim"),
        (_refault_storms, "with many refaults"),
    ):
        told = sorted(tell(result), key=lambda line: hosts[line[0]])
        for host, what in told[:_MOST_LINES]:
            yield f"{result.model}{f', {host}' if len(hosts) > 1 else ''}: {what}"
        if more := told[_MOST_LINES:]:
            yield f"{result.model}: … and {len(more):,} more {rest}; the table of events has all."


def _throttled(result: Result) -> Iterator[_Told]:
    """Say of each process since when, how much and how long; those of which the same can be said together."""
    throttled = event_spans(result, "throttling", "host", "process")
    if not throttled:
        return
    dirtied = _Columns(result.timeline, "dirtied_bytes", "host")
    dirty = _Columns(result.timeline, "dirty_bytes", "host")
    rates = _TaskRates(result)
    processes: dict[_Told, list[str]] = {}
    for (host, process), spans in throttled.items():
        begin_s = spans[0][0]
        level, so_far = (format_bytes(int(np.interp(begin_s, *of.of(host)))) for of in (dirty, dirtied))
        said = (
            f"throttled from {seconds(begin_s)} with {level} dirty ({so_far} dirtied so far)"
            f"{_down_to(rates.least(host, process, spans))}; {_share(result, spans)}"
        )
        processes.setdefault((host, said), []).append(process)
    everybody = len(set(result.operations["process"]))
    for (host, said), names in processes.items():
        yield host, said if len(names) == everybody else f"{_names(names)} {said}"


def _down_to(least: float | None) -> str:
    return "" if least is None else f", down to {rate(least)} per process"


class _Columns:
    """Times and values of a table, apart for each host, or each device of a host."""

    def __init__(self, table: Columns, value: str, *by: str) -> None:
        rows: dict[tuple[str, ...], list[int]] = {}
        for row, names in enumerate(zip(*(table[column] for column in by), strict=True)):
            rows.setdefault(names, []).append(row)
        self._columns = {names: (table["time_s"][of], table[value][of]) for names, of in rows.items()}

    def of(self, *names: str) -> tuple[_Array, _Array]:
        """Give the times and the values; empty where there is none."""
        return self._columns.get(names, (np.array([]), np.array([])))

    def names(self) -> Iterable[tuple[str, ...]]:
        """Give the names that there are columns of."""
        return self._columns


class _TaskRates:
    """The rates of tasks at the devices where processes were throttled."""

    def __init__(self, result: Result) -> None:
        events = result.events
        self._rates = _Columns(result.bdi, "task_ratelimit_bytes_per_s", "host", "device", "cgroup")
        self._cgroups: dict[tuple[str, str], list[str]] = {}
        for host, device, cgroup in self._rates.names():
            self._cgroups.setdefault((host, device), []).append(cgroup)
        self._devices: dict[tuple[str, str], dict[str, None]] = {}
        told = zip(events["event"], events["host"], events["process"], events["device"], strict=True)
        for event, host, process, device in told:
            if event == "throttling_begins":
                self._devices.setdefault((host, process), {})[device] = None

    def least(self, host: str, process: str, spans: Spans) -> float | None:
        """Give the lowest rate over a second at the devices where a process was throttled, if one is known.

        At one instant the law may say 0, which is a pause of 0.2 s at most. Where memory cgroups write to a
        device too, nobody knows whose limits hold: the highest of their lowest rates is no exaggeration.
        """
        devices = []
        for device in self._devices[host, process]:
            of_cgroups = (
                _least_over_a_second(*self._rates.of(host, device, cgroup), spans)
                for cgroup in self._cgroups.get((host, device), [])
            )
            devices.append(max((rate for rate in of_cgroups if rate is not None), default=None))
        return min((rate for rate in devices if rate is not None), default=None)


def _least_over_a_second(time_s: _Array, rates: _Array, spans: Spans) -> float | None:
    """Give the lowest mean rate over a second; where a span is shorter, over the span.

    Nobody is held while no rate is known (NaN), so a second with such a time in it has no mean.
    """
    least: list[float] = []
    for begin_s, end_s in spans:
        first, last = np.searchsorted(time_s, (begin_s, end_s), side="right")
        edges = np.concatenate([[begin_s], time_s[first:last], [end_s]])
        held = np.append(np.nan, rates)[first : last + 1]
        window_s = min(_WINDOW_S, end_s - begin_s)
        for of, known in _known(edges, held):
            if of[-1] - of[0] >= window_s:
                rate = _least_mean(of, known, window_s)
                least += [rate] if rate > 0 or window_s == _WINDOW_S else []
    return min(least, default=None)


def _known(edges: _Array, held: _Array) -> Iterator[tuple[_Array, _Array]]:
    """Give the stretches of time in which a rate is known: edges of shape (n + 1,), rates of shape (n,)."""
    steps = np.diff(np.concatenate([[0], np.isfinite(held).astype(int), [0]]))
    for begin, end in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True):
        yield edges[begin : end + 1], held[begin:end]


def _least_mean(edges: _Array, held: _Array, window_s: float) -> float:
    """Give the least mean over a window; that one begins or ends where the rate changes."""
    moved = np.concatenate([[0.0], np.cumsum(np.diff(edges) * held)])
    begins = np.concatenate([edges, edges - window_s]).clip(edges[0], edges[-1] - window_s)
    means = (np.interp(begins + window_s, edges, moved) - np.interp(begins, edges, moved)) / window_s
    # Sums of floats may end just below 0, or just above.
    least = float(means.min())
    return least if least > 1.0 else 0.0


def _background(result: Result) -> Iterator[_Told]:
    for (host, device), spans in event_spans(result, "background", "host", "device").items():
        yield host, f"background write-back to {device} {_when(result, spans)}"


def _direct_reclaim(result: Result) -> Iterator[_Told]:
    processes: dict[str, list[str]] = {}
    for host, process in event_spans(result, "direct_reclaim", "host", "process"):
        if process:
            processes.setdefault(host, []).append(process)
    for (host,), spans in event_spans(result, "direct_reclaim", "host").items():
        names = processes.get(host, [])
        waited = f": {_names(names)} waited {seconds(_reclaim_s(result, names))} for clean pages"
        yield host, f"direct reclaim from {seconds(spans[0][0])}{waited if names else ''}"


def _reclaim_s(result: Result, processes: Iterable[str]) -> float:
    wanted = set(processes)
    rows = np.array([name in wanted for name in result.parts["process"]], dtype=bool)
    return float(result.parts["reclaim_s"][rows].sum())


def _refault_storms(result: Result) -> Iterator[_Told]:
    for (host,), spans in event_spans(result, "refault_storm", "host").items():
        when = _when(result, spans)
        yield host, f"refaults {when}: most of the bytes read had been evicted not long before"


def _when(result: Result, spans: Spans) -> str:
    times = f" in {len(spans):,} spans" if len(spans) > 1 else ""
    return f"from {seconds(spans[0][0])} to {seconds(spans[-1][1])}{times}; {_share(result, spans)}"


def _share(result: Result, spans: Spans) -> str:
    share = 100 * sum(end_s - begin_s for begin_s, end_s in spans) / result.end_s
    at_least = "at least " if result.events_left_out else ""
    return f"{at_least}{f'{share:.0f}' if share >= 0.5 else '<1'} % of the time"


def _names(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    shown = names if more <= 1 else [*names[:_MOST_NAMES], f"{more:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
