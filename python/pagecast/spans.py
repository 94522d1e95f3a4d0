"""From when to when something was so, as the events of a result tell."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["Names", "Spans", "event_spans", "throttled_spans"]

Spans: TypeAlias = list[tuple[float, float]]
"""Begin and end of each, in seconds."""
Names: TypeAlias = tuple[str, ...]


def event_spans(result: "Result", what: str, *by: Literal["host", "process", "device"]) -> dict[Names, Spans]:
    """Give the spans of time in which something was so, for each host, process or device of which it is told.

    Spans that overlap or touch are one. A span that has not ended when events were no more kept ends with the
    last of them, otherwise with the simulation.

    Parameters
    ----------
    result : Result
    what : str
        An event without ``_begins`` or ``_ends``, such as "throttling".
    *by : {"host", "process", "device"}
        Whose spans, by the columns of the events: with "host" those of somebody on a host.

    Returns
    -------
    dict of tuple of str to list of tuple of float
        By the names in these columns, in the order of their first times; nobody without a span.
    """
    events = result.events
    step_of = {f"{what}_begins": 1, f"{what}_ends": -1}
    names = zip(*(events[column] for column in by), strict=True)
    steps: dict[Names, list[tuple[float, int]]] = {}
    for time_s, event, of in zip(events["time_s"].tolist(), events["event"], names, strict=True):
        if event in step_of:
            steps.setdefault(of, []).append((time_s, step_of[event]))
    last_s = float(events["time_s"][-1]) if result.events_left_out and steps else result.end_s
    spans = {of: _spans(of_names, last_s) for of, of_names in steps.items()}
    return {of: of_names for of, of_names in spans.items() if of_names}


def throttled_spans(result: "Result", host: str) -> Spans:
    """Give the spans of time in which some process of a host was throttled; see `event_spans`.

    Parameters
    ----------
    result : Result
    host : str

    Returns
    -------
    list of tuple of float
    """
    return event_spans(result, "throttling", "host").get((host,), [])


def _spans(steps: Iterable[tuple[float, int]], last_s: float) -> Spans:
    spans: Spans = []
    depth, begin_s = 0, 0.0
    for time_s, step in steps:
        if depth == 0:
            begin_s = spans.pop()[0] if spans and spans[-1][1] == time_s else time_s
        depth += step
        if depth == 0:
            spans.append((begin_s, time_s))
    if depth > 0:
        spans.append((begin_s, last_s))
    return [span for span in spans if span[0] < span[1]]
