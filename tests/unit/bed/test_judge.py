"""A report that holds, and one that does not."""

import json

import pytest

from bed.__main__ import main
from bed.judge import errors


def row(case, measured_s, forecast_s, *, model="kernel", operation="total", role="judged"):
    return {
        "case": case, "measured_s": measured_s, "forecast_s": forecast_s,
        "model": model, "operation": operation, "role": role,
    }  # fmt: skip


ROWS = [
    row("a", 1.0, 1.2),
    row("a", 3.0, 3.0),
    row("b", 1.0, 0.8),
    row("a", 1.0, 9.0, model="no-cache"),
    row("a", 1.0, 9.0, operation="write"),
    row("m_memory", 1.0, 9.0, role="calibration"),
]


def test_totals_of_the_model_are_judged_over_all_repetitions():
    assert errors(ROWS) == {"a": pytest.approx(0.05), "b": pytest.approx(-0.2)}


@pytest.mark.parametrize(
    ("rows", "words", "code", "message"),
    [
        (ROWS, ["--within", "20.1"], 0, "a: +5.0 %\nb: -20.0 %\n"),
        (ROWS, [], 1, "bed: further off than 10 %: b\n"),
        (ROWS[3:], [], 1, "no case is judged in it; record one beside m_memory"),
        (None, [], 1, "no report of `pagecast reproduce live-kernel`"),
    ],
)
def test_what_is_too_far_off_is_named(tmp_path, capsys, rows, words, code, message):
    if rows is not None:
        (tmp_path / "results.json").write_text(json.dumps({"rows": rows}))
    assert main(["judge", str(tmp_path), *words]) == code
    assert message in "".join(capsys.readouterr())
