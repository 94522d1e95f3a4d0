"""When writers were held back, as the events of a result tell."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["throttled_spans"]

_STEPS = {"throttling_begins": 1, "throttling_ends": -1}


def throttled_spans(result: "Result", host: str) -> list[tuple[float, float]]:
    """Give the spans of time in which some device of a host held its writers back.

    Spans that touch are one. A span that has not ended when events were no more kept ends with the last of
    them, otherwise with the simulation.

    Parameters
    ----------
    result : Result
    host : str

    Returns
    -------
    list of tuple of float
        Begin and end of each, in seconds.
    """
    events = result.events
    spans: list[tuple[float, float]] = []
    devices, begin_s = 0, 0.0
    for time_s, where, event in zip(events["time_s"].tolist(), events["host"], events["event"], strict=True):
        step = _STEPS.get(event) if where == host else None
        if step is None:
            continue
        if devices == 0:
            begin_s = spans.pop()[0] if spans and spans[-1][1] == time_s else time_s
        devices += step
        if devices == 0:
            spans.append((begin_s, time_s))
    if devices > 0:
        spans.append((begin_s, float(events["time_s"][-1]) if result.events_left_out else result.end_s))
    return [span for span in spans if span[0] < span[1]]
