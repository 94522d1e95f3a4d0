"""What the page cache did, in sentences: who was throttled, when flushers ran, who waited for memory."""

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

_Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"
_Told: TypeAlias = tuple[str, str]
"""A host and what is to be said of it."""


def happenings(result: Result) -> Iterator[str]:
    """Say what happened on each host, a few lines for each kind.

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
        (_refault_storms, "with refault storms"),
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
    rates = _TaskRates(result)
    processes: dict[_Told, list[str]] = {}
    for (host, process), spans in throttled.items():
        became_dirty = np.interp(spans[0][0], *dirtied.of(host))
        said = (
            f"throttled from {seconds(spans[0][0])}, after {format_bytes(int(became_dirty))} became dirty"
            f"{_down_to(rates.least(host, process, spans))}; {_share(result, spans)} throttled"
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


class _TaskRates:
    """The rates of tasks at the devices where processes were throttled."""

    def __init__(self, result: Result) -> None:
        events = result.events
        self._rates = _Columns(result.devices, "task_ratelimit_bytes_per_s", "host", "device")
        self._devices: dict[tuple[str, str], dict[str, None]] = {}
        told = zip(events["event"], events["host"], events["process"], events["device"], strict=True)
        for event, host, process, device in told:
            if event == "throttling_begins":
                self._devices.setdefault((host, process), {})[device] = None

    def least(self, host: str, process: str, spans: Spans) -> float | None:
        """Give the lowest rate meanwhile at the devices where a process was throttled, if one is known."""
        begins_s, ends_s = np.array(spans).T
        least = []
        for device in self._devices[host, process]:
            time_s, rates = self._rates.of(host, device)
            firsts, ends = np.searchsorted(time_s, begins_s), np.searchsorted(time_s, ends_s, side="right")
            least += [np.fmin.reduce(rates[a:b]) for a, b in zip(firsts, ends, strict=True) if a < b]
        known = [float(value) for value in least if not np.isnan(value)]
        return min(known, default=None)


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
        yield host, f"refault storm {when}: most of what was read had been evicted not long before"


def _when(result: Result, spans: Spans) -> str:
    times = f" in {len(spans):,} spells" if len(spans) > 1 else ""
    return f"from {seconds(spans[0][0])} to {seconds(spans[-1][1])}{times}; {_share(result, spans)}"


def _share(result: Result, spans: Spans) -> str:
    share = 100 * sum(end_s - begin_s for begin_s, end_s in spans) / result.end_s
    at_least = "at least " if result.events_left_out else ""
    return f"{at_least}{f'{share:.0f}' if share >= 0.5 else '<1'} % of the time"


def _names(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    shown = names if more <= 1 else [*names[:_MOST_NAMES], f"{more:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
