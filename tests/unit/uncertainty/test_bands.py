"""Bands in pictures: there with ranges, and not without."""

import pytest

import pagecast as pc

plot = pytest.importorskip("pagecast.plot")
matplotlib = pytest.importorskip("matplotlib")

SCENARIO = """
[machine]
cores = 2
memory = { size = "1 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "90 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data".disk = "ssd"
uncertainty = { "disk.ssd.write" = "20 %" }
[[process]]
name = "app"
do = [ { repeat = 12, do = [ { write = "/data/f", size = "20 MB" }, { fsync = "/data/f" } ] } ]
"""


@pytest.fixture
def scenario():
    matplotlib.use("Agg")
    return pc.Scenario.from_toml(SCENARIO)


def bands(ax):
    return [each for each in ax.collections if type(each).__name__.endswith("PolyCollection")]


def test_a_timeline_has_bands_of_dirty_and_cached_memory(scenario):
    result = pc.simulate(scenario, uncertain=20)
    ax = plot.timeline(result)
    assert {each.get_label() for each in bands(ax)} == {"dirty, 90 % range", "cached, 90 % range"}
    assert ax.get_xlim()[1] >= result.end_s, "a slower disk takes longer"


def test_percentiles_have_a_band_for_each_line(scenario):
    ax = plot.latency(pc.simulate(scenario, uncertain=20))
    assert len(bands(ax)) == 2


def test_without_ranges_there_are_no_bands(scenario):
    result = pc.simulate(scenario)
    assert bands(plot.timeline(result)) == bands(plot.latency(result)) == []
