"""Known levels of runs and forecasts: known deviations, as shares of the limit or the memory."""

import numpy as np
import pytest

from pagecast.validation.levels import (
    away_from_forecast,
    away_from_run,
    forecast_series,
    measured_series,
    sees_files,
)
from pagecast.validation.residency import cached_files
from pagecast.validation.room import Room
from tests.unit.validation.stand_ins import MIB, Forecast, Run, file_samples, files, operations, timeline

NOTHING = operations(("app", 0, "write", "/f", 1.0))


def run(*samples, end_s=2.0):
    of_all = timeline([0.0, 1.0, 2.0], [30, 30, 30], [500, 500, 500])
    return Run(NOTHING, timeline=of_all, file_samples=file_samples(*samples), end_s=end_s)


def forecast(dirty_mib, cached_mib, model="kernel", **kwargs):
    levels = timeline([0.0, 1.0, 2.0], dirty_mib, cached_mib)
    return Forecast(NOTHING, model=model, timeline=levels, **kwargs)


def test_files_are_added_up_and_a_page_counts_once():
    # /g has 10 MiB, 8 dirty and 6 under writeback: 4 of them are both.
    made = run((0.5, "/f", 20, 5, 3), (0.5, "/g", 10, 8, 6), (1.0, "/f", 20, 0, 1))
    assert sees_files(made)
    dirty = measured_series(made, "dirty")
    assert dirty.time_s.tolist() == [0.5, 1.0]
    assert (dirty.level_bytes / MIB).tolist() == [18.0, 1.0]
    assert (measured_series(made, "cached").level_bytes / MIB).tolist() == [30.0, 20.0]


def test_samples_after_the_end_do_not_count():
    made = run((0.5, "/f", 1, 1, 0), (1.5, "/f", 1, 1, 0), end_s=1.0)
    assert measured_series(made, "dirty").time_s.tolist() == [0.5]


def test_without_samples_of_files_dirty_memory_is_that_of_the_machine():
    made = run()
    assert not sees_files(made)
    assert (measured_series(made, "dirty").level_bytes / MIB).tolist() == [30.0] * 3
    assert measured_series(made, "cached") is None
    assert away_from_forecast("c", 1, made, forecast([30] * 3, [0] * 3), "cached") is None


def test_deviations_are_shares_of_the_limit_and_of_the_memory():
    made = run((1.0, "/f", 300, 60, 0))
    expected = forecast([50, 50, 50], [200, 200, 200])
    dirty = away_from_forecast("c", 2, made, expected, "dirty")
    cached = away_from_forecast("c", 2, made, expected, "cached")
    # The limit is 100 MiB, the memory 1000 MiB.
    assert dirty.deviations.tolist() == pytest.approx([0.10])
    assert cached.deviations.tolist() == pytest.approx([0.10])
    assert (dirty.case, dirty.repetition, dirty.model) == ("c", 2, "kernel")
    assert (dirty.share_within(0.1), dirty.share_within(0.05)) == (1.0, 0.0)
    assert dirty.as_dict(0.05)["share_within"] == 0.0


def test_a_model_that_does_not_know_a_level_is_not_compared():
    made = run((1.0, "/f", 300, 60, 0))
    assert away_from_forecast("c", 1, made, forecast([0] * 3, [0] * 3, "no-cache"), "cached") is None
    assert away_from_forecast("c", 1, made, forecast([0] * 3, [0] * 3, "endless-cache"), "dirty") is None
    assert away_from_forecast("c", 1, made, forecast([0] * 3, [300] * 3, "endless-cache"), "cached")


def test_levels_that_change_at_rows_alone_hold_until_the_next():
    stepped = forecast_series(forecast([0, 100, 0], [0] * 3, "wrench", changes_evenly=False), "dirty")
    at = np.interp([0.5, 0.99, 1.5], stepped.time_s, stepped.level_bytes / MIB)
    assert at.tolist() == pytest.approx([0.0, 0.0, 100.0])
    evenly = forecast_series(forecast([0, 100, 0], [0] * 3), "dirty")
    assert np.interp(0.5, evenly.time_s, evenly.level_bytes / MIB) == pytest.approx(50.0)


def test_one_run_against_another_is_the_spread():
    one, other = run((1.0, "/f", 300, 60, 0)), run((0.5, "/f", 300, 40, 0), (1.5, "/f", 300, 40, 0))
    level = away_from_run("c", 1, one, other, "dirty")
    assert (level.model, level.deviations.tolist()) == ("measured", pytest.approx([0.2]))


def test_cached_files_are_compared_where_both_looked():
    found = Run(NOTHING, files=files(("app", 0, "/f", 20), ("", -1, "/f", 100), ("", -1, "/g", 5)))
    expected = Forecast(NOTHING, files=files(("", -1, "/f", 150), ("", -1, "/g", 5), ("", -1, "/h", 9)))
    one, other = cached_files("c", 3, found, expected)
    assert (one.path, one.index, one.measured_bytes, one.forecast_bytes) == ("/f", -1, 100 * MIB, 150 * MIB)
    # The memory is 1000 MiB.
    assert (one.deviation, other.deviation) == (pytest.approx(0.05), 0.0)
    assert one.as_dict()["deviation"] == pytest.approx(0.05)
    expected.model = "no-cache"
    assert list(cached_files("c", 3, found, expected)) == []


def test_a_cgroup_has_its_own_memory_and_its_part_of_the_limit():
    made, expected = run((1.0, "/f", 300, 60, 0)), forecast([50, 50, 50], [200, 200, 200])
    room = Room(memory_bytes=500 * MIB, dirty_share=0.5)
    dirty = away_from_forecast("c", 1, made, expected, "dirty", room)
    cached = away_from_forecast("c", 1, made, expected, "cached", room)
    assert dirty.deviations.tolist() == pytest.approx([0.20])
    assert cached.deviations.tolist() == pytest.approx([0.20])


def test_cached_files_are_shares_of_the_memory_of_the_cgroup():
    found = Run(1.0, files=files(("", -1, "/f", 60)))
    expected = Forecast(None, files=files(("", -1, "/f", 110)))
    (alone,) = cached_files("c", 1, found, expected)
    (inside,) = cached_files("c", 1, found, expected, Room(memory_bytes=500 * MIB))
    assert (alone.deviation, inside.deviation) == pytest.approx((0.05, 0.1))
