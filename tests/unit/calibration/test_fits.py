"""What repeated measurements say: intervals that hold what they should, drift, buckets."""

import math
import random

import pytest

from pagecast.calibration.costs import fit_calls
from pagecast.calibration.fits import (
    LEAST_ROUNDS,
    estimate,
    find_beginning,
    find_bucket,
    find_write_cache,
    fit_steady,
    held_rate,
    limit_share,
)


@pytest.mark.parametrize("n", [6, 9, 15, 25])
@pytest.mark.parametrize("draw", ["normal", "skewed"])
def test_the_interval_holds_the_median_as_often_as_it_says(n, draw):
    drawn = random.Random(n)
    one = {"normal": lambda: drawn.gauss(10, 3), "skewed": lambda: 10 * math.exp(drawn.gauss(0, 0.8))}[draw]
    found = [estimate([one() for _ in range(n)]) for _ in range(2000)]
    held = sum(each.low <= 10 <= each.high for each in found) / len(found)
    assert held >= 0.94, "95 % less what chance does to 2000 of them"


def test_an_interval_is_no_wider_than_it_must_be():
    # Binomial of nine fair coins: 0 or 1 heads, or 8 or 9, come in 20 of 512 throws.
    found = estimate([float(each) for each in (5, 3, 8, 1, 9, 2, 7, 4, 6)])
    assert (found.low, found.value, found.high) == (2, 5, 8)


def test_few_rounds_have_no_interval():
    assert estimate([1.0] * (LEAST_ROUNDS - 1)).low is None
    assert estimate([1.0] * LEAST_ROUNDS).low == 1.0


def test_lost_rounds_are_left_out():
    found = estimate([math.nan, 2.0, 4.0, math.nan])
    assert (found.value, found.n) == (3.0, 2)
    with pytest.raises(ValueError, match="no round"):
        estimate([math.nan])


def test_drift_is_seen_and_noise_is_not_taken_for_it():
    assert estimate([100.0 + each for each in range(11)]).drift == pytest.approx(10 / 105)
    assert estimate([100.0 + each for each in range(11)]).is_drifting
    drawn = random.Random(3)
    runs = [estimate([drawn.gauss(100, 5) for _ in range(12)]) for _ in range(500)]
    assert sum(run.is_drifting for run in runs) / 500 < 0.08
    assert runs[0].noise == pytest.approx(0.05, rel=0.8)


def test_costs_of_calls_and_bytes_are_told_apart():
    sizes = [4096, 65536, 1 << 20, 8 << 20]
    found = {("read", size): 2e-6 / size + 1e-10 for size in sizes}
    found |= {("again", size): 2e-6 / size + 3e-10 for size in sizes}
    costs = fit_calls(found)
    assert costs.call_s == pytest.approx(2e-6)
    assert costs.bytes_s == pytest.approx({"read": 1e-10, "again": 3e-10})


def test_calls_that_cost_nothing():
    costs = fit_calls({("read", 4096): 1e-10, ("read", 8192): 1.2e-10})
    assert (costs.call_s, costs.bytes_s) == (0.0, {"read": pytest.approx(1.1e-10)})


def marks(*levels):
    """Give marks half a second apart, of (rate, seconds)."""
    time, moved, found = 0.0, 0.0, []
    for rate, seconds in levels:
        for _ in range(int(seconds * 2)):
            time, moved = time + 0.5, moved + rate / 2
            found.append((time, int(moved)))
    return found


def test_a_steady_stream_is_never_ahead_of_its_rate():
    steady = fit_steady([(k / 100, k * 10**6) for k in range(1, 101)], from_s=0.3)
    ahead = (steady.rate_bytes_per_s, steady.ahead_s, steady.most_ahead_s)
    assert ahead == pytest.approx((100e6, 0.0, 0.0), abs=1e-6)


def test_slices_of_a_limiter_are_its_rate_on_the_average():
    """The kernel's limiter lets pass what belongs to a slice of 100 ms at its beginning."""
    marks = [
        (k / 10 + at, int((k + at / 0.02) * 10e6)) for k in range(10) for at in (0.005, 0.01, 0.015, 0.02)
    ]
    steady = fit_steady(marks, from_s=0.3)
    assert steady.rate_bytes_per_s == pytest.approx(100e6, rel=0.02)
    assert steady.most_ahead_s == pytest.approx(0.08, rel=0.2)
    assert steady.ahead_s == pytest.approx(0.05, rel=0.2), "what a stream of any length is ahead in the mean"


