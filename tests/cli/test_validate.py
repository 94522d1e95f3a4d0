"""`pagecast validate` on a real disk: what is compared and said, its exit code, and nothing left behind."""

import json
import os
import shlex
import subprocess
import sys
import time

import pytest

from pagecast.exit_codes import ExitCode
from tests.cli.mounts import in_own_mounts
from tests.cli.stopping import ENDINGS
from tests.cli.test_run import LONG, SMALL
from tests.cli.unprivileged import Unprivileged, skip_unless_root
from tests.disk import folder_on_disk

# What a busy machine takes for these few bytes nobody knows: the tests say how far off a forecast may be.
GENEROUS = '[tolerance]\ntotal = "1e9 %"\ndirty = "100 %"\ncached = "100 %"\n'
MEAN = '[tolerance]\ntotal = "0.000001 %"\n'


@pytest.fixture
def on_disk(pagecast, monkeypatch):
    """The command line in a folder on a disk, with scenarios and a directory `there` to run them in."""
    with folder_on_disk(pagecast.folder) as folder:
        pagecast.folder = folder
        monkeypatch.chdir(folder)
        # `models` stands first and would be part of the table.
        (folder / "small.toml").write_text(with_tolerance(SMALL, GENEROUS))
        (folder / "mean.toml").write_text(with_tolerance(SMALL, MEAN))
        (folder / "long.toml").write_text(LONG)
        (folder / "there").mkdir()
        yield pagecast


def with_tolerance(scenario, tolerance):
    models, rest = scenario.split("\n", 1)
    return f"{models}\n{tolerance}{rest}"


def left(on_disk):
    """Give what is in the directory of the runs."""
    return sorted(path.name for path in (on_disk.folder / "there").iterdir())


def test_a_forecast_within_the_tolerance(on_disk):
    outcome = on_disk("validate", "small.toml", "--dir", "there", "--runs", "2", "--json")
    assert (outcome.code, left(on_disk)) == (ExitCode.OK, [])
    document = json.loads(outcome.stdout)
    assert document["schema_version"] == 1
    assert document["is_within"]
    (verdict,) = document["verdicts"]
    assert (verdict["case"], verdict["model"], verdict["total_tolerance"]) == ("small.toml", "kernel", 1e7)
    totals = [row for row in document["rows"] if row["operation"] == "total"]
    assert [(row["model"], row["repetition"]) for row in totals] == [
        (model, repetition) for model in ("kernel", "no-cache", "endless-cache") for repetition in (1, 2)
    ]
    for row in document["rows"]:
        assert row["error"] == pytest.approx(row["forecast_s"] / row["measured_s"] - 1)
        assert (row["experiment"], row["role"]) == ("small.toml", "judged")
    assert {level["model"] for level in document["cached_levels"]} <= {"kernel", "endless-cache", "measured"}
    assert document["provenance"]["runs"] == 2
    assert sum(document["counts"].values()) == 1
    assert (verdict["verdict"], verdict["is_within"]) == ("within", True)
    assert verdict["cached_allowed"] == max(1.0, verdict["cached_between_runs"])
    for operation in document["operations"]:
        assert 0 <= operation["run_queue_s"] <= operation["duration_s"]
        assert operation["call_bytes"] in (0, 64 << 10, 1 << 20, 2_000_000, 3_000_000)


def test_a_forecast_outside_the_tolerance_has_its_own_exit_code(on_disk):
    outcome = on_disk("validate", "mean.toml", "--dir", "there", "--runs", "1")
    assert (outcome.code, left(on_disk)) == (ExitCode.CHECK_FAILED, [])
    assert "OUTSIDE" in outcome.stdout
    assert "kernel forecasts 0 of 1 case within the tolerance; 1 outside (mean.toml: " in " ".join(
        outcome.stdout.split()
    )
    outcome = on_disk("validate", "mean.toml", "--dir", "there", "--runs", "1", "--tolerance", "1e9 %")
    assert outcome.code == ExitCode.OK


