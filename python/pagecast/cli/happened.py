"""What the page cache did, in sentences: who was throttled, when flushers ran, who waited for memory."""

from collections.abc import Iterable, Iterator

import numpy as np

from pagecast._core import format_bytes
from pagecast.cli.amounts import rate, seconds
from pagecast.result import Result
from pagecast.spans import event_spans

__all__ = ["happenings"]

_MOST_LINES = 8
_MOST_NAMES = 3

_Spans = list[tuple[float, float]]


def happenings(result: Result) -> Iterator[str]:
    """Say what happened on each host, a few lines for each kind.

    Parameters
    ----------
    result : Result

    Yields
    ------
    str
    """
    for say, rest in (
        (_throttled, "throttled"),
        (_background, "with background write-back"),
        (_direct_reclaim, "with direct reclaim"),
        (_refault_storms, "with refault storms"),
    ):
        lines = [line for host in _hosts(result) for line in say(result, host)]
        yield from lines[:_MOST_LINES]
        if more := lines[_MOST_LINES:]:
            yield f"{result.model}: … and {len(more):,} more {rest}; the table of events has all."


def _hosts(result: Result) -> list[str]:
    return list(dict.fromkeys(result.timeline["host"]))


def _head(result: Result, host: str) -> str:
    return f"{result.model}, {host}" if len(_hosts(result)) > 1 else result.model


def _told(result: Result, what: str, host: str, column: str) -> list[str]:
    """Give the processes or devices of a host that something began for."""
    events = result.events
    rows = zip(events["event"], events["host"], events[column], strict=True)
    return list(
        dict.fromkeys(name for event, where, name in rows if (event, where) == (f"{what}_begins", host))
    )


def _throttled(result: Result, host: str) -> Iterator[str]:
    """Say of each process since when, how much and how long; those of which the same can be said together."""
    processes: dict[str, list[str]] = {}
    for process in _told(result, "throttling", host, "process"):
        if said := _throttled_process(result, host, process):
            processes.setdefault(said, []).append(process)
    is_one = len(processes) == 1
    for said, names in processes.items():
        who = "" if is_one and len(set(result.operations["process"])) == len(names) else f"{_names(names)} "
        yield f"{_head(result, host)}: {who}{said}"


def _throttled_process(result: Result, host: str, process: str) -> str:
    spans = event_spans(result, "throttling", host, process=process)
    if not spans:
        return ""
    timeline = result.timeline
    rows = _rows(timeline["host"], host)
    dirtied = np.interp(spans[0][0], timeline["time_s"][rows], timeline["dirtied_bytes"][rows])
    slowest = _slowest(result, host, process, spans)
    return (
        f"throttled from {seconds(spans[0][0])}, after {format_bytes(int(dirtied))} became dirty"
        f"{f', down to {rate(slowest)} per process' if np.isfinite(slowest) else ''}; "
        f"{_share(result, spans)} throttled"
    )


def _slowest(result: Result, host: str, process: str, spans: _Spans) -> float:
    """Give the lowest rate of tasks at the devices where a process was throttled, meanwhile."""
    events, table = result.events, result.devices
    told = zip(events["event"], events["host"], events["process"], events["device"], strict=True)
    at = {device for *who, device in told if who == ["throttling_begins", host, process]}
    rows = _rows(table["host"], host) & np.array([name in at for name in table["device"]], dtype=bool)
    time_s, rates = table["time_s"][rows], table["task_ratelimit_bytes_per_s"][rows]
    within = [(begin_s <= time_s) & (time_s <= end_s) for begin_s, end_s in spans]
    known = rates[np.any(within, axis=0) & ~np.isnan(rates)]
    return float(known.min(initial=np.inf))


def _background(result: Result, host: str) -> Iterator[str]:
    for device in _told(result, "background", host, "device"):
        if spans := event_spans(result, "background", host, device=device):
            yield f"{_head(result, host)}: background write-back to {device} {_when(result, spans)}"


def _direct_reclaim(result: Result, host: str) -> Iterator[str]:
    processes = [name for name in _told(result, "direct_reclaim", host, "process") if name]
    spans = event_spans(result, "direct_reclaim", host)
    if spans:
        waited_s = _reclaim_s(result, processes)
        who = f"{_names(processes)} waited {seconds(waited_s)} for clean pages" if processes else ""
        yield f"{_head(result, host)}: direct reclaim from {seconds(spans[0][0])}{': ' if who else ''}{who}"


def _reclaim_s(result: Result, processes: Iterable[str]) -> float:
    rows = np.isin(np.array(result.parts["process"], dtype=object), list(processes))
    return float(result.parts["reclaim_s"][rows].sum())


def _refault_storms(result: Result, host: str) -> Iterator[str]:
    spans = event_spans(result, "refault_storm", host)
    if spans:
        yield (
            f"{_head(result, host)}: refault storm {_when(result, spans)}: "
            "most of what was read had been evicted not long before"
        )


def _when(result: Result, spans: _Spans) -> str:
    times = f" in {len(spans):,} spells" if len(spans) > 1 else ""
    return f"from {seconds(spans[0][0])} to {seconds(spans[-1][1])}{times}; {_share(result, spans)}"


def _share(result: Result, spans: _Spans) -> str:
    share = 100 * sum(end_s - begin_s for begin_s, end_s in spans) / result.end_s
    at_least = "at least " if result.events_left_out else ""
    return f"{at_least}{f'{share:.0f}' if share >= 0.5 else '<1'} % of the time"


def _names(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    shown = names if more <= 1 else [*names[:_MOST_NAMES], f"{more:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _rows(hosts: list[str], host: str) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.array([name == host for name in hosts], dtype=bool)
