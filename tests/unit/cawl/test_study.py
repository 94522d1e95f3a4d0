"""What the study shows: rows, errors by group and phase, report, JSON."""

import io
import json
import re

import pytest
from rich.console import Console

from pagecast.comparison.rows import judged
from pagecast.errors import StudyError
from pagecast.studies import cawl, load
from pagecast.studies.cawl.conclusion import conclusion
from pagecast.studies.cawl.figures import draw
from pagecast.studies.cawl.paper_figures import FIGURES
from pagecast.studies.cawl.results import (
    groups_table,
    parameters_table,
    phases_table,
    series_table,
    summary_table,
)
from pagecast.studies.cawl.series import all_series
from tests.unit.cawl.conftest import SECONDS, half_a_second


def printed(outcome, width=100):
    console = Console(file=io.StringIO(), width=width)
    outcome.print_to(console)
    return console.file.getvalue()


def test_there_is_a_row_for_each_block_and_model(outcome):
    main = [row for row in outcome.rows if row.experiment == "buffered"]
    assert len(main) == 2 * (11 * 32 + 11 * 20)
    assert main[0].operation == "writes 1-25"
    assert {row.forecast_s for row in main} == {SECONDS}


def test_with_recordings_there_is_a_row_for_each_write_that_took_time(data):
    outcome = cawl.run(data=data, models=["no-cache"], simulate=half_a_second)
    assert [row.operation for row in outcome.rows if row.case == "nv_async_p0.5"] == [
        f"write {k}" for k in range(1, 101)
    ]
    assert [row.operation for row in outcome.rows if row.case == "nv_libc_512b"][:2] == ["write 2", "write 4"]
    assert outcome.rows[0].error == pytest.approx(0.25)


def test_series_without_pause_are_calibration(outcome):
    roles = {row.case: row.role for row in outcome.rows}
    assert roles["h1_async_p0"] == roles["nv_random_b"] == "calibration"
    assert roles["h1_async_p1"] == roles["h1_async_p0.5"] == "judged"


def test_on_another_machine_all_is_judged():
    outcome = cawl.run(
        experiments=["buffered"], models=["no-cache"], machine="cawl-host1", simulate=half_a_second
    )
    assert judged(outcome.rows) == list(outcome.rows)
    assert outcome.machines == ("cawl-host1",)


def test_each_series_has_the_machine_of_its_state(outcome):
    machines = {run.series.name: run.machine for run in outcome.runs}
    assert {*machines} == {*all_series()}
    assert machines["h1_async_p1"] == "cawl-host1-b"
    assert machines["h1_sync_sizes_5"] == "cawl-host1-a-direct"
    assert machines["nv_sync_sizes_16m"] == "cawl-nvram1-cache"


def test_sizes_are_judged_beyond_those_of_calibration(outcome):
    rows = [row for row in outcome.rows if (row.case, row.model) == ("h1_sync_sizes", "kernel")]
    assert rows[0].operation == "writes 1-4 (32 to 128 MiB)"
    assert [row.role for row in rows] == ["calibration"] * 8 + ["judged"] * 8


def test_only_single_writes_are_left_out(outcome):
    (left,) = outcome.left_out
    assert left.startswith("single writes")


def test_series_that_were_not_recorded_are_named(data):
    outcome = cawl.run(data=data, experiments=["buffered"], models=["no-cache"], simulate=half_a_second)
    assert outcome.left_out[-1].startswith("series that are not in the recordings: h1_async_p0, ")


def test_groups_are_reported_by_pause(outcome):
    lines = {row[0].strip(): row[1:] for row in groups_table(outcome, "buffered").rows}
    assert lines["all"][0] == "22"
    assert lines["no pause (calibration)"][0] == "7"
    assert lines["0.5 s (reported only)"][0] == "3"
    assert lines["h1_async_p1"][:4] == ("1", "40.5", "41.6", "40.5")  # the rival without its total


