"""From when to when something was so, as the events of a result tell."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["event_spans", "throttled_spans"]


def event_spans(
    result: "Result", what: str, host: str, *, process: str | None = None, device: str | None = None
) -> list[tuple[float, float]]:
    """Give the spans of time in which something was so for somebody or some device of a host.

    Spans that overlap or touch are one. A span that has not ended when events were no more kept ends with the
    last of them, otherwise with the simulation.

    Parameters
    ----------
    result : Result
    what : str
        An event without ``_begins`` or ``_ends``, such as "throttling".
    host : str
    process, device : str, optional
        Only of this one.

    Returns
    -------
    list of tuple of float
        Begin and end of each, in seconds.
    """
    events = result.events
    steps = {f"{what}_begins": 1, f"{what}_ends": -1}
    wanted = {"host": host, "process": process, "device": device}
    told = [(events[column], name) for column, name in wanted.items() if name is not None]
    spans: list[tuple[float, float]] = []
    depth, begin_s = 0, 0.0
    for row, (time_s, event) in enumerate(zip(events["time_s"].tolist(), events["event"], strict=True)):
        step = steps.get(event)
        if step is None or any(names[row] != name for names, name in told):
            continue
        if depth == 0:
            begin_s = spans.pop()[0] if spans and spans[-1][1] == time_s else time_s
        depth += step
        if depth == 0:
            spans.append((begin_s, time_s))
    if depth > 0:
        spans.append((begin_s, float(events["time_s"][-1]) if result.events_left_out else result.end_s))
    return [span for span in spans if span[0] < span[1]]


def throttled_spans(result: "Result", host: str, *, process: str | None = None) -> list[tuple[float, float]]:
    """Give the spans of time in which some process of a host, or this one, was throttled; see `event_spans`.

    Parameters
    ----------
    result : Result
    host : str
    process : str, optional

    Returns
    -------
    list of tuple of float
    """
    return event_spans(result, "throttling", host, process=process)