@pytest.fixture
def small_machine(on_disk, monkeypatch):
    """A machine file, and a machine for the suite that is so small that its cases soon end."""
    from pagecast.validation import Scale

    (on_disk.folder / "small-machine.toml").write_text(
        'cores = 2\nmemory = { size = "40 MB", read = "4 GB/s", write = "2 GB/s" }\n'
        'disk.ssd = { size = "50 MB", read = "500 MB/s", write = "400 MB/s" }\nmount."/" = { disk = "ssd" }\n'
    )
    monkeypatch.setattr(Scale, "here", lambda directory, machine: Scale(8 << 20, 40 << 20, 50_000_000))
    return ("--machine", "small-machine.toml", "--dir", "there")


def test_cases_of_the_suite_are_chosen_and_those_without_room_are_named(on_disk, small_machine):
    suite = ("--suite", "standard", *small_machine)
    planned = on_disk("validate", *suite, "--dry-run", "--json")
    cases = [case["case"] for case in json.loads(planned.stdout)["cases"]]
    assert {"a_seqwrite", "n_unlink"} <= set(cases)
    assert "d08_app" not in cases
    two = ("--case", "n_unlink", "--case", "d08_app", "--runs", "1", "--tolerance", "1e9 %")
    outcome = on_disk("validate", *suite, *two, "--json")
    assert left(on_disk) == []
    document = json.loads(outcome.stdout)
    assert [verdict["case"] for verdict in document["verdicts"]] == ["n_unlink"]
    assert {row["experiment"] for row in document["rows"]} == {"standard"}
    assert any("d08_app" in line for line in document["left_out"])
    assert refused(on_disk, *suite, "--case", "d08_app").startswith("there: no room for d08_app")
    text = refused(on_disk, *suite, "--case", "z_none")
    assert text.startswith("the suite has no case `z_none`; it has a_seqwrite, ")


def test_what_will_be_done_is_said_before_it_is(on_disk):
    outcome = on_disk("validate", "small.toml", "--dir", "there", "--dry-run")
    assert (outcome.code, left(on_disk)) == (ExitCode.OK, [])
    assert outcome.stdout.startswith("small.toml: A run writes 5 MB, needs 5 MB of disk, and takes about ")
    assert "1 case, 3 runs each; 15 MB to write in all; 5 MB of disk at a time (" in outcome.stderr
    outcome = on_disk("validate", "small.toml", "--dir", "there", "--dry-run", "--json")
    planned = json.loads(outcome.stdout)
    assert (planned["dry_run"], planned["written_bytes"], planned["runs"]) == (True, 15_000_000, 3)
    (case,) = planned["cases"]
    assert (case["written_bytes"], case["space_bytes"]) == (5_000_000, 5_000_000)
    assert case["expected_s"] == pytest.approx(planned["expected_s"] / 3)


def test_the_machine_can_be_another_one(on_disk):
    machine = (
        'cores = 1\nmemory = { size = "9 GB", read = "4 GB/s", write = "2 GB/s" }\n'
        'disk.slow = { size = "900 GB", read = "1 MB/s", write = "1 MB/s" }\nmount."/" = { disk = "slow" }\n'
    )
    (on_disk.folder / "slow.toml").write_text(machine)
    options = ("--dir", "there", "--runs", "1", "--model", "no-cache", "--json")
    outcome = on_disk("validate", "small.toml", "--machine", "slow.toml", *options)
    rows = json.loads(outcome.stdout)["rows"]
    (total,) = [row for row in rows if row["operation"] == "total"]
    # 2 MB read, 3 MB written and read again at 1 MB/s.
    assert total["forecast_s"] == pytest.approx(8.0, rel=0.01)
    assert total["machine"] == "slow.toml"


