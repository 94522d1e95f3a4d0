"""The study of the dissertation's ext3: its rows, what is judged of them, and the shape of its figures."""

import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from pagecast.comparison.rows import judged
from pagecast.errors import StudyError
from pagecast.studies import ext3
from pagecast.studies.ext3 import scenarios
from pagecast.studies.ext3.published import RANDOM, figures
from pagecast.studies.ext3.shapes import BLOCKS_KIB, CURVES, drop_off, judge


def simulated(case, *, model, machine, overrides):
    """Every operation takes a millisecond."""
    operations = case.count('write = "') + case.count('read = "') + case.count("fsync = ")
    return SimpleNamespace(operations={"duration_s": [0.001] * operations}, machine_hash="0" * 64)


def test_the_errors_of_the_author_are_those_that_the_dissertation_prints():
    printed = [20, 34, 12, 13, 29, 19, 13, 11, 12, 24, 22, 24]
    found = [100 * abs(one.author_error) for one in figures()]
    assert found == pytest.approx(printed, abs=0.55)


def test_at_most_four_rows_fix_keys_and_each_another_one():
    fixing = [one for one in figures() if one.fixes]
    assert len(fixing) <= 4
    assert len({one.fixes for one in fixing}) == len(fixing)
    assert {one.table for one in fixing} <= {5, 6, 9, 11}
    assert all(one.load == RANDOM for one in fixing)


def test_only_a_row_of_the_random_load_that_fixes_nothing_is_judged():
    outcome = ext3.run(experiments=["tables", "traces"], models=["kernel"], simulate=simulated)
    assert [row.case for row in judged(outcome.rows)] == ["Table 9: journal, random"]
    assert len(outcome.rows) == 4
    assert len(outcome.tables) == 12
    other = ext3.run(experiments=["tables"], models=["kernel"], machine="nvme-note", simulate=simulated)
    assert {row.role for row in other.rows} == {"judged"}, "another machine has none of the rows"


def test_the_rows_that_fix_keys_are_met():
    outcome = ext3.run(experiments=["tables"], models=["kernel"])
    fixed = [row for row in outcome.rows if row.role == "calibration"]
    assert len(fixed) == 3
    assert all(abs(row.error) < 0.002 for row in fixed)


def test_a_write_ends_with_an_fsync_and_synchronous_mode_is_an_open_flag():
    text = {one.case: scenarios.load_case(one) for one in figures()}
    assert 'fsync = "/data"' not in text["Table 5: ordered, random"]
    assert 'fsync = "/data"' in text["Table 9: journal, random"]
    assert 'data = "journal"' in text["Table 9: journal, random"]
    assert "O_SYNC" in text["Table 11: synchronous, random"]
    assert text["Table 12: synchronous, trace 1"].count("write =") == 1000


def test_the_drop_is_the_largest_block_before_copies_slow_down():
    assert drop_off({4: 100.0, 8: 100.0, 16: 99.5, 32: 90.0, 64: 80.0}) == 16
    assert drop_off(dict.fromkeys(BLOCKS_KIB, 1.0)) is None


def test_curves_without_the_shapes_do_not_hold():
    flat = {curve.name: {point: {"read": 1.0, "write": 1.0} for point in curve.points} for curve in CURVES}
    held = {shape.claim: shape.holds for shape in judge(flat)}
    assert [claim.split(":")[0] for claim, holds in held.items() if holds] == [
        "reads up to 2 GiB do not depend on the size of the file, within 5 %, whatever the block",
        "nor do writes up to 256 MiB",
        "RAID 0 of two has the curves of the disk, within 5 %",
        "SAN has the curves of the disk, within 5 %",
    ]


def test_the_outcome_is_printed_reported_and_json(tmp_path):
    outcome = ext3.run(simulate=simulated, command="a test")
    console = Console(file=io.StringIO(), width=160)
    outcome.print_to(console)
    text = console.file.getvalue()
    assert "3 rows fix keys of the machine, 1 judged: Table 9: journal, random" in text
    assert "8 rows of traces are reported, not judged" in text
    outcome.write_report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("<svg") == 1
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert len(document["rows"]) == 16
    assert len(document["tables"]) == 48
    assert {row["role"] for row in document["rows"]} == {"judged", "calibration"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"experiments": ["nothing"]}, "has no experiment 'nothing'; it has tables, traces, figures"),
        ({"data": "x"}, "leave --data x out"),
        ({"seeds": 2}, "nothing that is random"),
    ],
)
def test_what_the_study_does_not_have_is_refused(asked, message):
    with pytest.raises(StudyError, match=message):
        ext3.run(**asked)
