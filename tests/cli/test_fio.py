"""fio job files on the command line."""

import gzip
import json

import pytest

from pagecast.exit_codes import ExitCode

MACHINE = """\
cores = 4
memory = { size = "8 GB", read = "8 GB/s", write = "4 GB/s" }
disk.ssd = { size = "200 GB", read = "500 MB/s", write = "450 MB/s" }
mount."/data" = { disk = "ssd" }
"""

JOB = "[global]\nsize=${SIZE}\nnice=5\n[a]\nrw=randrw\n"

SIMULATE = ("simulate", "job.fio", "--machine", "./machine.toml")


@pytest.fixture
def fio(pagecast, monkeypatch):
    """The command line, in a folder with `job.fio` and `machine.toml`."""
    monkeypatch.setenv("SIZE", "1m")
    (pagecast.folder / "machine.toml").write_text(MACHINE)
    (pagecast.folder / "job.fio").write_text(JOB)
    return pagecast


def test_a_job_is_simulated_and_its_notes_are_told(fio):
    outcome = fio(*SIMULATE, "--model", "kernel")
    assert outcome.code == ExitCode.OK
    assert "Note: job.fio:3: `nice` has no effect here" in outcome.stdout


def test_a_report_in_the_form_of_fio(fio):
    assert fio(*SIMULATE, "--model", "kernel", "--fio-json", "report.json").code == ExitCode.OK
    (job,) = json.loads((fio.folder / "report.json").read_text())["jobs"]
    assert job["jobname"] == "a"
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 256


def test_a_report_is_of_one_model_and_of_a_job_file(fio):
    outcome = fio(*SIMULATE, "--model", "kernel", "--model", "no-cache", "--fio-json", "report.json")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--fio-json needs one model" in outcome.stderr
    outcome = fio("simulate", "scenario.toml", "--model", "no-cache", "--fio-json", "report.json")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stdout == ""
    assert "scenario.toml is no fio job file" in outcome.stderr


def test_a_report_needs_a_file_to_be_read_twice(fio):
    outcome = fio("simulate", "-", "--machine", "./machine.toml", "--fio-json", "report.json")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--fio-json needs the job file itself" in outcome.stderr


def test_a_report_of_histograms(fio):
    asked = (*SIMULATE, "--model", "kernel", "--record", "histogram", "--fio-json", "report.json")
    assert fio(*asked).code == ExitCode.OK
    (job,) = json.loads((fio.folder / "report.json").read_text())["jobs"]
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == 256
    (fio.folder / "job.fio").write_text(JOB + "ramp_time=1\n")
    outcome = fio(*asked)
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr == (
        "pagecast: error: job.fio: of job a with `ramp_time` a report in fio's form needs a row of each "
        "operation; record all\n"
    )


def test_a_report_that_cannot_be_written(fio):
    outcome = fio(*SIMULATE, "--model", "kernel", "--fio-json", "nowhere/report.json")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "cannot write nowhere/report.json: No such file or directory" in outcome.stderr


def test_a_job_that_cannot_be_simulated(fio):
    (fio.folder / "job.fio").write_text("[a]\nsize=1m\niodeph=4\n")
    outcome = fio(*SIMULATE)
    assert "job.fio:3: fio has no option `iodeph`; did you mean `iodepth`?" in outcome.stderr
    assert fio(*SIMULATE, "--lenient", "--model", "no-cache").code == ExitCode.OK


def test_a_packed_job_file_is_read(fio):
    (fio.folder / "job.fio.gz").write_bytes(gzip.compress(JOB.encode()))
    outcome = fio("simulate", "job.fio.gz", "--machine", "./machine.toml", "--model", "no-cache")
    assert outcome.code == ExitCode.OK
