"""Series past the page cache, of many sizes: they take what the disk and its write cache say."""

import numpy as np
import pytest

from pagecast.studies.cawl.forecast import run_series
from pagecast.studies.cawl.series import all_series, shipped_points


def errors(name, machine):
    """Give the relative errors of means over quarters of a series."""
    run = run_series(all_series()[name], model="kernel", machine=machine, overrides=())
    return np.array([run.forecast_s(point) / point.measured_s - 1 for point in shipped_points()[name]])


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        ("cawl-nvram1-cache", "nv_sync_sizes_16m"),
        ("cawl-nvram1-direct", "nv_direct_sizes"),
        ("cawl-nvram1-direct", "nv_direct_sizes_5"),
        ("cawl-nvram1-direct", "nv_sync_sizes_5"),
        ("cawl-host1-c", "h1_direct_sizes"),
    ],
)
def test_size_sweeps_are_within_a_tenth(machine, name):
    assert np.abs(errors(name, machine)).mean() <= 0.10


def test_without_its_write_cache_the_disk_is_too_slow_at_first():
    with_cache, without = (
        errors("nv_sync_sizes_16m", machine) for machine in ("cawl-nvram1-cache", "cawl-nvram1-direct")
    )
    assert without[0] > 1.5
    assert abs(with_cache[0]) < 0.1
