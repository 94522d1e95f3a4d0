"""Figures of latencies and rates: percentiles, histograms and sums are those of the tables."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ArgumentError
from pagecast.plot.style import SEQUENCE

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import StepPatch  # noqa: E402


@pytest.fixture
def ax():
    """Axes of a figure that nobody shows."""
    return Figure().add_subplot()


@pytest.fixture
def result(machine):
    """Two copies that write and fsync 50 times each, and one that reads 100 times."""

    def writer(n):
        return [
            step
            for _ in range(50)
            for step in (
                pc.write(f"/data/o{n}", size_bytes=5e6, append=True),
                pc.fsync(f"/data/o{n}"),
                pc.sleep(0.01),
            )
        ]

    reads = [pc.read("/data/in", offset_bytes=k * 2e6, size_bytes=2e6) for k in range(100)]
    processes = {"w1": writer(1), "w2": writer(2), "reader": [*reads, *reads]}
    return pc.simulate(pc.Scenario(machine, processes=processes, files={"/data/in": 2e8}))


def lines(ax):
    """Give the lines that have labels: heights and edges."""
    steps = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    return {
        step.get_label(): (step.get_data().values, step.get_data().edges)
        for step in steps
        if not step.get_label().startswith("_") and step.get_label()
    }


def durations(result, process, operation):
    table = result.operations
    keys = zip(table["process"], table["operation"], strict=True)
    return table["duration_s"][[key[0].startswith(process) and key[1] == operation for key in keys]]


def test_percentiles_are_those_of_all_copies(result, ax):
    drawn = lines(pc.plot.latency(result, ax=ax))
    assert list(drawn) == ["w{n}  fsync", "w{n}  write", "reader  read"]
    for label, (heights, edges) in drawn.items():
        process, operation = label.replace("{n}", "").split()
        every = durations(result, process, operation)
        for percent in (10, 50, 90, 99):
            at = 100 / (100 - percent)
            found = heights[np.searchsorted(edges, at * (1 - 1e-9), side="right") - 1]
            assert found == pytest.approx(np.percentile(every, percent, method="inverted_cdf"), rel=2e-3)
        assert heights[-1] == pytest.approx(every.max(), rel=2e-3)
        assert edges[-1] == 2 * len(every)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0 %", "50 %", "90 %", "99 %"]


def test_shares_of_a_histogram_add_up(result, ax):
    for heights, edges in lines(pc.plot.latency(result, ax=ax, show="histogram")).values():
        assert heights.sum() == pytest.approx(100)
        assert np.diff(np.log10(edges)) == pytest.approx(1 / 12)


def test_over_time_means_are_those_of_what_ended(result, ax):
    pc.plot.latency(result, ax=ax, show="time")
    heights, _ = lines(ax)["reader  read"]
    table = result.rates
    rows = [name == "reader" for name in table["process"]]
    n = table["ended"][rows]
    every = durations(result, "reader", "read")
    assert n.sum() == len(every)
    mean = np.nansum(heights[: len(n)] * n) / n.sum()
    assert mean == pytest.approx(every.mean())
    assert np.nanmax(table["max_s"][rows]) == pytest.approx(every.max())


def test_rates_of_copies_are_added_up(result, ax):
    drawn = lines(pc.plot.rates(result, ax=ax))
    assert list(drawn) == ["w{n}  write", "reader  read"], "what moves no bytes has no bandwidth"
    for label, moved_bytes in (("w{n}  write", 5e8), ("reader  read", 4e8)):
        heights, edges = drawn[label]
        assert ax.get_ylabel() == "bandwidth (MB/s)" or ax.get_ylabel() == "bandwidth (GB/s)"
        scale = 1e6 if "MB" in ax.get_ylabel() else 1e9
        assert np.nansum(heights * np.diff(edges)) * scale == pytest.approx(moved_bytes)
    done = lines(pc.plot.rates(result, ax=Figure().add_subplot(), show="iops"))
    heights, edges = done["w{n}  fsync"]
    assert np.nansum(heights * np.diff(edges)) == pytest.approx(100)


def test_a_kind_has_one_colour_in_all_figures(result):
    def colours(draw, **how):
        patches = draw(result, ax=Figure().add_subplot(), **how).patches
        return {patch.get_label(): to_hex(patch.get_edgecolor()) for patch in patches if patch.get_label()}

    of_latency = colours(pc.plot.latency)
    assert list(of_latency.values()) == [colour.lower() for colour in SEQUENCE[:3]]
    of_rates = colours(pc.plot.rates)
    assert {of_latency[label] == colour for label, colour in of_rates.items()} == {True}


def test_of_many_kinds_those_with_most_time_are_drawn(machine, ax):
    names = "abcdefghij"
    processes = {name: [pc.write(f"/data/{name}", size_bytes=(n + 1) * 1e7)] for n, name in enumerate(names)}
    result = pc.simulate(pc.Scenario(machine, processes=processes), model="no-cache")
    assert list(lines(pc.plot.latency(result, ax=ax))) == [f"{name}  write" for name in names[2:]]
    assert [text.get_text() for text in ax.texts] == ["2 more kinds of operations that take less time in sum"]


def test_a_single_process_is_not_named(scenario, ax):
    assert {*lines(pc.plot.latency(pc.simulate(scenario), ax=ax))} == {"fsync", "read", "write"}


@pytest.mark.parametrize("show", ["percentiles", "histogram", "time"])
def test_calls_of_a_pattern_are_drawn_without_rows(machine, ax, show):
    step = pc.read("/data/in", size_bytes=4e6, call_bytes=4096, pattern=pc.Pattern(random="uniform"))
    scenario = pc.Scenario(machine, processes={"app": [step]}, files={"/data/in": 1e8})
    result = pc.simulate(scenario, record="histogram")
    assert list(lines(pc.plot.latency(result, ax=ax, show=show))) == ["read"]


def test_what_there_is_to_show_is_named(result):
    with pytest.raises(ArgumentError, match="show='median' is not known; choose one of percentiles"):
        pc.plot.latency(result, show="median")
    with pytest.raises(ArgumentError, match="show='iop' is not known; did you mean 'iops'"):
        pc.plot.rates(result, show="iop")
