"""Figures of a sweep show its columns."""

import numpy as np
import pytest

from pagecast.errors import ArgumentError
from pagecast.result import Columns
from pagecast.sweeps.figures import heatmap, lines, pareto, tornado
from pagecast.sweeps.figures.common import tick_labels
from pagecast.sweeps.figures.effects import effects
from pagecast.sweeps.figures.pareto import front_of
from pagecast.sweeps.table import KeyColumn, MeasureColumn, SweepTable

SIZES = [1e9, 2e9, 4e9]
KEYS = (
    KeyColumn("size_bytes", "memory.size", "bytes"),
    KeyColumn("n", "disk.n", ""),
    KeyColumn("fs", "fs", ""),
)
MEASURES = (
    MeasureColumn("time_s", "p99(db fsync)", "s"),
    MeasureColumn("rate", "rate(a b)", "bytes_per_s", True),
)


@pytest.fixture
def grid():
    """Times that grow with the size, ten times as long for n=2, and the same for both file systems."""
    rows = [(size, n, fs) for size in SIZES for n in (1, 2) for fs in ("ext4", "xfs")]
    time_s = np.array([size / 1e9 * (1 if n == 1 else 10) for size, n, _ in rows])
    columns = {
        "point": np.arange(len(rows)),
        "size_bytes": np.array([row[0] for row in rows]),
        "n": np.array([row[1] for row in rows]),
        "fs": [row[2] for row in rows],
        "time_s": time_s,
        "rate": 1e9 - 1e8 * time_s / 40,
    }
    return SweepTable(KEYS, MEASURES, Columns(columns), "kernel")


@pytest.fixture
def sample():
    """300 points whose time is 1 + 3 a, and b has no part in it, though it goes with a."""
    draw = np.random.default_rng(1)
    a = draw.permutation(300) / 300
    b = (a + draw.random(300)) / 2
    columns = Columns({"a": a, "b": b, "time_s": 1 + 3 * a})
    keys = (KeyColumn("a", "a", ""), KeyColumn("b", "b", ""))
    return SweepTable(keys, MEASURES[:1], columns, "kernel", is_sample=True)


def test_lines_are_medians_with_bands_of_what_is_not_shown(grid):
    ax = lines(grid, by="disk.n")
    assert [line.get_xdata().tolist() for line in ax.lines] == [SIZES, SIZES]
    assert ax.lines[0].get_ydata().tolist() == [1, 2, 4]
    assert ax.lines[1].get_ydata().tolist() == [10, 20, 40]
    assert len(ax.collections) == 2
    assert ax.get_xlabel() == "memory.size"
    assert ax.get_ylabel() == "p99(db fsync)"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1", "2"]


def test_drawn_points_have_no_lines(sample):
    (drawn,) = lines(sample, x="a").lines
    assert drawn.get_linestyle() == "None"


def test_a_heat_map_has_a_cell_for_each_pair(grid):
    ax = heatmap(grid, x="memory.size", y="disk.n")
    (cells,) = ax.collections[:1]
    assert cells.get_array().reshape(2, 3).tolist() == [[1, 2, 4], [10, 20, 40]]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1 GB", "2 GB", "4 GB"]
    assert "median over fs" in ax.get_title()
    assert sorted(text.get_text() for text in ax.texts)[:2] == ["1 s", "10 s"]


def test_a_tornado_has_the_key_that_matters_most_on_top(grid):
    ax = tornado(grid)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["fs", "memory.size", "disk.n"]
    assert "no effect" in [text.get_text() for text in ax.texts]


def test_the_effect_of_a_grid_is_that_of_its_medians(grid):
    none, size, n = effects(grid, grid.columns["time_s"])
    assert none.is_none
    assert (n.low, n.high, n.at_low, n.at_high) == (2, 20, "1", "2")
    assert (size.at_low, size.at_high) == ("1 GB", "4 GB")


