"""Levels: how far a sample is from the range of the forecast around it."""

import numpy as np
import pytest

from pagecast.comparison.levels import deviation, share_within
from pagecast.studies.live_kernel.levels import CachedFile, DirtyLevel
from pagecast.tolerance import DIRTY_TOLERANCE


def away(time_s, level, forecast_time_s, forecast):
    return deviation(
        *(np.array(values, dtype=float) for values in (time_s, level, forecast_time_s, forecast))
    )


def test_a_sample_inside_the_range_does_not_deviate():
    assert away([1.0], [50.0], [0.0, 2.0], [0.0, 100.0]).tolist() == [0.0]


def test_a_sample_deviates_from_the_edge_of_the_range():
    assert away([1.0, 1.0], [70.0, 30.0], [0.0, 2.0], [0.0, 100.0]) == pytest.approx([10.0, 10.0])


def test_a_peak_between_the_edges_counts():
    assert away([1.0], [95.0], [0.0, 0.95, 1.0, 1.05, 2.0], [0, 0, 100, 0, 0]).tolist() == [0.0]


def test_the_forecast_is_constant_outside():
    assert away([-1.0, 9.0], [10.0, 20.0], [0.0, 1.0], [10.0, 20.0]).tolist() == [0.0, 0.0]


def test_the_share_is_that_of_the_samples():
    levels = [
        DirtyLevel("p", "c", k, "wrench", np.array(shares)) for k, shares in ((1, [0, 0.2]), (2, [0.1, 0.05]))
    ]
    assert levels[0].share_within == 0.5
    assert share_within(levels, DIRTY_TOLERANCE) == 0.75
    assert levels[0].as_dict()["greatest_deviation"] == 0.2


def test_a_cached_file_may_be_five_percent_of_the_memory_away():
    def file(forecast):
        return CachedFile("p", "c", 1, "p0", "look", "f", "wrench", 100, forecast, 1000)

    assert file(150).is_within
    assert file(150).deviation == 0.05
    assert not file(49).is_within
    assert file(49).as_dict()["deviation"] == pytest.approx(-0.051)