def test_the_result_can_be_saved(on_disk):
    out = ("--out", "results")
    assert on_disk("validate", "small.toml", "--dir", "there", "--runs", "1", *out).code == ExitCode.OK
    results = on_disk.folder / "results"
    assert sorted(path.name for path in results.iterdir()) == [
        "provenance.json",
        "report.html",
        "results.json",
    ]
    assert json.loads((results / "results.json").read_text())["is_within"]
    outcome = on_disk("validate", "small.toml", "--dir", "there", *out)
    assert outcome.code == ExitCode.BAD_INPUT
    assert "results: is not empty; choose another name or add --force" in outcome.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_interrupted_validation_removes_its_folder_and_tells_what_is_done(ending, on_disk):
    # The first run ends soon; the second one is told by a file to take long.
    (on_disk.folder / "v.py").write_text(
        "import os, sys\n"
        "import pagecast.running as running\n"
        "from pagecast.__main__ import main\n"
        "again = running.Plan.run\n"
        "def run(self, *args, **kwargs):\n"
        "    made = again(self, *args, **kwargs)\n"
        "    open('one-is-done', 'w').close()\n"
        "    return made\n"
        "running.Plan.run = run\n"
        "main(['validate', 'short.toml', '--dir', 'there', '--runs', '50'])\n"
    )
    (on_disk.folder / "short.toml").write_text(LONG.replace("100 s", "1 s"))
    process = subprocess.Popen(
        [sys.executable, "v.py"],
        cwd=on_disk.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not ((on_disk.folder / "one-is-done").exists() and left(on_disk)):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(ending)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, left(on_disk)) == (ExitCode.INTERRUPTED, "", [])
    assert "of 50 runs; the folder is removed." in stderr
    assert "short.toml" in stderr
    assert stderr.splitlines()[-1] == "pagecast: interrupted"


def test_a_closed_pipe_is_no_error(on_disk):
    command = f"{sys.executable} -m pagecast validate small.toml --dir there --runs 1 | true; "
    ended = subprocess.run(
        ["bash", "-c", f"{command} exit ${{PIPESTATUS[0]}}"],
        cwd=on_disk.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, left(on_disk)) == (ExitCode.OK, [])
    assert "error" not in ended.stderr


def refused(on_disk, *arguments, code=ExitCode.BAD_INPUT):
    """Give the one line that a validation ends with."""
    outcome = on_disk("validate", *arguments)
    assert (outcome.code, outcome.stdout) == (code, ""), outcome
    assert left(on_disk) == []
    return outcome.stderr.splitlines()[-1].removeprefix("pagecast: error: ")


def test_wrong_use(on_disk):
    there = ("--dir", "there")
    assert refused(on_disk, *there).startswith("name a SCENARIO or a --suite; try")
    assert "not both" in refused(on_disk, "small.toml", "--suite", "standard", *there)
    assert "a suite needs the machine file" in refused(on_disk, "--suite", "standard", *there)
    assert "--case chooses cases of a --suite" in refused(on_disk, "small.toml", "--case", "x", *there)
    assert "fast" in refused(on_disk, "small.toml", "--model", "fast", *there)
    suite = ("--suite", "standard", "--machine", "wrench-cluster", *there)
    text = refused(on_disk, *suite, "--set", "model.kernel.write_bandwidth=1 MB/s")
    assert "of a suite only machine.KEY can be set" in text
    assert refused(on_disk, "small.toml", "--tolerance", "15", *there).startswith(
        "invalid value for '--tolerance': `15` has no unit; write for example \"15 %\""
    )


