"""How often measured totals lie within their range, and when so few do that the ranges are rejected."""

import pytest

from pagecast.comparison.coverage import Coverage, coverage_of, coverage_sentences, coverage_table
from pagecast.comparison.rows import Row


def row(measured_s, low_s=0.9, high_s=1.2, *, case="c", repetition=1, **others):
    fixed = {"process": None, "operation": "total", "model": "kernel", "machine": "m", "role": "judged"}
    of = {"experiment": "p", "case": case, "repetition": repetition, **fixed, **others}
    return Row(
        **of, measured_s=measured_s, forecast_s=1.0, range_s=None if low_s is None else (low_s, high_s)
    )


def test_repetitions_are_counted_and_a_case_is_judged_by_their_mean():
    found = coverage_of([row(1.0), row(1.1), row(1.4), row(2.0, case="d")])
    assert (found.totals, found.within, found.cases, found.cases_within) == (4, 2, 2, 1)
    assert found.share == 0.5


def test_a_width_is_a_share_of_the_forecast():
    found = coverage_of([row(1.0), row(1.0, 0.5, 1.5)])
    assert (found.mean_width, found.median_width) == pytest.approx((0.65, 0.65))


def test_calibration_operations_and_rows_without_range_do_not_count():
    rows = [row(9.0, role="calibration"), row(9.0, operation="read"), row(9.0, None)]
    assert coverage_of(rows) is None
    assert list(coverage_sentences(rows)) == []


def judged(within, cases):
    return Coverage(cases, within, cases, within, 0.1, 0.1).is_rejected


@pytest.mark.parametrize(("cases", "rejected"), [(1, None), (2, 0), (3, 1), (5, 2), (20, 15), (100, 84)])
def test_ranges_are_rejected_where_right_ones_would_rarely_hold_so_few(cases, rejected):
    most = max((within for within in range(cases + 1) if judged(within, cases)), default=None)
    assert most == rejected


def test_a_table_says_how_many_repetitions_lie_within():
    table = coverage_table([row(1.0), row(1.4), row(1.0, role="calibration", case="m")])
    assert table.rows == [
        ("p", "c", "1.20", "1.00", "0.90", "1.20", "30.0", "1 of 2"),
        ("p", "m*", "1.00", "1.00", "0.90", "1.20", "30.0", "1 of 1"),
    ]
    assert coverage_table([row(1.0, None)]) is None


def test_a_sentence_stands_for_each_platform():
    [sentence] = coverage_sentences([row(1.0), row(1.4)])
    assert sentence.startswith("On p 1 of 2 measured totals lie within their 90 % range; its width is 30.0 %")


def test_rows_have_their_range_in_json():
    assert row(1.0).as_dict()["low_s"] == 0.9
    assert "low_s" not in row(1.0, None).as_dict()
