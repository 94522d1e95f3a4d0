"""Known times of runs and forecasts: known rows, totals, spreads and verdicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagecast.comparison.levels import ENOUGH, deviation_of_most
from pagecast.comparison.rows import MEASURED, summarise
from pagecast.comparison.standing import Standing
from pagecast.validation import Case, Level, Tolerance, Validated, comparing
from pagecast.validation.details import by_operation, run_operations
from tests.unit.validation.stand_ins import Forecast, Run, operations

CASE = Case("c", "two writes", None, Tolerance(total=0.15))


def run(first_s, second_s):
    return Run(
        operations(
            ("app", 1, "write", "/f", second_s),
            ("app", 0, "write", "/f", first_s),
            ("app", 2, "compute", "", 50.0),
            ("other", 0, "wait", "", 60.0),
            ("other", 1, "alloc", "", 7.0),
            ("other", 2, "fsync", "/f", 0.0005),
        )
    )


def forecast(first_s, second_s, model="kernel"):
    made = run(first_s, second_s)
    return Forecast(made.operations, model=model)


def validated(measured, forecasts, tolerance=CASE.tolerance):
    case = Case(CASE.name, CASE.what, None, tolerance)
    return Validated(case, tuple(measured), {"kernel": tuple(forecasts)})


def test_a_row_for_each_long_operation_and_the_total():
    rows = list(comparing.rows("suite", validated([run(1.0, 2.0)], [forecast(1.1, 1.8)]), "m.toml"))
    # In the order of their ends, named by their order in the program.
    assert [(row.process, row.operation) for row in rows] == [
        (None, "total"),
        ("app", "write 2"),
        ("app", "write 1"),
    ]
    assert [row.error for row in rows[1:]] == pytest.approx([-0.1, 0.1])
    # The fsync is too short for a row, and counts: 3.0005 s forecast as 2.9005 s.
    assert rows[0].measured_s == pytest.approx(3.0005)
    assert rows[0].error == pytest.approx(-0.1 / 3.0005)
    assert {(row.experiment, row.case, row.machine, row.role) for row in rows} == {
        ("suite", "c", "m.toml", "judged")
    }


def made(reads_s, writes_s=(), result=Run):
    """A run whose program goes on until its time is over."""
    reads = [("app", at, "read", "/f", time_s) for at, time_s in enumerate(reads_s)]
    writes = [("app", len(reads) + at, "write", "/f", time_s) for at, time_s in enumerate(writes_s)]
    return result(operations(*reads, *writes))


def test_a_run_of_more_operations_than_its_forecast_is_compared_by_their_means():
    # The clock ended both: in 6 s the run made 4 reads and 2 writes, the forecast 3 reads and 1 write.
    of = validated([made([1.0] * 4, [1.0] * 2)], [made([1.5] * 3, [1.5], Forecast)])
    assert not comparing.has_same_operations(of)
    found = {(row.process, row.operation): row for row in comparing.rows("suite", of, "m.toml")}
    assert list(found) == [(None, "total"), ("app", "read, all"), ("app", "write, all")]
    assert all(row.error == pytest.approx(0.5) for row in found.values())
    assert found["app", "read, all"].measured_s == pytest.approx(4.0)
    assert comparing.verdict(of, "kernel").error == pytest.approx(0.5)
    details = by_operation(run_operations(of), "c")
    assert set(details) == {("app", "read, all"), ("app", "write, all")}
    assert details["app", "read, all"].path == "/f"


def test_runs_that_time_ends_are_as_far_apart_as_their_means():
    of = validated([made([1.0] * 6), made([2.0] * 3)], [made([1.0] * 6, result=Forecast)] * 2)
    assert comparing.spreads(of) == pytest.approx({(None, "total"): 1 / 3, ("app", "read, all"): 1 / 3})
    assert comparing.verdict(of, "kernel").spread == pytest.approx(1 / 3)
    # 12 s were measured: 6 reads of 1 s, 3 of 2 s. The forecast of the same reads is 9 s.
    assert comparing.verdict(of, "kernel").error == pytest.approx(9 / 12 - 1)


def test_what_only_one_of_them_did_is_not_compared():
    of = validated([made([1.0] * 4, [9.0])], [made([1.0] * 5, result=Forecast)])
    assert [(row.operation, row.error) for row in comparing.rows("suite", of, "m.toml")] == [
        ("total", 0.0),
        ("read, all", 0.0),
    ]
    assert comparing.verdict(of, "kernel").error == pytest.approx(0.0)


def test_every_model_and_run_has_its_rows():
    two = Validated(
        CASE,
        (run(1.0, 1.0), run(2.0, 2.0)),
        {
            "kernel": (forecast(1.0, 1.0), forecast(2.0, 2.2)),
            "no-cache": (forecast(3.0, 1.0, "no-cache"),) * 2,
        },
    )
    rows = list(comparing.rows("suite", two, "m"))
    assert len(rows) == 2 * 2 * 3
    found = {(row.model, row.repetition, row.operation): row.error for row in rows}
    assert found["kernel", 2, "write 2"] == pytest.approx(0.1)
    assert found["no-cache", 1, "write 1"] == pytest.approx(2.0)
    assert found["no-cache", 2, "write 1"] == pytest.approx(0.5)
    assert [summary.model for summary in summarise(rows)] == ["kernel", "no-cache"]


def test_what_took_no_time_has_no_row():
    none = Validated(CASE, (run(0.0, 2.0), run(1.0, 2.0), run(1.0, 2.0)), {"kernel": (forecast(1, 2),) * 3})
    firsts = [row.repetition for row in comparing.rows("s", none, "m") if row.operation == "write 1"]
    assert firsts == [2, 3]


def test_the_spread_is_half_the_range_by_the_median():
    assert comparing.spread([1.0, 1.2, 0.8]) == pytest.approx(0.2)
    assert comparing.spread([1.0]) is None
    two = validated([run(1.0, 2.0), run(1.5, 2.0)], [forecast(1, 2)] * 2)
    spreads = comparing.spreads(two)
    assert spreads["app", "write 1"] == pytest.approx(0.2)
    assert spreads["app", "write 2"] == 0.0
    assert spreads[None, "total"] == pytest.approx(0.25 / 3.2505)


def test_a_total_within_the_tolerance():
    verdict = comparing.verdict(validated([run(1.0, 2.0)], [forecast(1.1, 2.3)]), "kernel")
    assert verdict.error == pytest.approx(0.4 / 3.0005)
    assert (verdict.spread, verdict.allowed, verdict.is_within) == (None, 0.15, True)
    assert not comparing.verdict(validated([run(1.0, 2.0)], [forecast(1.1, 2.4)]), "kernel").is_within


def test_twice_the_spread_is_allowed_if_it_is_more():
    runs = [run(1.0, 2.0), run(1.0, 3.0)]
    verdict = comparing.verdict(validated(runs, [forecast(1.0, 3.3)] * 2), "kernel")
    assert verdict.spread == pytest.approx(0.5 / 3.5005)
    assert verdict.allowed == pytest.approx(1 / 3.5005)
    assert verdict.error == pytest.approx(1.6 / 7.001)
    assert verdict.is_within
    assert verdict.as_dict()["total_allowed"] == verdict.allowed


def test_who_waits_for_others_or_computes_is_not_in_the_run_queue_of_a_case():
    busy = Run(operations(("app", 0, "compute", "", 9.0), ("app", 1, "write", "/f", 1.0), run_queue_s=0.5))
    verdict = comparing.verdict(validated([busy], [Forecast(busy.operations)]), "kernel")
    assert verdict.run_queue_s == verdict.as_dict()["run_queue_s"] == 0.5


def test_a_case_without_files_has_no_verdict():
    idle = Run(operations(("app", 0, "sleep", "", 1.0)))
    nothing = Validated(CASE, (idle,), {"kernel": (Forecast(idle.operations),)})
    assert comparing.verdict(nothing, "kernel") is None
    assert list(comparing.rows("s", nothing, "m")) == []


def levels(model, *deviations):
    """Make the levels of several runs, with the same deviations in each."""
    return [Level("c", 1 + run, model, np.arange(20.0), np.array(of)) for run, of in enumerate(deviations)]


AS_MEASURED = forecast(1.0, 2.0)


def judged(forecast, between_runs, runs=2):
    """Give the verdict on a case whose total is as forecast, and cached memory deviates by so much."""
    found = levels("kernel", *[[forecast] * 20] * runs)
    if runs > 1:
        found += levels(MEASURED, *[[between_runs] * 20] * runs)
    case = validated([run(1.0, 2.0)] * runs, [AS_MEASURED] * runs)
    return comparing.verdict(case, "kernel", cached=found)


@pytest.mark.parametrize(
    ("forecast", "between_runs", "standing"),
    [
        (0.05, 0.0, Standing.WITHIN),
        (0.06, 0.05, Standing.OUTSIDE),
        (0.06, 0.06, Standing.BY_SPREAD),
        (0.19, 0.2, Standing.BY_SPREAD),
        (0.0, 0.21, Standing.NOT_JUDGED),
        (0.22, 0.21, Standing.NOT_JUDGED),
    ],
)
def test_a_level_may_be_off_by_as_much_as_runs_are_from_each_other(forecast, between_runs, standing):
    # The tolerance is 5 % of the memory; more than four times of it tells nothing.
    verdict = judged(forecast, between_runs)
    assert verdict.standing is standing
    assert verdict.is_within == (standing in (Standing.WITHIN, Standing.BY_SPREAD))
    assert verdict.is_total_within


def waiting(forecast_s, waited_s, runs=2):
    """Give the verdict on runs of 2 s each, of which processes waited for a processor for so long."""
    busy = Run(operations(("app", 0, "write", "/f", 2.0), run_queue_s=waited_s))
    expected = Forecast(operations(("app", 0, "write", "/f", forecast_s)))
    case = Validated(CASE, (busy,) * runs, {"kernel": (expected,) * runs})
    return comparing.verdict(case, "kernel", cached=levels("kernel", *[[0.3] * 20] * runs))


@pytest.mark.parametrize(
    ("forecast_s", "waited_s", "standing"),
    [
        (1.0, 0.0, Standing.OUTSIDE),
        (1.0, 0.9, Standing.NOT_JUDGED),
        (1.0, 0.5, Standing.OUTSIDE),
        (0.2, 0.9, Standing.OUTSIDE),
        (3.0, 0.9, Standing.OUTSIDE),
        (0.5, 2.0, Standing.NOT_JUDGED),
    ],
)
def test_what_only_waiting_for_a_processor_keeps_away_is_not_judged(forecast_s, waited_s, standing):
    """Beside a compiler, validate called forecasts OUTSIDE that were right about all but the run queue."""
    for runs in (1, 2):
        verdict = waiting(forecast_s, waited_s, runs)
        assert verdict.standing is standing
        assert not verdict.is_within
        assert verdict.is_total_within is False


def test_waiting_makes_nothing_worse():
    verdict = waiting(2.0, 0.9)
    assert verdict.total.standing is Standing.WITHIN
    assert verdict.standing is Standing.OUTSIDE, "the level is"


def test_runs_that_differ_much_are_not_judged_however_far_the_forecast_is():
    """A noisy run said OUTSIDE, and the next, when the machine was quiet, did not."""
    case = validated([run(1.0, 0.0), run(5.0, 0.0)], [forecast(20.0, 0.0)] * 2)
    assert comparing.verdict(case, "kernel").standing is Standing.NOT_JUDGED


def test_of_one_run_the_tolerance_alone_counts():
    verdict = judged(0.06, None, runs=1)
    assert verdict.standing is Standing.OUTSIDE
    assert verdict.cached.check.between_runs is None
    assert verdict.as_dict()["cached_between_runs"] is None


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=200), st.lists(st.floats(0, 1), min_size=1, max_size=200)
)
def test_a_level_is_allowed_no_more_than_the_runs_differ(off, between_runs):
    found = [
        Level("c", 1, model, np.zeros(len(of)), np.array(of))
        for model, of in (("kernel", off), (MEASURED, between_runs))
    ]
    level = comparing.level_verdict(found, "c", "kernel", 0.05)
    assert level.check.allowed == max(0.05, deviation_of_most(found[1:]))
    # At no less than 95 % of the samples is one run as close to another; below it, at less.
    assert np.mean(np.array(between_runs) <= level.check.between_runs) >= ENOUGH
    assert np.mean(np.array(between_runs) < level.check.between_runs) < ENOUGH
    # And the two ways to ask say the same.
    assert (level.share_within >= ENOUGH) == (level.check.off <= 0.05)
    assert (level.share_allowed >= ENOUGH) == (level.check.off <= level.check.allowed)
    assert (level.check.standing is Standing.NOT_JUDGED) == (level.check.allowed > 4 * 0.05)


def test_details_are_those_of_the_operations_that_have_rows():
    slow = Run(operations(("app", 0, "write", "/f", 1.0), call_bytes=4096, run_queue_s=0.5))
    fast = Run(operations(("app", 0, "write", "/f", 0.6), call_bytes=4096, run_queue_s=0.1))
    two = validated([slow, fast], [Forecast(slow.operations)] * 2)
    seen = list(run_operations(two))
    assert [one.as_dict()["run_queue_s"] for one in seen] == [0.5, 0.1]
    (key,) = {(row.process, row.operation) for row in comparing.rows("s", two, "m") if row.process}
    known = by_operation(seen, "c")
    assert list(known) == [key]
    assert comparing.verdict(two, "kernel").run_queue_s == pytest.approx(0.3)
    assert (known[key].path, known[key].call, known[key].run_queue_s) == ("/f", "4 KiB", pytest.approx(0.3))
