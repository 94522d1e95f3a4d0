"""Rows, their errors and their summary."""

import json

import pytest

from pagecast.comparison.rows import Row, judged, summarise, to_json


def row(case="a", *, measured_s=1.0, forecast_s=1.0, model="wrench", role="judged"):
    return Row("1", case, 1, "task1", "read 1", model, "node", role, measured_s, forecast_s)


def test_an_error_is_signed_and_relative_to_the_measurement():
    assert row(measured_s=4.0, forecast_s=3.0).error == pytest.approx(-0.25)


def test_a_row_has_the_names_of_the_json_output():
    assert list(row().as_dict()) == [
        "experiment", "case", "repetition", "process", "operation", "model", "machine", "role",
        "measured_s", "forecast_s", "error",
    ]  # fmt: skip


def test_errors_are_averaged_within_a_case_first():
    rows = [row("many", forecast_s=1.1)] * 9 + [row("one", forecast_s=0.5)]
    (summary,) = summarise(rows)
    assert summary.mean_abs_error == pytest.approx((0.1 + 0.5) / 2)
    assert summary.n == 10


def test_median_and_percentile_are_over_the_cases():
    rows = [row(f"case {k}", forecast_s=1 + k / 10) for k in range(11)]
    (summary,) = summarise(rows)
    assert summary.median_abs_error == pytest.approx(0.5)
    assert summary.p90_abs_error == pytest.approx(0.9)


def test_the_total_error_is_signed_and_of_sums():
    rows = [row(measured_s=10.0, forecast_s=5.0), row(measured_s=1.0, forecast_s=2.0)]
    (summary,) = summarise(rows)
    assert summary.total_error == pytest.approx((7 - 11) / 11)


def test_there_is_a_summary_for_each_experiment_and_model():
    summaries = summarise([row(), row(model="no-cache"), row("b")])
    assert [(s.experiment, s.model, s.n) for s in summaries] == [("1", "wrench", 2), ("1", "no-cache", 1)]


def test_rows_used_for_calibration_are_not_judged():
    assert [r.case for r in judged([row("a"), row("b", role="calibration")])] == ["a"]


def test_a_row_needs_a_measured_time():
    with pytest.raises(AssertionError):
        row(measured_s=0.0)


def test_the_json_document_has_the_agreed_parts():
    document = json.loads(json.dumps(to_json([row()], {"seed": 0}), allow_nan=False))
    assert document["provenance"] == {"seed": 0}
    assert document["summary"] == [
        {
            "experiment": "1", "model": "wrench", "mean_abs_error": 0.0, "median_abs_error": 0.0,
            "p90_abs_error": 0.0, "total_error": 0.0, "n": 1,
        }
    ]  # fmt: skip
    assert set(document) == {"schema_version", "provenance", "rows", "summary"}
