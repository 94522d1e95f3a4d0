"""Series past the page cache, of many sizes: they take what the disk and its write cache say."""

import numpy as np
import pytest

from pagecast.comparison.rows import judged, summarise
from pagecast.studies import cawl
from pagecast.studies.cawl.forecast import run_series
from pagecast.studies.cawl.series import all_series, shipped_points
from pagecast.studies.cawl.states import is_calibration


@pytest.fixture(scope="module")
def rows():
    """The shipped means of all series but the main ones, judged."""
    return judged(cawl.run(experiments=["other"], models=["kernel"]).rows)


def error(rows, name):
    """Give the mean error of a write of a series."""
    return summarise([row for row in rows if row.case == name])[0].mean_abs_error


JUDGED = [
    each.name
    for each in all_series().values()
    if "sizes" in each.name and not is_calibration(each, each.writes)
]
"""Those of which not all writes went into their machine."""


@pytest.mark.parametrize("name", JUDGED)
def test_size_sweeps_are_within_a_tenth(rows, name):
    assert error(rows, name) <= 0.10


@pytest.mark.parametrize("name", ["h1_direct_1k_rep2", "h1_sync_1k", "nv_direct_1k_rep2", "nv_sync_1k"])
def test_small_writes_are_within_a_quarter(rows, name):
    assert error(rows, name) <= 0.25


def test_without_its_write_cache_the_disk_is_too_slow_at_first():
    series = all_series()["nv_sync_sizes_16m"]
    first = [point for point in shipped_points()[series.name] if point.last <= 8]
    with_cache, without = (
        np.mean([run.forecast_s(point) / point.measured_s - 1 for point in first])
        for run in (
            run_series(series, model="kernel", machine=machine, overrides=())
            for machine in ("cawl-nvram1-cache", "cawl-nvram1-direct")
        )
    )
    assert without > 1.5
    assert abs(with_cache) < 0.1
