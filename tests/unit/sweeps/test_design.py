"""The points of a sweep."""

import pytest

from pagecast.errors import ArgumentError, MissingPackageError
from pagecast.sweeps.design import make_design


def test_a_grid_is_every_combination_and_the_last_key_changes_first():
    design = make_design({"a": "1,2", "b": "3,4"})
    assert [design.overrides(point) for point in range(4)] == [
        ("a=1", "b=3"),
        ("a=1", "b=4"),
        ("a=2", "b=3"),
        ("a=2", "b=4"),
    ]


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_range():
    design = make_design({"a": "0.0..1.0", "b": "1..1000000:log", "c": "x,y"}, "latin:20:3")
    a, b, c = (sorted(point[axis].value for point in design.points) for axis in range(3))
    assert [int(value * 20) for value in a] == list(range(20))
    assert [int(len(str(value)) > 0) for value in b] == [1] * 20
    assert all(10 ** (0.3 * n) * 0.9 <= value <= 10 ** (0.3 * (n + 1)) * 1.1 for n, value in enumerate(b))
    assert c == ["x"] * 10 + ["y"] * 10


def test_a_seed_draws_the_same_points():
    vary = {"a": "0.0..1.0", "b": "1..9"}
    assert make_design(vary, "latin:9:4") == make_design(vary, "latin:9:4")
    assert make_design(vary, "latin:9:4") != make_design(vary, "latin:9:5")
    assert make_design(vary, "latin:9") == make_design(vary, "latin:9:0")


@pytest.mark.parametrize(
    ("vary", "sample", "what"),
    [
        ({}, None, "nothing is varied; add --vary KEY=VALUES"),
        ({"a": "1..9"}, None, "how many values? Write for example a=LOW..HIGH:log:5"),
        ({"a": "1..9"}, "grid:5", "sample `grid:5` is not known; write latin:100"),
        ({"a": "1..9"}, "latin:0", "is not known"),
        ({"a": "1..90000:90000", "b": "1..90000:90000"}, None, "the grid has over 10,000,000 points"),
    ],
)
def test_what_is_no_design(vary, sample, what):
    with pytest.raises(ArgumentError) as caught:
        make_design(vary, sample)
    assert what in str(caught.value)


def test_a_sample_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("pagecast.extras.find_spec", lambda name: None)
    with pytest.raises(
        MissingPackageError, match=r"needs the package scipy; pip install 'pagecast\[sweep\]'"
    ):
        make_design({"a": "1..9"}, "latin:3")
