"""Percentiles of operations that are done often, measured and forecast."""

import pytest

from pagecast.comparison.standing import Standing
from pagecast.tolerance import Tolerance
from pagecast.validation.case import Case, Validated
from pagecast.validation.percentiles import judged, percentiles
from tests.unit.validation.stand_ins import Run, latency, operations

US = 1e-6


def of(*rows):
    """Give a run, or a forecast, with these latencies."""
    return Run(operations(("p", 0, "read", "/data/f", 1.0)), latency=latency(rows))


def row(p50, *, count=200, operation="read"):
    """Give a row of latencies, the others two, four, six and eight times the median."""
    return ("p", operation, "/data/f", count, *(times * p50 * US for times in (1, 2, 4, 6, 8)))


def validated(runs, forecasts):
    """Give a case with these."""
    return Validated(Case("c", "", None, Tolerance()), tuple(runs), {"kernel": tuple(forecasts)})


def test_percentiles_are_means_over_runs():
    case = validated([of(row(10)), of(row(12))], [of(row(15)), of(row(15))])
    found = {one.name: one for one in percentiles(case)}
    assert list(found) == ["p50", "p90", "p99", "p99_9", "max"]
    assert found["p50"].measured_s == pytest.approx(11 * US)
    assert found["p50"].error == pytest.approx(15 / 11 - 1)
    assert found["p99"].between_runs == pytest.approx(2 / 11)


def test_few_operations_have_none():
    few = row(10, count=99)
    assert list(percentiles(validated([of(few)], [of(few)]))) == []
    assert judged(validated([of(few)], [of(few)]), "kernel", Tolerance()) is None


def test_what_one_side_alone_does_has_none():
    case = validated([of(row(10), row(10, operation="write"))], [of(row(10))])
    assert {one.operation for one in percentiles(case)} == {"read"}


@pytest.mark.parametrize(
    ("runs", "forecast", "standing"),
    [
        ([10, 10], 12, Standing.WITHIN),
        ([10, 10], 13, Standing.OUTSIDE),
        ([8, 12], 13, Standing.BY_SPREAD),
        ([2, 30], 10, Standing.NOT_JUDGED),
    ],
)
def test_the_median_is_judged_as_times_are(runs, forecast, standing):
    case = validated([of(row(each)) for each in runs], [of(row(forecast)) for _ in runs])
    verdict = judged(case, "kernel", Tolerance())
    assert verdict is not None
    assert (verdict.percentile, verdict.check.standing) == ("p50", standing)


def test_a_percentile_is_judged_where_the_scenario_asks_for_it():
    def times(*of):
        return ("p", "read", "/data/f", 200, *(time * US for time in of))

    case = validated([of(times(10, 20, 40, 60, 80))], [of(times(11, 20, 60, 60, 160))])
    found = judged(case, "kernel", Tolerance())
    assert (found.percentile, found.check.off, found.check.standing) == (
        *("p50", pytest.approx(0.1), Standing.WITHIN),
    )
    found = judged(case, "kernel", Tolerance(p99=0.4))
    assert (found.percentile, found.check.tolerance, found.called) == ("p99", 0.4, "the p99")
    assert found.check.standing is Standing.OUTSIDE
    assert judged(case, "kernel", Tolerance(p99=0.6, max=0.8)).called == "the longest"
