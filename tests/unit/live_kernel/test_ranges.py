"""Ranges of totals of recorded cases: drawn under kernel alone, with the errors of other platforms."""

import io

import pytest
from rich.console import Console

from pagecast.errors import StudyError
from pagecast.studies import load
from pagecast.studies.learning import learn
from pagecast.studies.live_kernel import run, study
from pagecast.uncertainty.model_error import Learned, ModelError

NAMES = ("read", "buffered_write", "synchronous", "mixed")


def errors(platform, error):
    """Errors of every kind, all of one size, up and down."""
    return tuple(
        Learned.of(platform, kind, [(str(n), error if n % 2 else -error) for n in range(40)])
        for kind in NAMES
    )


@pytest.fixture
def outcome(data, machine, monkeypatch):
    """Ranges of 10 % either way; what was learned on the platform itself would be far wider."""
    known = ModelError((*errors("tiny", 2.0), *errors("other", 0.1)))
    monkeypatch.setattr(study, "shipped", lambda: known)
    return run(data=data, machine=machine, models=["kernel", "no-cache"], uncertain=20)


def test_totals_under_kernel_have_a_range_of_the_errors_elsewhere(outcome):
    ranged = [row for row in outcome.rows if row.range_s is not None]
    assert {(row.model, row.operation) for row in ranged} == {("kernel", "total")}
    for row in ranged:
        low, high = (end / row.forecast_s for end in row.range_s)
        assert [low, high] == pytest.approx([0.905, 1.105], abs=0.01)


def test_how_many_lie_within_is_printed_and_in_json(outcome):
    console = Console(file=io.StringIO(), width=200)
    outcome.print_to(console)
    text = console.file.getvalue()
    assert "Totals and their 90 % ranges, in seconds" in text
    assert "measured totals lie within their 90 % range" in text
    assert outcome.to_json()["coverage"]["totals"] == 4


def test_uncertain_values_of_the_machine_widen_ranges(data, machine, monkeypatch):
    monkeypatch.setattr(study, "shipped", lambda: ModelError(()))
    with open(machine, "a") as file:
        file.write('\n[uncertainty]\n"disk.d.write" = "20 %"\n')
    found = run(data=data, machine=machine, models=["kernel"], uncertain=10)
    widths = {row.case: row.range_s[1] - row.range_s[0] for row in found.rows if row.range_s is not None}
    assert widths["a_write"] > 0


def test_kinds_of_cases_are_learned(outcome):
    found = learn(outcome.rows)
    assert {each.platform for each in found} == {"tiny"}
    assert sum(each.cases for each in found) == 2, "the case of the calibration teaches nothing"


def test_without_draws_there_is_no_range(data, machine):
    found = run(data=data, machine=machine, models=["kernel"])
    assert [row for row in found.rows if row.range_s is not None] == []
    assert "coverage" not in found.to_json()


def test_a_study_without_ranges_refuses_draws():
    with pytest.raises(StudyError, match="cawl has no ranges; leave --uncertain 5 out"):
        load("cawl").run(uncertain=5)