def test_other_series_are_reported_by_kind(outcome):
    lines = [(row[0].strip(), row[1]) for row in groups_table(outcome, "other").rows]
    assert lines[:3] == [("1 KiB, O_DIRECT", "4"), ("judged rows only", "2"), ("1 KiB, O_SYNC", "4")]
    assert ("sizes, O_SYNC", "6") in lines


def test_phases_are_reported(outcome):
    assert [row[0] for row in phases_table(outcome).rows] == ["before flushing", "flushing", "throttled"]


def test_cawl_stands_beside_ours(outcome):
    assert series_table(outcome, "buffered").columns[-2:] == ("CAWL\n(authors)", "total")
    assert series_table(outcome, "buffered", is_long=True).columns.count("total") == 3
    line = next(row for row in summary_table(outcome).rows if row and row[1] == "CAWL (published)")
    assert line[2] == "11.9"


def test_the_number_of_parameters_of_each_group_is_printed(outcome):
    rows = {row[1]: (row[0], *row[3:]) for row in parameters_table(outcome).rows}
    assert rows["cawl-host1-a"] == ("A", "2", "11", "5")
    assert rows["cawl-host1-c"] == ("C", "2", "5", "3")
    assert rows["cawl-nvram1-cache"] == ("N", "5", "7", "5")
    assert re.search(r"A +cawl-host1-a +memory.per_thread, disk.raid.write +2 +11", printed(outcome))


def test_the_terminal_fits_into_80_columns():
    models = ["kernel", "no-cache", "endless-cache"]
    outcome = cawl.run(experiments=["buffered"], models=models, simulate=half_a_second)
    assert "…" not in printed(outcome, width=80)


def test_the_terminal_ends_with_the_conclusion(outcome):
    assert printed(outcome, width=1000).endswith("\n\n" + "\n".join(conclusion(outcome)) + "\n")
    assert conclusion(outcome)[0].startswith("Over 22 buffered series, kernel errs by ")
    assert "the authors' CAWL by 11.9 % and 7.9 %" in conclusion(outcome)[0]
    assert conclusion(outcome)[1].startswith("Without the series that the machines were calibrated on")


def test_nothing_is_concluded_from_other_series():
    outcome = cawl.run(experiments=["other"], models=["no-cache"], simulate=half_a_second)
    assert conclusion(outcome) == ()
    assert "Main buffered series" not in printed(outcome)


def test_json_has_the_shape_of_every_study(outcome):
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert {*document} == {"schema_version", "provenance", "rows", "summary", "predictions"}
    assert document["predictions"] == [], "the model was not asked"
    assert document["provenance"]["study"] == "cawl"


def test_every_main_series_has_a_panel(outcome):
    titles = [ax.get_title() for host in ("host1", "nvram1") for ax in draw(outcome, host).axes]
    assert len([title for title in titles if title]) == 22
    assert draw(cawl.run(experiments=["other"], models=["no-cache"], simulate=half_a_second), "host1") is None


def test_measured_is_points_and_simulated_is_lines(outcome):
    measured, kernel, _ = draw(outcome, "host1").axes[0].lines
    assert (measured.get_linestyle(), kernel.get_linestyle()) == ("None", "-")


def test_the_report_names_its_inputs(outcome, tmp_path):
    outcome.write_report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert text.count("<svg") == 2 + len(FIGURES)
    for part in (
        "a test",
        "cawl-nvram1-n (hash 000000000000)",
        "Gholami, Schintke",
        "Figure 6(b). ",
        "no public data",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"experiments": ["1"]}, "cawl has no experiment '1'; it has buffered, other"),
        ({"seeds": 2}, "cawl has nothing that is random; leave --seeds 2 out"),
    ],
)
def test_what_does_not_exist_is_refused(options, message):
    with pytest.raises(StudyError, match=message):
        cawl.run(**options)


def test_the_shipped_series_are_simulated():
    outcome = load("cawl").run(experiments=["buffered"], models=["no-cache"])
    row = next(row for row in outcome.rows if row.case == "h1_async_p1")
    assert row.forecast_s == pytest.approx(2**30 / 596.1e6)
