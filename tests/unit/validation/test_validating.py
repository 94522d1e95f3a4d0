"""Cases with runs made by hand: what is done when, what is known afterwards, what failing ones do."""

import io

import pytest
from rich.console import Console

import pagecast as pc
from pagecast.comparison.machines import memory_of
from pagecast.errors import OutOfMemoryError, ProbeError, SimulationError
from pagecast.validation.room import Room
from pagecast.validation.validating import Settings, Validation
from pagecast.validation.writeout import Writeout
from tests.disk import folder_on_disk
from tests.unit.validation.stand_ins import MIB, Forecast, Run, file_samples, operations, timeline

MACHINE = """\
cores = 2
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "90 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""


@pytest.fixture
def scenario():
    machine = pc._core.Machine.from_toml(MACHINE.encode(), "m.toml", base_dir=".", machine_dir=".")
    return pc.Scenario(machine, processes={"app": [pc.write("/data/f", size_bytes=1e6)]})


def write(duration_s):
    return operations(("app", 0, "write", "/data/f", duration_s))


class Plan:
    """Gives runs of known lengths, one after the other."""

    prepared_bytes, written_bytes, space_bytes, memory_bytes = 5, 10, 15, 20
    paths = ("/data/f",)

    def __init__(self, *runs):
        self.runs = list(runs)
        self.settings = []

    def check(self, dir):
        return {"file_system": "ext4 at /", "caution": None, "free_bytes": 100, "available_bytes": 100}

    def run(self, dir, *, progress, **settings):
        progress("running", 1, None)
        self.settings.append(settings)
        made = self.runs.pop(0)
        if isinstance(made, BaseException):
            raise made
        return made


def measured(duration_s, **kwargs):
    return Run(
        write(duration_s),
        timeline=timeline([0.0, 1.0], [0, 30], [0, 30]),
        file_samples=file_samples((0.5, "/data/f", 30, 20, 10)),
        **kwargs,
    )


def simulator(asked, times):
    """Give forecasts of known lengths by model, and note what was asked for."""

    def simulate(scenario, *, model, options=None):
        asked.append((model, options))
        if isinstance(times[model], BaseException):
            raise times[model]
        return Forecast(write(times[model]), model=model, timeline=timeline([0.0, 1.0], [30, 30], [30, 30]))

    return simulate


def validation(scenario, plans, times, *, asked=None, models=("kernel", "no-cache"), **settings):
    cases = [pc.Case(name, "what it does", scenario, pc.Tolerance(total=0.15)) for name in plans]
    left = list(plans.values())
    made = Validation(
        cases,
        name="suite",
        settings=Settings(models=models, **settings),
        make_plan=lambda _: left.pop(0),
        simulate=simulator([] if asked is None else asked, times),
    )
    made.check("there")
    made.forecast()
    return made


def text_of(outcome):
    console = Console(file=io.StringIO(), width=200)
    outcome.print_to(console)
    return console.file.getvalue()


def test_every_run_is_compared_with_every_model(scenario):
    asked, told = [], []
    plan = Plan(measured(1.0), measured(1.1), measured(1.2))
    done = validation(scenario, {"a": plan}, {"kernel": 1.21, "no-cache": 2.2}, asked=asked)
    assert (done.written_bytes, done.space_bytes) == (45, 15)
    assert done.expected_s == pytest.approx(3.0, rel=1e-3), "and 5 bytes are soon written"
    done.run("there", progress=lambda fraction, what: told.append((fraction, what)))
    assert asked == [("kernel", None), ("no-cache", None)], "nothing was learnt: once is enough"
    assert plan.settings == [{"sample_hz": 20, "trace": False}] * 3
    assert told[:2] == [(0.0, "a, run 1 of 3"), (0.0, "a, run 1 of 3: running")]
    assert told[-1] == (1.0, "")
    assert [fraction for fraction, _ in told] == sorted(fraction for fraction, _ in told)
    outcome = done.outcome(command="pagecast validate")
    assert len(outcome.rows) == 3 * 2 * 2
    (verdict,) = outcome.verdicts
    assert (verdict.model, verdict.error, verdict.spread) == (
        "kernel",
        pytest.approx(0.1),
        pytest.approx(0.1 / 1.1),
    )
    assert (verdict.dirty_within, verdict.cached_within, outcome.is_within) == (1.0, 1.0, True)
    assert {level.model for level in outcome.dirty} == {"kernel", "measured"}
    document = outcome.to_json()
    assert document["is_within"]
    assert document["provenance"]["measured_on"] == {
        "kernel": "Linux 6.18",
        "file_system": "ext4 at /",
        "sample_hz": 20,
    }
    assert {summary["model"] for summary in document["summary"]} == {"kernel", "no-cache"}
    text = text_of(outcome)
    assert "kernel forecasts the case within the tolerance." in text
    assert "no-cache forecasts the total time of 0 of 1 case within the allowed error." in text


def with_range(monkeypatch, low, high):
    """Let the total have a range of so many forecasts."""
    asked = []

    def drawn(scenario, forecast, **of):
        asked.append(of["draws"])
        return low, high

    monkeypatch.setattr("pagecast.validation.validating.range_of_scenario", drawn)
    return asked


def test_a_total_has_a_range_that_is_drawn_once(scenario, monkeypatch):
    asked = with_range(monkeypatch, 0.8, 1.1)
    done = validation(
        scenario,
        {"a": Plan(measured(1.0), measured(2.0))},
        {"kernel": 1.0, "no-cache": 1.0},
        runs=2,
        uncertain=30,
    )
    done.run("there")
    outcome = done.outcome()
    assert asked == [30]
    ranged = [row for row in outcome.rows if row.range_s is not None]
    assert [(row.model, row.operation, row.range_s) for row in ranged] == [
        ("kernel", "total", (0.8, 1.1))
    ] * 2
    assert outcome.to_json()["coverage"]["within"] == 1
    assert "On suite 1 of 2 measured totals lie within their 90 % range" in text_of(outcome)


def test_ranges_that_hold_none_of_several_cases_fail(scenario, monkeypatch):
    with_range(monkeypatch, 0.99, 0.999)
    plans = {name: Plan(measured(1.0)) for name in "ab"}
    done = validation(scenario, plans, {"kernel": 1.0}, models=("kernel",), runs=1, uncertain=30)
    done.run("there")
    outcome = done.outcome()
    assert all(verdict.is_within for verdict in outcome.verdicts)
    assert not outcome.is_within
    assert "lies within for 0 of 2 cases, which rejects that they hold 90 %" in text_of(outcome)


def test_of_one_case_outside_its_range_nothing_is_concluded(scenario, monkeypatch):
    with_range(monkeypatch, 0.99, 0.999)
    done = validation(
        scenario, {"a": Plan(measured(1.0))}, {"kernel": 1.0}, models=("kernel",), runs=1, uncertain=30
    )
    done.run("there")
    assert done.outcome().is_within


def test_a_forecast_that_is_too_long_is_outside(scenario):
    done = validation(scenario, {"a": Plan(measured(1.0))}, {"kernel": 1.3}, models=("kernel",), runs=1)
    done.run("there")
    outcome = done.outcome()
    assert not outcome.is_within
    text = text_of(outcome)
    assert "OUTSIDE" in text
    assert "0 of 1 case within the tolerance; 1 outside (a: total time +30.0 %, allowed is 15.0 %)." in text
    assert "the spread is not known" in text


def test_what_is_close_only_by_the_spread_is_told_apart(scenario):
    plans = {"a": Plan(measured(1.6), measured(2.0)), "b": Plan(measured(2.0), measured(2.0))}
    done = validation(scenario, plans, {"kernel": 2.1}, models=("kernel",), runs=2)
    done.run("there")
    outcome = done.outcome()
    # a: 4.2 s forecast, 3.6 s measured, +16.7 %; half the range by the median is 11.1 %.
    assert [verdict.is_by_spread for verdict in outcome.verdicts] == [True, False]
    assert outcome.is_within
    text = text_of(outcome)
    assert "within ±" in text
    assert "all 2 cases within the tolerance, 1 of them only by the spread between the runs." in text


def test_cases_are_counted_by_their_verdict(scenario):
    plans = {
        "good": Plan(measured(2.0), measured(2.0)),
        "by": Plan(measured(1.5), measured(1.9)),
        "wild": Plan(measured(1.0), measured(2.6)),
        "bad": Plan(measured(1.0), measured(1.0)),
    }
    done = validation(scenario, plans, {"kernel": 2.0}, models=("kernel",), runs=2)
    done.run("there")
    outcome = done.outcome()
    document = outcome.to_json()
    assert document["counts"] == {"within": 1, "within_by_spread": 1, "not_judged": 1, "outside": 1}
    assert [each["verdict"] for each in document["verdicts"]] == [
        "within",
        "within_by_spread",
        "not_judged",
        "outside",
    ]
    assert [each["is_within"] for each in document["verdicts"]] == [True, True, False, False]
    assert not outcome.is_within
    assert outcome.conclusion()[-1] == (
        "kernel forecasts 2 of 4 cases within the tolerance, 1 of them only by the spread between "
        "the runs; 1 outside (bad: total time +100.0 %, allowed is 15.0 %); 1 not judged: repeat when quiet "
        "(wild: the total times of its runs differ by ±44.4 %, the tolerance is 15.0 %)."
    )
    assert "not judged" in text_of(outcome)


def test_a_case_that_does_nothing_with_files_shows_nothing(scenario):
    idle = Run(operations(("app", 0, "sleep", "", 1.0)))
    done = validation(scenario, {"a": Plan(idle)}, {"kernel": 1.0}, models=("kernel",), runs=1)
    done.run("there")
    outcome = done.outcome()
    assert (outcome.verdicts, outcome.is_within) == ((), False)
    assert "a: it does nothing with files" in outcome.left_out
    assert "Nothing was compared." in text_of(outcome)


def test_what_the_kernel_had_learnt_is_told_to_it_alone(scenario):
    learnt = {
        "bdi": "254:0",
        "write_bandwidth_bytes_per_s": 80 * MIB,
        "dirty_limit_bytes": 7,
        "whole_limit_bytes": 10,
    }
    traced = pc.Columns(
        {
            "device": ["8:0", "254:0"],
            "avg_write_bandwidth_bytes_per_s": [1024.0, 2048.0],
            "dirty_ratelimit_bytes_per_s": [3072.0, 4096.0],
        }
    )
    asked = []
    plan = Plan(measured(1.0, learnt=learnt), measured(1.0, learnt=learnt, bdi=traced), measured(1.0))
    done = validation(scenario, {"a": plan}, {"kernel": 1.0, "no-cache": 1.0}, asked=asked)
    done.run("there")
    known = {"write_bandwidth": "81920 KiB/s", "writeout_fraction": "ssd 70 %"}
    assert asked[2:] == [("kernel", known), ("kernel", known | {"dirty_ratelimit": "4 KiB/s"})]
    outcome = done.outcome()
    assert outcome.provenance["learnt"] == {"a": [known, known | {"dirty_ratelimit": "4 KiB/s"}, {}]}
    assert any(line.startswith("how fast the kernel believed the disk to be") for line in outcome.left_out)


def test_what_debugfs_does_not_tell_is_reckoned_from_what_was_written(scenario, monkeypatch):
    asked = []
    monkeypatch.setattr(
        Writeout, "share", lambda self, disk, more: 0.9 if (disk, more) == ("254:0", 5) else None
    )
    untold = {"bdi": "254:0", "dirty_limit_bytes": None, "whole_limit_bytes": None}
    plan = Plan(measured(1.0, learnt=untold))
    done = validation(scenario, {"a": plan}, {"kernel": 1.0}, models=("kernel",), runs=1, asked=asked)
    done.run("there")
    assert asked[-1] == ("kernel", {"writeout_fraction": "ssd 90 %"})


def test_memory_that_was_just_used_is_told_to_the_model_of_a_machine_that_gives_it_back(
    machine, tmp_path, monkeypatch
):
    guest = machine.to_toml().replace('page_remote = "0 ns"', 'page_remote = "0 ns"\npage_reported = "2 us"')
    (tmp_path / "guest.toml").write_text(guest)
    scenario = pc.Scenario(pc.load_machine(tmp_path / "guest.toml"), processes={"a": []})
    free, blocks = iter([8 * 10**9, 9 * 10**9, 9 * 10**9, 9 * 10**9]), iter([None, [0, 7]])
    monkeypatch.setattr("pagecast.validation.learning.free_bytes", lambda: next(free))
    monkeypatch.setattr("pagecast.validation.learning.free_blocks", lambda: next(blocks))
    asked = []
    plan = Plan(measured(1.0), measured(1.0))
    done = validation(scenario, {"a": plan}, {"kernel": 1.0}, models=("kernel",), runs=2, asked=asked)
    done.run("there")
    known = {"backed": "1000000000 B", "free_blocks": "0 7"}
    assert asked[-2:] == [("kernel", {"backed": "5 B"}), ("kernel", known)]
    [said] = [line for line in done.outcome().left_out if line.startswith("what `pagecast simulate` begins")]
    assert "before the runs 5 B to 1 GB of it was not" in said


def test_a_machine_that_gives_blocks_back_is_told_how_young_the_files_are(machine, tmp_path):
    guest = machine.to_toml().replace('disk = "ssd"', 'disk = "ssd"\nblock_free = "4 us"')
    (tmp_path / "guest.toml").write_text(guest)
    scenario = pc.Scenario(pc.load_machine(tmp_path / "guest.toml"), processes={"a": []})
    asked = []
    plan = Plan(measured(1.0, prepared_s=12.5), measured(1.0))
    done = validation(scenario, {"a": plan}, {"kernel": 1.0}, models=("kernel",), runs=2, asked=asked)
    done.run("there")
    assert asked == [("kernel", None), ("kernel", {"prepared": "12.5 s"})]


def test_a_machine_with_another_memory_is_named(scenario, monkeypatch):
    monkeypatch.setattr(Room, "here", lambda directory: Room(usable_bytes=2_000_000_000))
    done = validation(scenario, {"a": Plan(measured(1.0))}, {"kernel": 1.0}, models=("kernel",), runs=1)
    told = "the forecast has 10 GB, of this machine 2 GB are free or hold files; calibrate it as it is now"
    assert done.cautions == (told,)
    done.run("there")
    assert f"what else takes memory: {told}" in done.outcome().left_out


def test_each_run_is_forecast_with_the_memory_that_is_left_before_it(scenario, monkeypatch):
    left, asked = iter([10_000_000_000, 9_900_000_000, 9_500_000_000]), []
    monkeypatch.setattr(Room, "here", lambda directory: Room(usable_bytes=next(left)))

    def simulate(scenario, *, model, options=None):
        asked.append(memory_of(scenario.machine))
        return Forecast(write(1.0), timeline=timeline([0.0, 1.0], [30, 30], [30, 30]))

    plan = Plan(measured(1.0), measured(1.0))
    case = pc.Case("a", "what it does", scenario, pc.Tolerance())
    settings = Settings(models=("kernel",), runs=2)
    done = Validation([case], name="s", settings=settings, make_plan=lambda _: plan, simulate=simulate)
    done.check("there")
    done.run("there")
    assert asked == [10_000_000_000, 9_900_000_000, 9_500_000_000]


def test_the_only_case_that_cannot_be_forecast_is_an_error_before_anything_is_run(scenario):
    with pytest.raises(SimulationError, match="deadlock"):
        validation(scenario, {"a": Plan()}, {"kernel": SimulationError("a deadlock"), "no-cache": 1.0})


def test_a_rival_that_cannot_forecast_it_is_left_out(scenario):
    times = {"kernel": 1.0, "no-cache": OutOfMemoryError("too much")}
    done = validation(scenario, {"a": Plan(measured(1.0))}, times, runs=1)
    done.run("there")
    outcome = done.outcome()
    assert "a under no-cache: too much" in outcome.left_out
    assert outcome.is_within
    text_of(outcome)


def test_one_case_of_several_that_cannot_be_run_does_not_stop_the_others(scenario):
    plans = {
        "a": Plan(measured(1.0), ProbeError("no more room")),
        "b": Plan(measured(1.0), measured(1.0)),
    }
    done = validation(scenario, plans, {"kernel": 1.0, "no-cache": 1.0}, runs=2)
    done.run("there")
    outcome = done.outcome()
    assert outcome.failures == ("a, run 2 of 2: no more room",)
    assert [verdict.case for verdict in outcome.verdicts] == ["a", "b"]
    assert not outcome.is_within, "what could not be run is not shown"
    text = text_of(outcome)
    assert "Failed: a, run 2 of 2: no more room" in text
    assert "1 case could not be run or forecast." in text


def test_the_only_case_that_cannot_be_run_is_an_error(scenario):
    done = validation(scenario, {"a": Plan(ProbeError("no room"))}, {"kernel": 1.0, "no-cache": 1.0})
    with pytest.raises(ProbeError, match="no room"):
        done.run("there")


def test_what_is_done_stays_done_after_ctrl_c(scenario):
    plans = {"a": Plan(measured(1.0), measured(1.0)), "b": Plan(KeyboardInterrupt())}
    done = validation(scenario, plans, {"kernel": 1.0, "no-cache": 1.0}, runs=2)
    with pytest.raises(KeyboardInterrupt):
        done.run("there")
    assert done.runs_done == 2
    assert [verdict.case for verdict in done.outcome().verdicts] == ["a"]


def test_the_file_system_is_checked_for_every_case(scenario):
    class Full(Plan):
        def check(self, dir):
            raise ProbeError("10 GB are free")

    done = validation(scenario, {"a": Full(), "b": Plan()}, {"kernel": 1.0, "no-cache": 1.0})
    assert done.check("there")["free_bytes"] == 100
    assert done.failures == ("a: 10 GB are free",)
    assert [case.name for case in done.cases] == ["b"]
    with pytest.raises(ProbeError, match="are free"):
        validation(scenario, {"a": Full()}, {"kernel": 1.0, "no-cache": 1.0})


def test_wrong_arguments_are_named(scenario, tmp_path):
    case = pc.Case("a", "", scenario, pc.Tolerance())
    with pytest.raises(pc.ScenarioError, match="two cases are called 'a'"):
        pc.validate([case, case], dir=tmp_path)
    with pytest.raises(pc.ScenarioError, match="there is no case to validate"):
        pc.validate([], dir=tmp_path)
    with pytest.raises(TypeError, match="is a str, not a Case"):
        pc.validate(["x.toml"], dir=tmp_path)
    with pytest.raises(ValueError, match="runs=0"):
        pc.validate(scenario, dir=tmp_path, runs=0)
    with pytest.raises(pc.errors.UnknownModelError):
        pc.validate(scenario, dir=tmp_path, models=["kernal"])


def test_a_case_has_the_tolerance_of_its_scenario(scenario):
    from pagecast.validation.validating import case_of

    text = (
        f'[tolerance]\ntotal = "30 %"\np99 = "50 %"\n[machine]\n{MACHINE}\n'
        '[[process]]\nname = "p"\ndo = [{exit = true}]'
    )
    asked = pc.Scenario.from_toml(text)
    assert case_of(asked).tolerance == pc.Tolerance(total=0.30, dirty=0.10, cached=0.05, p99=0.5)
    assert case_of(scenario).tolerance == pc.Tolerance()


def test_a_scenario_from_python(scenario, tmp_path):
    told = []
    with folder_on_disk(tmp_path) as folder:
        place = folder / "there"
        place.mkdir()
        outcome = pc.validate(
            scenario, dir=place, runs=2, name="mine", progress=lambda fraction, what: told.append(what)
        )
        assert list(place.iterdir()) == [], "nothing is left"
    assert outcome.models == ("kernel", "no-cache", "endless-cache")
    assert [row.experiment for row in outcome.rows if row.operation == "total"] == ["mine"] * 6
    assert [verdict.case for verdict in outcome.verdicts] == ["<python>"]
    assert {file.path for file in outcome.files} == {"/data/f"}
    assert "<python>, run 2 of 2" in told
