"""Spans of time in which writers were held back."""

from types import SimpleNamespace

import numpy as np
import pytest

from pagecast.spans import event_spans, throttled_spans

BEGINS, ENDS = "throttling_begins", "throttling_ends"


def result(*events, left_out=0):
    """Give a result of 10 s with these events: time, name, and the host if it is not `a`."""
    rows = [(*event, "a")[:3] for event in events]
    table = {
        "time_s": np.array([time_s for time_s, _, _ in rows]),
        "event": [event for _, event, _ in rows],
        "host": [host for _, _, host in rows],
    }
    return SimpleNamespace(events=table, events_left_out=left_out, end_s=10.0)


@pytest.mark.parametrize(
    ("events", "spans"),
    [
        ([], []),
        ([(1.0, BEGINS), (2.0, ENDS), (4.0, BEGINS), (7.0, ENDS)], [(1, 2), (4, 7)]),
        ([(1.0, BEGINS), (2.0, ENDS), (2.0, BEGINS), (7.0, ENDS)], [(1, 7)]),
        ([(1.0, BEGINS), (1.0, ENDS)], []),
        ([(1.0, BEGINS)], [(1, 10)]),
        ([(1.0, "evict"), (1.0, BEGINS, "b"), (2.0, BEGINS), (3.0, ENDS, "b"), (4.0, ENDS)], [(2, 4)]),
        ([(1.0, BEGINS), (2.0, BEGINS), (3.0, ENDS), (4.0, ENDS)], [(1, 4)]),
    ],
    ids=["none", "two", "touching", "no time", "open", "other hosts and events", "two devices"],
)
def test_spans(events, spans):
    assert throttled_spans(result(*events), "a") == spans


def test_an_open_span_ends_where_events_are_no_more_kept():
    assert throttled_spans(result((1.0, BEGINS), (3.0, "evict"), left_out=7), "a") == [(1, 3)]


def test_each_process_has_its_own_spans():
    told = result((1.0, BEGINS), (2.0, BEGINS), (3.0, ENDS), (4.0, ENDS), (5.0, BEGINS), (5.0, ENDS))
    told.events["process"] = ["p", "q", "p", "q", "r", "r"]
    assert event_spans(told, "throttling", "host", "process") == {("a", "p"): [(1, 3)], ("a", "q"): [(2, 4)]}