def test_a_bucket_that_was_emptied_is_as_far_ahead_as_it_was_large():
    steady = fit_steady([(k / 100, (k + 20) * 10**6) for k in range(1, 101)], from_s=0.3)
    assert (steady.ahead_s, steady.most_ahead_s) == pytest.approx((0.2, 0.2))


def test_too_few_marks_are_no_line():
    assert fit_steady([(k / 10, k) for k in range(1, 9)], from_s=0.3) is not None
    assert fit_steady([(k / 10, k) for k in range(1, 8)], from_s=0.3) is None
    assert fit_steady([(k / 10, 5) for k in range(1, 20)], from_s=0.3) is None, "nothing moves"


def test_a_bucket_is_what_went_beyond_its_rate():
    bucket = find_bucket(marks((400e6, 20), (100e6, 60)))
    assert bucket.rate_bytes_per_s == pytest.approx(100e6)
    assert bucket.burst_bytes == pytest.approx(300e6 * 20)
    assert bucket.dropped_s == 20


@pytest.mark.parametrize(
    "levels", [((100e6, 60),), ((100e6, 30), (90e6, 30)), ((100e6, 30), (300e6, 30)), ((400e6, 2),)]
)
def test_no_bucket_where_the_rate_stays_or_grows(levels):
    assert find_bucket(marks(*levels)) is None


def test_noise_is_no_bucket():
    drawn = random.Random(5)
    assert find_bucket(marks(*((drawn.uniform(50e6, 150e6), 0.5) for _ in range(100)))) is None


def noisy(levels, *, noise, seed):
    """Give marks a hundredth of a second apart, of (rate, seconds), with normal noise."""
    drawn, time, moved, found = random.Random(seed), 0.0, 0.0, []
    for rate, seconds in levels:
        for _ in range(int(seconds * 100)):
            time, moved = time + 0.01, moved + rate / 100 * max(drawn.gauss(1.0, noise), 0.05)
            found.append((time, int(moved)))
    return found


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_a_short_beginning_is_found_in_a_long_stream(noise):
    """0.12 of 2.6 s: its step explains less than half of the variance of all."""
    beginning = find_beginning(noisy([(2500e6, 0.12), (1150e6, 2.5)], noise=noise, seed=1))
    assert beginning.rate_bytes_per_s == pytest.approx(1150e6, rel=0.01 + noise / 4)
    assert beginning.burst_rate_bytes_per_s == pytest.approx(2500e6, rel=0.01 + noise / 2)
    assert beginning.burst_bytes == pytest.approx((2500e6 - 1150e6) * 0.12, rel=0.01 + noise)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("noise", [0.1, 0.3, 0.6])
def test_noise_is_no_beginning(noise, seed):
    assert find_beginning(noisy([(1150e6, 2.6)], noise=noise, seed=seed)) is None


def test_what_lasts_four_marks_is_no_beginning():
    """A limiter lets so much pass at once; what rate that has nobody can say."""
    assert find_beginning(noisy([(2500e6, 0.04), (250e6, 2)], noise=0, seed=1)) is None
    assert find_beginning(noisy([(2500e6, 0.05), (250e6, 2)], noise=0, seed=1)) is not None


def test_a_write_cache_is_what_most_streams_begin_with():
    big, other, none = (
        noisy([(1000e6, seconds), (300e6, 3)], noise=0, seed=1) for seconds in (1.0, 0.2, 0.0)
    )
    assert len(find_write_cache([big, big])) == 2
    assert len(find_write_cache([big, big, none])) == 2
    assert len(find_write_cache([big, other, big])) == 2, "one of another size is left out"
    for streams in ([], [big], [big, none], [big, none, none], [big, big, none, none], [big, other]):
        assert find_write_cache(streams) == []


def test_a_held_rate_is_that_of_the_second_half():
    assert held_rate(marks((400e6, 10), (100e6, 40))) == pytest.approx(100e6)
    assert held_rate(marks((400e6, 20))) == pytest.approx(400e6)
    assert math.isnan(held_rate(marks((400e6, 2))))


@pytest.mark.parametrize(
    ("version", "percent", "share"),
    [
        ("4.6", 20, 0.2),
        ("4.7", 20, 819 / 4096),
        ("6.18", 20, 819 / 4096),
        ("3.10", 40, 0.4),
        ("5.4", 25, 0.25),
    ],
)
def test_the_limit_is_rounded_as_the_kernel_does_it(version, percent, share):
    assert limit_share({"dirty_ratio": percent}, version) == share
    assert limit_share({"dirty_ratio": percent, "dirty_bytes": "1 GB"}, version) is None
