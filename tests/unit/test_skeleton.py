"""What a study gets from the skeleton: a made-up one with two cases is asked, printed and reported."""

import io
import json
from dataclasses import dataclass

import pytest
from rich.console import Console

from pagecast.comparison import tables
from pagecast.comparison.outcome import Outcome, Presentation
from pagecast.comparison.rows import Row
from pagecast.errors import StudyError
from pagecast.report.document import Section
from pagecast.studies import STUDIES, load
from pagecast.studies.skeleton import Study, report

MEASURED_S = {"short": 1.0, "long": 4.0}


@dataclass(frozen=True, kw_only=True)
class Made(Outcome):
    note: str

    def beside_times(self):
        return {"note": self.note}


def summary(outcome):
    return tables.summary_table(("day",), outcome.rows, title="Errors", case="a case")


PRESENTATION = Presentation(
    headline=lambda outcome: f"Made up, {outcome.note}",
    tables=lambda outcome: (None, summary(outcome)),
    conclusion=lambda outcome: (f"{len(outcome.rows)} rows.",),
    report=lambda outcome: report(
        outcome,
        title="Made up",
        lead="It never was.",
        sections=(Section("Errors", tables=[summary(outcome)]),),
        pitfalls=("Nothing is true.",),
    ),
)


def forecast(asked):
    plan = [(case, model) for case in MEASURED_S for model in asked.models]
    rows = tuple(
        Row("day", case, None, None, "read", model, "m", "judged", MEASURED_S[case], asked.simulate(case))
        for case, model in asked.steps(plan, " under ".join)
    )
    return Made(
        presentation=PRESENTATION,
        models=asked.models,
        rows=rows,
        left_out=("the night",),
        provenance=asked.provenance({("day", "m"): "0" * 64}, left_out=("the night",)),
        note="for once",
    )


STUDY = Study(
    name="made-up",
    source="nowhere",
    experiments=("day", "night"),
    models=("kernel", "no-cache"),
    forecast=forecast,
    simulate=lambda case: 2.0,
)


def test_what_nobody_named_is_filled_in_and_told():
    told = []
    outcome = STUDY.run(progress=lambda done, what: told.append((done, what)))
    assert told == [
        (0.0, "short under kernel"),
        (0.25, "short under no-cache"),
        (0.5, "long under kernel"),
        (0.75, "long under no-cache"),
        (1.0, ""),
    ]
    assert [row.error for row in outcome.rows] == [1.0, 1.0, -0.5, -0.5]
    assert [row.forecast_s for row in STUDY.run(simulate=lambda case: 3.0).rows] == [3.0] * 4
    assert [row.model for row in STUDY.run(models=["wrench", "wrench"]).rows] == ["wrench"] * 2


def test_json_has_the_rows_what_is_beside_them_and_how_to_repeat_it():
    document = json.loads(json.dumps(STUDY.run(command="a test", overrides=["a=1"]).to_json()))
    assert [each["mean_abs_error"] for each in document["summary"]] == [0.75, 0.75]
    assert document["note"] == "for once"
    known = ("study", "source", "command", "overrides", "seeds", "left_out")
    assert [document["provenance"][name] for name in known] == [
        "made-up", "nowhere", "a test", ["a=1"], [0], ["the night"],
    ]  # fmt: skip


def test_a_terminal_shows_headline_tables_what_is_left_out_and_the_conclusion():
    console = Console(file=io.StringIO(), width=80)
    STUDY.run().print_to(console)
    lines = console.file.getvalue().splitlines()
    assert lines[:3] == ["Made up, for once", "", "Errors"]
    assert lines[-3:] == ["Left out: the night.", "", "4 rows."]


def test_the_report_ends_with_what_to_beware_of(tmp_path):
    pytest.importorskip("jinja2")
    built = PRESENTATION.report(STUDY.run())
    assert [section.heading for section in built.sections] == ["Errors", "What to beware of"]
    assert built.sections[-1].text == ("Nothing is true.", "Left out: the night.")
    STUDY.run().write_report(tmp_path / "report.html")
    assert "It never was." in (tmp_path / "report.html").read_text()


def test_what_the_study_does_not_have_is_refused():
    with pytest.raises(StudyError, match="made-up has no experiment 'dusk'; it has day, night"):
        STUDY.run(experiments=["dusk"])
    with pytest.raises(StudyError, match="made-up has nothing that is random; leave --seeds 2 out"):
        STUDY.run(seeds=2)


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_found_under_its_own_name(name):
    assert load(name).name == name
