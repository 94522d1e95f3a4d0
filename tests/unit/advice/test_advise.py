"""The search: what it finds, says and leaves out."""

import pytest

import pagecast as pc
from pagecast.advice import search as searching
from pagecast.advice.advising import advise
from pagecast.errors import ArgumentError, MeasureError
from pagecast.measures import evaluate
from pagecast.measures.language import parse_measure
from tests.unit.advice.conftest import BESIDE, SEVERAL, WANTS


@pytest.fixture
def beside(tmp_path):
    path = tmp_path / "beside.toml"
    path.write_text(BESIDE)
    return path


def test_a_setting_fulfils_what_is_wanted(advice):
    assert advice.present.is_met == (False, True)
    assert advice.is_met
    best = advice.suggestions[0]
    assert all(best.is_met)
    assert best.values[0] < 0.02
    assert advice.simulations <= 120


def test_a_suggestion_holds_when_it_is_simulated(advice, beside):
    best = advice.suggestions[0]
    overrides = [text for setting in best.settings for text in setting.overrides]
    result = pc.simulate(pc.Scenario.load(beside, set=overrides))
    (value,) = evaluate([parse_measure("p99(db fsync)")], result)
    assert value == pytest.approx(best.values[0])


def test_suggestions_are_ranked_and_none_needs_more_than_a_better_one(advice):
    penalties = [each.penalty for each in advice.suggestions]
    assert penalties == sorted(penalties)
    settings = [{setting.text for setting in each.settings} for each in advice.suggestions]
    for worse in range(1, len(settings)):
        assert not any(better <= settings[worse] for better in settings[:worse])


def test_knobs_without_effect_are_named(advice):
    assert "ssd read_ahead_kb" in advice.without_effect
    assert not {knob for knob, _, _ in advice.alone} - {*advice.without_effect} <= {"memory"}
    direct = [values for knob, _, values in advice.alone if knob == "O_DIRECT for writes of backup"]
    assert direct[0][0] < advice.present.values[0] / 2


def test_costs_are_told(advice):
    assert set(advice.present.makespans.values()) == {1.0}
    assert advice.present.at_risk_bytes > 100e6
    direct = next(
        each for each in advice.suggestions if each.settings[0].text == "O_DIRECT for writes of backup"
    )
    assert direct.at_risk_bytes < 1e6


def test_two_workers_find_the_same(beside):
    one, two = (advise(beside, want=WANTS, budget=30, workers=n) for n in (1, 2))
    assert one == two


def test_what_cannot_be_fulfilled_gives_the_closest(beside):
    found = advise(beside, want=["p99(db fsync) < 1 us"], budget=40, workers=1)
    assert not found.is_met
    assert found.suggestions
    assert found.suggestions[0].values[0] < found.present.values[0]


def test_a_cost_hides_no_setting_that_fulfils_all(tmp_path):
    """An async export leaves 600 times as much at risk, which weighs less than the want."""
    rounds = """do = [ { repeat = 600, as = "k", do = [
  { write = "/nfs/{k}", size = "64 KiB" }, { fsync = "/nfs/{k}" } ] } ]
"""
    path = tmp_path / "fsyncs.toml"
    path.write_text(SEVERAL.partition("do = [")[0] + rounds)
    found = advise(path, want=["makespan(app) < 0.8x"], budget=70, workers=1)
    assert found.is_met
    assert [setting.text for setting in found.suggestions[0].settings] == ["export async on server"]
    assert found.suggestions[0].at_risk_bytes > 100 * found.present.at_risk_bytes


