"""What the summary says of throttled writers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagecast.cli.happened import _least_over_a_second

NAN = float("nan")


def least(*steps, spans):
    """Give the lowest rate over a second where rates begin at these times."""
    time_s, rates = np.array(steps).T
    return _least_over_a_second(time_s, rates, spans)


def test_a_pause_is_no_rate_of_zero():
    """The summary said "down to 0 B/s per process" of writers who had been paused for 0.2 s."""
    assert least((0.0, 100.0), (2.0, 0.0), (2.2, 100.0), spans=[(0.0, 4.0)]) == pytest.approx(80.0)
    assert least((0.0, NAN), (2.0, 0.0), (2.2, NAN), spans=[(0.0, 4.0)]) is None
    assert least((0.0, 0.0), (0.2, NAN), spans=[(0.0, 0.2)]) is None


def test_who_is_held_at_zero_for_a_second_is_told_so():
    assert least((0.0, 100.0), (2.0, 0.0), (3.5, 100.0), spans=[(0.0, 4.0)]) == 0.0


def test_a_span_of_less_than_a_second_has_its_mean():
    assert least((0.0, 100.0), (0.2, 300.0), spans=[(0.1, 0.5)]) == pytest.approx(250.0)


def test_what_happens_outside_of_the_spans_is_not_counted():
    assert least((0.0, 5.0), (2.0, 100.0), (5.0, 7.0), spans=[(2.0, 5.0)]) == pytest.approx(100.0)


@given(st.lists(st.tuples(st.floats(0.01, 2.0), st.floats(10.0, 1e9)), min_size=1, max_size=20))
def test_the_least_mean_is_one_of_a_second_that_was(steps):
    lasts_s, rates = map(np.array, zip(*steps, strict=True))
    time_s = np.concatenate([[0.0], np.cumsum(lasts_s)[:-1]])
    end_s = float(lasts_s.sum())
    found = _least_over_a_second(time_s, rates, [(0.0, end_s)])
    assert end_s > 1.0 or found == pytest.approx((rates * lasts_s).sum() / end_s)
    assert rates.min() * (1 - 1e-6) <= found <= rates.max() * (1 + 1e-6)