def test_a_key_that_goes_with_another_one_has_no_effect_of_its_own(sample):
    none, one = effects(sample, sample.columns["time_s"])
    assert (none.key.key, one.key.key) == ("b", "a")
    assert none.is_none
    assert one.high - one.low == pytest.approx(3, rel=0.01)


def test_the_front_has_what_no_other_one_beats():
    both = np.array([[1, 2, 3, 3, 5, 1.0000001], [9, 5, 7, 2, 1.9999, 8.9999]])
    assert front_of(both).tolist() == [0, 1, 3]


def test_a_pareto_front_knows_what_is_better(grid):
    ax = pareto(grid)
    assert ax.get_xlabel() == "p99(db fsync) (less is better)"
    assert ax.get_ylabel() == "rate(a b) (more is better)"
    assert [len(line.get_xdata()) for line in ax.lines] == [12, 1]


@pytest.mark.parametrize(
    ("draw", "more", "what"),
    [
        (
            lines,
            {"y": "p98(db fsync)"},
            "there is no measure `p98(db fsync)` in this sweep; there are p99(db fsync)",
        ),
        (lines, {"x": "fs"}, "lines need a key with numbers"),
        (heatmap, {"x": "fs", "y": "fs"}, "a heat map needs two keys"),
        (pareto, {"x": "time_s", "y": "time_s"}, "a Pareto front needs two measures"),
        (tornado, {"value": "x"}, "there is no measure `x`"),
    ],
)
def test_what_cannot_be_drawn(draw, more, what, grid):
    with pytest.raises(ArgumentError) as caught:
        draw(grid, **more)
    assert what in str(caught.value)


@pytest.mark.parametrize("draw", [lines, heatmap, tornado, pareto])
def test_points_that_all_failed_are_said(draw, grid):
    nothing = {name: np.full(12, np.nan) for name in ("time_s", "rate")}
    table = SweepTable(
        KEYS, MEASURES, Columns({**{n: grid.columns[n] for n in grid.columns}, **nothing}), "kernel"
    )
    assert "no point has" in draw(table).texts[0].get_text()


@pytest.mark.parametrize(
    ("values", "unit", "labels"),
    [
        ([0.11, 0.1105, 0.111], "s", ["110.0 ms", "110.5 ms", "111.0 ms"]),
        ([0.11, 0.1125, 0.115], "s", ["110.0 ms", "112.5 ms", "115.0 ms"]),
        ([0, 0.5, 1, 1.5], "s", ["0 s", "500 ms", "1 s", "1.5 s"]),
        ([1000, 1000.5], "s", ["1,000.0 s", "1,000.5 s"]),
        ([4.2e9, 4.2004e9], "bytes", ["4.2000 GB", "4.2004 GB"]),
        ([451.2e6, 451.4e6], "bytes_per_s", ["451.2 MB/s", "451.4 MB/s"]),
        ([0.9712, 0.9714], "share", ["97.12 %", "97.14 %"]),
        ([12345.25, 12345.5], "", ["12,345.25", "12,345.50"]),
        ([0.001, 0.01, 0.1, 1], "s", ["1 ms", "10 ms", "100 ms", "1 s"]),
        ([5], "", ["5"]),
    ],
)
def test_ticks_have_the_digits_that_they_need(values, unit, labels):
    assert tick_labels(values, unit) == labels


@pytest.mark.parametrize("draw", [tornado, pareto, lines, heatmap])
def test_no_label_of_a_narrow_range_is_there_twice(draw, grid):
    grid.columns["time_s"][:] = 0.110 + grid.columns["time_s"] / 20e3
    ax = draw(grid)
    ax.figure.draw_without_rendering()
    for each in ax.figure.axes:
        for axis in (each.xaxis, each.yaxis):
            texts = [label.get_text() for label in axis.get_ticklabels() if label.get_text()]
            assert len(set(texts)) == len(texts)