def test_a_setting_without_effect_is_no_suggestion(tmp_path):
    """A shorter time between wake-ups makes the end 0.5 % earlier."""
    path = tmp_path / "first.toml"
    path.write_text(
        """machine = { from = "wrench-cluster", memory.size = "64 GB" }
[[file]]
path = "/data/in"
size = "20 GB"
[[process]]
name = "app"
do = [ { read = "/data/in" }, { compute = "28 s" }, { write = "/data/out", size = "20 GB" } ]
"""
    )
    found = advise(path, want=["makespan < 0.8x"], budget=24, workers=1)
    alone = {setting.text: values for _, setting, values in found.alone}
    assert alone["dirty_writeback_centisecs 50"][0] < found.present.values[0]
    assert "vm.dirty_writeback_centisecs" in found.without_effect
    suggested = {setting.text for each in found.suggestions for setting in each.settings}
    assert "dirty_writeback_centisecs 50" not in suggested


def test_what_holds_already_needs_nothing(beside):
    found = advise(beside, want=["p99(db fsync) < 10 s"], budget=10, workers=1)
    assert found.is_met
    assert all(found.present.is_met)


def test_a_setting_that_cannot_be_is_said(beside):
    found = advise(beside, want=WANTS, budget=70, workers=1, set=["machine.kernel.version=5.15"])
    assert "RWF_DONTCACHE" in found.failures["RWF_DONTCACHE for writes of backup"]
    assert not any("DONTCACHE" in name for name in found.without_effect)


def test_ctrl_c_keeps_the_best_so_far(beside, monkeypatch):
    real = searching.run_here

    def until_some(task, todo, *, workers):
        for number, outcome in real(task, todo, workers=workers):
            yield number, outcome
            until_some.left -= 1
            if not until_some.left:
                raise KeyboardInterrupt

    until_some.left = 70
    monkeypatch.setattr(searching, "run_here", until_some)
    found = advise(beside, want=WANTS, budget=120, workers=1)
    assert found.is_stopped
    assert found.simulations <= 71
    assert found.suggestions


def test_progress_is_told(beside):
    told = []
    advise(
        beside,
        want=WANTS,
        budget=12,
        workers=1,
        progress=lambda fraction, what: told.append((fraction, what)),
    )
    assert told[0][1] == "each knob alone: 2 of 12 simulations"
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)


def test_other_hosts_have_their_knobs(tmp_path):
    path = tmp_path / "several.toml"
    path.write_text(SEVERAL)
    found = advise(path, want=["makespan(app) < 0.9x"], budget=90, workers=1)
    names = {knob for knob, _, _ in found.alone}
    assert {
        "/nfs wsize on client",
        "/nfs sync on client",
        "/wide strip_size on client",
        "nfsd threads on server",
        "/export export on server",
        "vm.dirty_bytes on server",
        "vm.dirty_background_bytes on client",
    } <= names | {*found.without_effect}
    assert [*found.failures] == ["RWF_DONTCACHE for writes of app"], "NFS does not take it"


@pytest.mark.parametrize(
    ("want", "error", "what"),
    [
        ([], ArgumentError, "nothing is wanted"),
        (["p99(db sync) < 1 s"], MeasureError, "there is no operation of `db` called `sync`"),
        (["p99(db fsync) < 1 GB"], MeasureError, "is no limit of"),
    ],
)
def test_wrong_wants_are_refused(beside, want, error, what):
    with pytest.raises(error, match=what):
        advise(beside, want=want, budget=10)


def test_a_budget_of_one_is_refused(beside):
    with pytest.raises(ArgumentError, match="budget"):
        advise(beside, want=WANTS, budget=1)


def test_a_machine_without_a_disk_has_no_effect_to_offer(tmp_path):
    path = tmp_path / "none.toml"
    path.write_text(
        """models = ["kernel"]
[machine]
cores = 1
memory = { size = "4 GB", read = "1 GB/s", write = "1 GB/s" }
[[process]]
name = "a"
do = [{ sleep = "1 s" }]
"""
    )
    found = advise(path, want=["makespan < 0.5x"], budget=20, workers=1)
    assert not found.is_met
    assert found.suggestions == ()
    assert found.without_effect == ("memory.high of a", "memory.max of a")