def test_bad_input_is_one_line_before_anything_is_done(on_disk):
    there = ("--dir", "there")
    assert refused(on_disk, "none.toml", *there) == "none.toml: there is no such file"
    assert refused(on_disk, "small.toml", "--machine", "no.toml", *there) == "no.toml: there is no such file"
    (on_disk.folder / "m.toml").write_text("cores = 0\n")
    assert refused(on_disk, "small.toml", "--machine", "m.toml", *there).startswith("m.toml:1: ")
    assert refused(on_disk, "small.toml", "--dir", "none") == (
        "none: there is no such file or directory; check the name"
    )
    (on_disk.folder / "x.toml").write_text(SMALL.replace("[machine]", "[tolerance]\ntotal = 15\n[machine]"))
    assert refused(on_disk, "x.toml", *there) == (
        "x.toml:3: `total` is the number 15 without a unit; a quantity is a string with its unit: "
        'total = "15 %"'
    )
    large = SMALL.replace('"3 MB"', '"800 TB"')
    (on_disk.folder / "large.toml").write_text(large)
    assert " are free, and " in refused(on_disk, "large.toml", *there)
    beyond = SMALL.replace('read = "/data/in"', 'read = "/data/in", size = "9 MB"')
    (on_disk.folder / "beyond.toml").write_text(beyond)
    assert "reads 9 MB" in refused(on_disk, "beyond.toml", *there, code=ExitCode.SIMULATION_FAILED)


def test_memory_is_no_disk(on_disk):
    if not os.path.ismount("/dev/shm"):
        pytest.skip("/dev/shm is not there")
    assert "is on tmpfs at /dev/shm" in refused(on_disk, "small.toml", "--dir", "/dev/shm")


def test_what_the_kernel_had_learnt_is_asked_for(on_disk):
    script = (
        "mount -t debugfs debugfs /sys/kernel/debug || exit 77; "
        f"{sys.executable} -m pagecast validate small.toml --dir there --runs 1 --json"
    )
    ended = in_own_mounts(script, on_disk.folder, "debugfs")
    (learnt,) = json.loads(ended.stdout)["provenance"]["learnt"]["small.toml"]
    assert learnt["write_bandwidth"].endswith(" KiB/s")


def test_help_of_validate(on_disk, matches):
    matches(on_disk("validate", "--help"))


@pytest.fixture
def unprivileged(on_disk):
    """The command line as a user without rights."""
    skip_unless_root()
    # The interpreter's own files may not be readable for that user: let everything be imported before.
    assert on_disk("validate", "small.toml", "--dir", "there", "--runs", "1").code == ExitCode.OK
    return Unprivileged(on_disk, "validate")


def test_without_rights(unprivileged):
    outcome = unprivileged("small.toml", "--dir", "there", "--runs", "1")
    assert (outcome.code, left(unprivileged)) == (ExitCode.OK, [])
    told = " ".join(outcome.stdout.split())
    assert "Left out: how fast the kernel believed the disk to be before, which " in told
    outcome = unprivileged("small.toml", "--dir", "there", "--trace")
    assert (outcome.code, left(unprivileged)) == (ExitCode.BAD_INPUT, [])
    (line,) = outcome.stderr.splitlines()
    assert "tracing needs " in line, "tracefs where it is not mounted, else root"


def test_tracing_is_refused_once_before_anything_is_done(on_disk, small_machine):
    machine = on_disk.folder / "small-machine.toml"
    machine.write_text(machine.read_text().replace("50 MB", "90 GB"))
    script = "umount -q -l -A tracefs debugfs; "
    script += f"{sys.executable} -m pagecast validate --suite standard --case a_seqwrite --trace --dry-run "
    script += shlex.join(small_machine)
    ended = in_own_mounts(script, on_disk.folder, "tracefs")
    assert (ended.returncode, ended.stdout, left(on_disk)) == (ExitCode.BAD_INPUT, "", [])
    (line,) = ended.stderr.splitlines()
    assert "mount it (mount -t tracefs tracefs /sys/kernel/tracing), or leave tracing out" in line


def test_a_scenario_from_stdin(on_disk):
    command = f"{sys.executable} -m pagecast validate - --dir there --runs 1 --json < small.toml"
    ended = subprocess.run(
        command, shell=True, cwd=on_disk.folder, capture_output=True, text=True, check=True
    )
    assert [verdict["case"] for verdict in json.loads(ended.stdout)["verdicts"]] == ["<stdin>"]
