"""Conditions on measures."""

import pytest

from pagecast.errors import MeasureError
from pagecast.measures import parse_want


@pytest.mark.parametrize(
    ("text", "sign", "limit", "is_factor"),
    [
        ("p99(db fsync) < 20 ms", "<", 0.02, False),
        ("p99(db fsync)<20ms", "<", 0.02, False),
        ("makespan(backup) <= 1.2x", "<=", 1.2, True),
        ("peak(dirty) < 2 GiB", "<", 2 * 2**30, False),
        ("rate(backup write) >= 400 MB/s", ">=", 4e8, False),
        ("share(throttled, backup write) < 10 %", "<", 0.1, False),
        ("share(throttled, backup write) < 0.1", "<", 0.1, False),
        ("count(db fsync) > 100", ">", 100, False),
    ],
)
def test_a_condition(text, sign, limit, is_factor):
    want = parse_want(text)
    assert (want.sign, want.limit, want.is_factor) == (sign, pytest.approx(limit), is_factor)
    assert parse_want(str(want)) == want or want.is_factor or "GiB" in text


def test_it_holds_or_not():
    want = parse_want("p99(db fsync) < 20 ms")
    assert want.holds(0.019)
    assert not want.holds(0.02)
    assert not want.holds(None)
    assert want.excess(0.03) == pytest.approx(0.5)
    assert want.excess(0.01) == pytest.approx(-0.5)
    assert want.excess(None) == float("inf")


def test_a_factor_is_relative_to_a_baseline():
    want = parse_want("makespan(backup) < 1.2x")
    assert want.holds(11.0, baseline=10.0)
    assert not want.holds(13.0, baseline=10.0)
    assert want.limit_of(10.0) == pytest.approx(12.0)
    with pytest.raises(
        MeasureError, match="is relative, and `makespan\\(backup\\)` has no value to start from"
    ):
        want.holds(11.0)


def test_more_can_be_wanted():
    want = parse_want("rate(backup write) >= 400 MB/s")
    assert want.holds(4e8)
    assert want.excess(3e8) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("p99(db fsync)", "is no condition; write for example p99(db fsync) < 20 ms"),
        ("p99(db fsync) < ", "is no condition"),
        (
            "p99(db fsync) < 20",
            "`20` is no limit of `p99(db fsync)`; write for example p99(db fsync) < 20 ms",
        ),
        ("peak(dirty) < 20 ms", "write for example peak(dirty) < 2 GB"),
        ("foo < 20 ms", "there is no `foo`"),
    ],
)
def test_what_cannot_be_understood(text, what):
    with pytest.raises(MeasureError) as caught:
        parse_want(text)
    assert what in str(caught.value)
