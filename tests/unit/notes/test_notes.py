"""The studies of the two notes: rows, roles, what is shown, and what comes out."""

import io
import json
import tomllib
from types import SimpleNamespace

import pytest
from rich.console import Console

from pagecast.api import machine_path
from pagecast.comparison.rows import judged
from pagecast.errors import StudyError
from pagecast.studies import load
from pagecast.studies.notes import checksum, nvme
from pagecast.studies.notes.conclusion import conclusion
from pagecast.studies.notes.figures import draw

NOTES = {"nvme-note": nvme.NOTE, "checksum-note": checksum.NOTE}
NAMES = tuple(NOTES)


def at_once(case, *, model, machine, overrides):
    """Like `simulate_case`: every read and write takes a second, what is between them nothing."""
    kinds = [kind for _ in case.points for kind in ("open", "read")]
    return SimpleNamespace(
        operations={"operation": kinds, "duration_s": [0.0, 1.0] * len(case.points)},
        machine_hash="0" * 64,
    )


def printed(outcome):
    console = Console(file=io.StringIO(), width=120)
    outcome.print_to(console)
    return console.file.getvalue()


def times(outcome, model="kernel"):
    return {
        (row.experiment, row.case, row.operation): row.forecast_s
        for row in outcome.rows
        if row.model == model
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_figure_is_one_row_of_each_model(name):
    outcome = load(name).run(simulate=at_once)
    figures = [(case.experiment, case.name, p.operation) for case in outcome.cases for p in case.points]
    assert len(figures) == len({*figures}) == {"nvme-note": 5, "checksum-note": 6}[name]
    for model in ("kernel", "no-cache", "endless-cache"):
        assert list(times(outcome, model)) == figures
    assert {row.forecast_s for row in outcome.rows} == {1.0}


@pytest.mark.parametrize("name", NAMES)
def test_the_scenarios_move_the_bytes_of_their_figures(name):
    for case in NOTES[name].cases:
        document = tomllib.loads(case.text)
        (process,) = document["process"]
        moves = [step for step in process["do"] if "read" in step or "write" in step]
        assert len(moves) == len(case.points)
        sizes = {step["size"] for step in [*moves, *document.get("file", [])] if "size" in step}
        assert sizes == {f"{case.points[0].bytes_moved >> 30} GiB"}


def test_what_the_note_printed_is_measured_again():
    rates = {
        (row.case, row.operation): 32 * 1024 / row.measured_s
        for row in nvme.run(models=["kernel"], simulate=at_once).rows
    }
    assert rates == {
        ("direct", "write"): pytest.approx(6587),
        ("buffered", "write"): pytest.approx(2952),
        ("buffered", "write new"): pytest.approx(3795),
        ("buffered", "write again"): pytest.approx(10.9 * 1024),
        ("buffered", "read again"): pytest.approx(18.2 * 1024),
    }


def test_what_the_machine_file_has_is_calibration():
    for study, count in ((nvme, 2), (checksum, 5)):
        assert len(judged(study.run(models=["kernel"], simulate=at_once).rows)) == count
        elsewhere = study.run(models=["kernel"], machine="live-host618", simulate=at_once)
        assert judged(elsewhere.rows) == list(elsewhere.rows)
        assert "Calibration" not in printed(elsewhere)


def test_no_judged_figure_is_in_the_machine_file():
    """The rates of the calibration alone, and costs of pages that are cited."""
    machine = tomllib.loads(machine_path("nvme-note").read_text())
    assert machine["disk"]["nvme"]["write"] == "6587 MiB/s"
    assert (machine["memory"]["write"], machine["memory"]["read"]) == ("10.9 GiB/s", "18.2 GiB/s")
    # 4 KiB at the rates of the cited table, small less large folios: holes read, blocks that exist written.
    cited = [
        round(1e9 * 4096 / 2**20 * (1 / small - 1 / large)) for small, large in ((2744, 4890), (2103, 5589))
    ]
    inserts = [machine["memory"]["cost"]["page_insert"], machine["mount"]["/dev"]["page_insert"]]
    assert inserts == [f"{each} ns" for each in cited]


def test_calibrated_figures_come_out_and_the_others_are_near():
    outcome = nvme.run(models=["kernel"])
    for row in outcome.rows:
        assert abs(row.error) <= (0.001 if row.role == "calibration" else 0.15), row
    (device,) = [row for row in judged(outcome.rows) if row.experiment == "device"]
    (new,) = [row for row in judged(outcome.rows) if row.experiment == "file"]
    assert device.forecast_s > new.forecast_s, "buffer heads cost"


def test_new_pages_cost_their_insertion_and_their_copy():
    # 32 GiB are 8,388,608 pages of 4 KiB; copied at 10.9 GiB/s.
    pages, copy_s = 2**23, 32 / 10.9
    found = times(nvme.run(models=["kernel"]))
    assert found["file", "buffered", "write new"] == pytest.approx(pages * 625e-9 + copy_s, rel=1e-3)
    assert found["device", "buffered", "write"] == pytest.approx(pages * 1159e-9 + copy_s, rel=1e-3)
    free = times(nvme.run(models=["kernel"], overrides=['machine.memory.cost.page_insert="0 s"']))
    assert free["file", "buffered", "write new"] == pytest.approx(copy_s, rel=1e-3)
    assert free["device", "buffered", "write"] == pytest.approx(found["device", "buffered", "write"])


def test_an_evicted_file_is_read_from_the_disk_again():
    found = times(checksum.run(models=["kernel"]))
    cold_s = 1024 / 200
    assert found["kept", "kept", "pass 1"] == pytest.approx(cold_s, rel=0.01)
    for number in (1, 2, 3):
        assert found["evicted", "evicted", f"pass {number}"] == pytest.approx(cold_s, rel=0.01)
    for number in (2, 3):
        assert found["kept", "kept", f"pass {number}"] == pytest.approx(0.45, rel=0.01)


def test_conclusion_names_judged_figures_and_rivals():
    sentences = conclusion(checksum.run(simulate=at_once))
    assert sentences[0].startswith("kernel forecasts 1.00 s for 5.14 s (kept, pass 1: -80.5 %)")
    assert "pass 3" not in sentences[0].split("evicted")[0], "that is calibration"
    assert sentences[1] == "At the worst of them, no-cache errs by 100 % and endless-cache errs by 100 %."
    assert conclusion(nvme.run(experiments=["device"], models=["no-cache"], simulate=at_once))[0].startswith(
        "no-cache forecasts 1.00 s for 11.10 s"
    )


@pytest.mark.parametrize("name", NAMES)
def test_json_report_and_terminal(name, tmp_path):
    outcome = load(name).run(simulate=at_once, command="a test")
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert {row["role"] for row in document["rows"]} == {"judged", "calibration"}
    assert document["provenance"]["study"] == name
    outcome.write_report(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert outcome.note.title in report
    assert "n = 1" in report
    assert "Calibration: the machine file has this figure." in printed(outcome)
    assert len(draw(outcome).axes) == 2


def test_one_experiment_alone():
    outcome = nvme.run(experiments=["file"], simulate=at_once)
    assert {row.experiment for row in outcome.rows} == {"file"}
    assert len(draw(outcome).axes) == 1


def test_what_there_is_not_is_refused(tmp_path):
    with pytest.raises(StudyError, match="has no experiment 'disk'; it has device, file"):
        nvme.run(experiments=["disk"])
    with pytest.raises(StudyError, match="nvme-note has all figures of the note; leave --data"):
        nvme.run(data=tmp_path)
    with pytest.raises(StudyError, match="nothing that is random"):
        checksum.run(seeds=2)
