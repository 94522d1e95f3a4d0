"""Ranges of wants: those of `pagecast.simulate` with the same draws."""

import pytest

import pagecast as pc
from pagecast.advice import advise, ranging
from pagecast.errors import ArgumentError, SimulationError
from tests.unit.advice.conftest import BESIDE

WANTS = ("p99(db fsync) < 20 ms", "makespan(backup) < 1.2x", "at_risk < 1 kB")
DRAWS = 10


@pytest.fixture
def beside(tmp_path):
    """The database beside the backup, on a disk that may be faster or slower."""
    path = tmp_path / "beside.toml"
    own = '[machine.uncertainty]\n"disk.ssd.write" = "10 %"\n'
    path.write_text(BESIDE.replace("[[file]]", f"{own}[[file]]", 1))
    return path


def drawn(path, **more):
    return advise(path, want=WANTS, budget=20, workers=1, uncertain=DRAWS, **more)


def test_ranges_are_those_of_a_simulation(beside):
    found = drawn(beside)
    assert found.draws == DRAWS
    assert found.suggestions
    for each in (found.present, *found.suggestions):
        result = pc.simulate(pc.Scenario.load(beside, set=each.overrides), uncertain=DRAWS)
        table = result.ranges
        known = dict(zip(table["measure"], zip(table["low"], table["high"], strict=True), strict=True))
        assert each.ranges[0] == pytest.approx(known["p99(db fsync)"])
        assert each.ranges[1] == pytest.approx(known["makespan(backup)"])
        low, high = each.ranges[2]
        assert 0 < low <= high


def test_nothing_else_changes(beside):
    found = drawn(beside)
    plain = advise(beside, want=WANTS, budget=20, workers=1)
    assert plain.draws == 0
    assert [each.values for each in plain.suggestions] == [each.values for each in found.suggestions]
    assert {each.ranges for each in plain.suggestions} == {()}


def test_draws_that_cannot_go_on_have_no_range(beside, monkeypatch):
    def failing(*_, **__):
        raise SimulationError("6 of 10 draws cannot go on")

    monkeypatch.setattr(ranging, "ranges_of", failing)
    assert drawn(beside).present.ranges == (None, None, None)


def test_ctrl_c_keeps_what_was_found(beside, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ranging, "ranges_of", stopped)
    found = drawn(beside)
    assert found.is_stopped
    assert found.suggestions
    assert found.draws == 0


def test_one_draw_is_refused(beside):
    with pytest.raises(ArgumentError, match="uncertain"):
        advise(beside, want=WANTS, uncertain=1)
