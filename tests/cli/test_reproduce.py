"""``pagecast reproduce`` of the studies that take recordings: what is printed, and what is refused."""

import json
import re

import pytest

from pagecast.exit_codes import ExitCode
from tests.unit.live_kernel.recorder import A_WRITE, M_MEMORY, MACHINE, record

LIVE = ("reproduce", "live-kernel", "--data", "recordings", "--machine", "./tiny.toml")


@pytest.fixture
def recordings(pagecast):
    """A folder with one platform, and a machine file."""
    (pagecast.folder / "tiny.toml").write_text(MACHINE)
    cases = {"m_memory": M_MEMORY, "a_write": A_WRITE}
    return record(pagecast.folder / "recordings" / "tiny", cases, repetitions=2)


def test_reproduce_cawl(pagecast, matches):
    outcome = pagecast("reproduce", "cawl", "--model", "no-cache", "--model", "endless-cache")
    assert outcome.code == ExitCode.OK
    matches(outcome)
    assert sorted(path.name for path in (pagecast.folder / "cawl").iterdir()) == [
        "provenance.json",
        "report.html",
        "results.json",
    ]


def test_brief_ends_in_a_line_for_each_model_and_a_link(pagecast):
    """`make demo` ended in 245 lines, of which nobody saw the report's name on the last."""
    outcome = pagecast("reproduce", "wrench-cache", "--exp", "4", "--brief", "--out", "out/demo")
    assert outcome.code == ExitCode.OK
    head, *models, link = outcome.stdout.splitlines()
    assert head.split() == ["Mean", "error", "per", "operation,", "wrench-cache", "Exp", "4"]
    assert [line.split()[0] for line in models] == ["kernel", "wrench", "no-cache", "endless-cache"]
    assert all(len(line) <= 80 and line.endswith(" %") for line in models)
    report = pagecast.folder / "out" / "demo" / "report.html"
    assert link == report.as_uri()
    assert report.exists()


def test_brief_is_for_people(pagecast):
    outcome = pagecast("reproduce", "wrench-cache", "--brief", "--json")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--brief and --json exclude each other" in outcome.stderr


def test_a_report_begins_with_a_figure(pagecast):
    pagecast("reproduce", "wrench-cache", "--exp", "4", "--model", "no-cache", "--out", "there")
    text = (pagecast.folder / "there" / "report.html").read_text()
    places = [text.index(what) for what in ("<h1>", "<figure", '<ul class="conclusion">', "<h2>", "<table")]
    assert places == sorted(places)
    assert (
        text.count("<figure")
        == text.count("<figcaption")
        == len(set(re.findall(r"<strong>Figure .*?\.<", text)))
    )


def test_reproduce_cawl_unknown_experiment(pagecast, matches):
    outcome = pagecast("reproduce", "cawl", "--exp", "1")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_reproduce_cawl_without_recordings(pagecast, matches):
    outcome = pagecast("reproduce", "cawl", "--data", ".", "--json")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_reproduce_nvme_note(pagecast, matches):
    outcome = pagecast("reproduce", "nvme-note")
    assert outcome.code == ExitCode.OK
    matches(outcome)
    assert (pagecast.folder / "nvme-note" / "report.html").exists()


def test_reproduce_checksum_note_json(pagecast):
    document = json.loads(pagecast("reproduce", "checksum-note", "--exp", "evicted", "--json").stdout)
    assert document["rows"][0] == {
        "experiment": "evicted", "case": "evicted", "repetition": None, "process": None,
        "operation": "pass 1", "model": "kernel", "machine": "checksum-note", "role": "judged",
        "measured_s": 4.98, "forecast_s": pytest.approx(5.12), "error": pytest.approx(0.028, abs=1e-3),
    }  # fmt: skip


def test_reproduce_a_note_has_no_recordings(pagecast, matches):
    outcome = pagecast("reproduce", "checksum-note", "--data", ".")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_reproduce_live_kernel(pagecast, recordings, matches):
    outcome = pagecast(*LIVE, "--model", "wrench", "--model", "no-cache", "--model", "endless-cache")
    assert outcome.code == ExitCode.OK
    matches(outcome)


def test_reproduce_live_kernel_json(pagecast, recordings):
    document = json.loads(pagecast(*LIVE, "--model", "wrench", "--json").stdout)
    lists = {"dirty_levels", "cached_files", "plateaus"}
    assert {*document} == {"schema_version", "provenance", "rows", "summary", *lists}
    assert document["rows"][0] == {
        "experiment": "tiny", "case": "a_write", "repetition": 1, "process": None, "operation": "total",
        "model": "wrench", "machine": "./tiny.toml", "role": "judged",
        "measured_s": pytest.approx(1.329, abs=1e-3), "forecast_s": pytest.approx(1.052, abs=1e-3),
        "error": pytest.approx(-0.208, abs=1e-3),
    }  # fmt: skip


def test_reproduce_live_kernel_without_data(pagecast, matches):
    outcome = pagecast("reproduce", "live-kernel")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_reproduce_live_kernel_without_a_machine(pagecast, recordings, matches):
    outcome = pagecast("reproduce", "live-kernel", "--data", "recordings")
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_reproduce_live_kernel_unknown_step(pagecast, recordings, matches):
    (recordings / "cases" / "a_write.pct").write_text("mark go\nfsnyc 0\n")
    outcome = pagecast(*LIVE)
    assert outcome.code == ExitCode.BAD_INPUT
    matches(outcome)


def test_reproduce_live_kernel_takes_every_way_of_opening(pagecast, recordings):
    for flags in ("wctd", "wcts", "wctS"):
        (recordings / "cases" / "a_write.pct").write_text(A_WRITE.replace("f wct", f"f {flags}"))
        document = json.loads(pagecast(*LIVE, "--json", "--model", "kernel").stdout)
        assert document["provenance"]["left_out"] == []
        rows = {(row["case"], row["operation"]): row["forecast_s"] for row in document["rows"]}
        assert rows["a_write", "total"] == pytest.approx(1.0, rel=0.1)  # 100 MiB at 100 MiB/s


def test_reproduce_live_kernel_what_cannot_be_forecast_is_left_out(pagecast, recordings):
    (recordings / "cases" / "a_write.pct").write_text("mark go\nopen 0 MNT/f w\n")
    document = json.loads(pagecast(*LIVE, "--json").stdout)
    assert document["provenance"]["left_out"] == [
        "tiny, a_write: line 2 opens MNT/f, which nothing before it makes"
    ]
    assert {row["case"] for row in document["rows"]} == {"m_memory"}
