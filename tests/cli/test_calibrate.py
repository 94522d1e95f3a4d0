"""`pagecast calibrate` on the real kernel: what it refuses, what it writes, that nothing stays behind."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from pagecast.calibration.plan import EFFORTS, MIB
from pagecast.exit_codes import ExitCode
from tests.cli.stopping import ENDINGS, stop
from tests.cli.unprivileged import NOBODY, Unprivileged
from tests.disk import folder_on_disk

COMMAND = [sys.executable, "-m", "pagecast", "calibrate"]


@pytest.fixture
def on_disk(pagecast, monkeypatch):
    """The command line in a folder on a disk."""
    with folder_on_disk(pagecast.folder) as folder:
        pagecast.folder = folder
        monkeypatch.chdir(folder)
        (folder / "data").mkdir()
        yield pagecast


@pytest.fixture
def small(monkeypatch):
    """Efforts that take a second and little room."""
    from dataclasses import replace

    tiny = replace(
        EFFORTS["quick"],
        most_rounds=6,
        most_s=0.1,
        copy_bytes=4 * MIB,
        copy_calls=(4096, MIB),
        device_bytes=8 * MIB,
        device_calls=(4096, MIB),
        streams=(1, 2),
        stream_s=0.01,
        drain_bytes=4 * MIB,
        old_s=0.0,
        long_bytes=16 * MIB,
        long_s=0.1,
    )
    monkeypatch.setattr("pagecast.calibration.long_streams.IDLE_S", 0.1)
    monkeypatch.setitem(EFFORTS, "quick", tiny)
    monkeypatch.setitem(EFFORTS, "thorough", replace(tiny, effort="thorough", bucket_s=0.2))


def test_calibrate_help(pagecast, matches):
    matches(pagecast("calibrate", "--help"))


def test_a_dry_run_says_how_much_and_does_nothing(on_disk):
    outcome = on_disk("calibrate", "data", "--dry-run", "-o", "m.toml")
    assert outcome.code == ExitCode.OK
    assert re.match(
        r"Expects to write \S+ to \S+ GB to a disk of 500 MB/s, .* at most \S+ GB to any, in data",
        outcome.stdout,
    )
    assert outcome.stdout.endswith("Nothing was done.\n")
    outcome = on_disk("calibrate", "data", "--dry-run", "--json", "--quick")
    found = json.loads(outcome.stdout)
    assert (found["dry_run"], found["effort"]) == (True, "quick")
    slow, fast = found["expected"]
    assert found["room_bytes"] < slow["least_bytes"] < slow["most_bytes"] < fast["most_bytes"]
    assert fast["most_bytes"] < found["written_bytes"]
    assert (os.listdir("data"), Path("m.toml").exists()) == ([], False)


@pytest.fixture
def traced(monkeypatch):
    """A tracefs that can be used, and functions that take what is told."""
    from pagecast import calibration
    from pagecast.calibration.functions import Tracer

    tracer = Tracer(Path("/sys/kernel/tracing"), ("do_writepages",), "1")
    times = {"hook": [200e-9] * 9, "open": [3e-6] * 9, "page_writeback": [600e-9] * 9}
    monkeypatch.setattr(calibration, "find_tracer", lambda: tracer)
    monkeypatch.setattr(calibration, "function_times", lambda *_, **__: times)


def test_a_dry_run_says_what_is_written_into_tracefs(on_disk, traced):
    outcome = on_disk("calibrate", "data", "--ftrace", "--dry-run")
    assert "It would write in /sys/kernel/tracing, and put back at the end:\n" in outcome.stdout
    assert "\n  echo function_graph > current_tracer\nNothing was done.\n" in outcome.stdout
    plain = json.loads(on_disk("calibrate", "data", "--dry-run", "--json").stdout)
    found = json.loads(on_disk("calibrate", "data", "--ftrace", "--dry-run", "--json").stdout)
    assert (plain["ftrace"], found["ftrace"]["set_ftrace_filter"]) == (None, "do_writepages")
    assert found["written_bytes"] > plain["written_bytes"]


def test_costs_of_functions_are_in_the_file(on_disk, small, traced):
    outcome = on_disk("calibrate", "data", "--quick", "--ftrace")
    assert outcome.code == ExitCode.OK
    assert "pagecast calibrate data --quick --ftrace" in outcome.stdout
    assert re.search(r"^open = \"3000 ns\" ", outcome.stdout, re.MULTILINE)
    assert re.search(r"^page_writeback = \"600 ns\" ", outcome.stdout, re.MULTILINE)


def test_functions_are_timed_by_root_alone(on_disk, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    outcome = on_disk("calibrate", "data", "--ftrace")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--ftrace writes settings of the kernel's tracer, which needs root; use sudo" in outcome.stderr
    assert (outcome.stderr.count("\n"), os.listdir("data")) == (1, [])


@pytest.mark.parametrize("effort", ["--quick", "--thorough"])
def test_it_writes_a_machine_that_simulates(on_disk, small, effort):
    outcome = on_disk("calibrate", "data", effort, "-o", "m.toml")
    assert (outcome.code, outcome.stdout) == (ExitCode.OK, ""), outcome
    assert "pagecast: expects to write " in outcome.stderr
    assert "were written to the disk" in outcome.stderr
    document = tomllib.loads(Path("m.toml").read_text())
    [mount] = document["mount"]
    scenario = f"""\
        machine = {{ from = "m.toml" }}
        [[process]]
        name = "app"
        do = [ {{ write = "{mount.rstrip("/")}/f", size = "1 GB" }}, {{ read = "{mount.rstrip("/")}/f" }} ]
    """
    Path("s.toml").write_text(scenario)
    for command in (["check", "s.toml"], ["simulate", "s.toml", "--json"], ["machine", "show", "./m.toml"]):
        outcome = on_disk(*command)
        assert outcome.code == ExitCode.OK, outcome
        # Where the host takes free memory back, a forecast says from which it starts.
        notes = outcome.stderr.splitlines()
        assert all(note.startswith("Note: At time 0 the host of machine") for note in notes), outcome
    Path("m.toml").write_text(Path("m.toml").read_text().replace("cores = ", "cores = 1"))
    assert "was changed after it was calibrated" in on_disk("machine", "show", "./m.toml").stderr
    assert os.listdir("data") == []


def test_json_and_stdout(on_disk, small):
    found = json.loads(on_disk("calibrate", "data", "--quick", "--json").stdout)
    rows = {row["key"]: row for row in found["values"]}
    assert rows["disk.read"]["low"] <= rows["disk.read"]["value"] <= rows["disk.read"]["high"]
    assert len(found["machine_hash"]) == 64
    assert any("fsync" in row["source"] for row in found["figures"])
    assert tomllib.loads(on_disk("calibrate", "data", "--quick").stdout)["cores"] >= 1


def refused(outcome):
    """Give the one line that says why; nothing else was said or done."""
    assert (outcome.code, outcome.stdout) == (ExitCode.BAD_INPUT, ""), outcome
    [line] = outcome.stderr.splitlines()
    return line


def test_no_room(on_disk, monkeypatch):
    from dataclasses import replace

    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], device_bytes=1 << 60))
    line = refused(on_disk("calibrate", "data", "--quick"))
    assert "are free, and 1152921.51 TB would be written; make room" in line
    assert os.listdir("data") == []


def test_what_is_no_directory_or_not_there(on_disk):
    Path("file").write_text("x")
    assert "file: is no directory" in refused(on_disk("calibrate", "file"))
    assert "nowhere: there is no such file or directory" in refused(on_disk("calibrate", "nowhere"))
    os.symlink("loop", "loop")
    assert "loop: too many symbolic links" in refused(on_disk("calibrate", "loop"))


def test_memory_is_no_disk(pagecast):
    if not os.path.ismount("/dev/shm"):
        pytest.skip("there is no /dev/shm")
    line = refused(pagecast("calibrate", "/dev/shm"))
    assert "/dev/shm: is on tmpfs, which keeps its files in memory only" in line


def test_made_up_files_are_no_disk(pagecast):
    assert "/proc: " in refused(pagecast("calibrate", "/proc"))


def test_an_output_that_cannot_be_written_is_refused_first(on_disk):
    Path("there.toml").write_text("mine")
    assert "is there already" in refused(on_disk("calibrate", "data", "-o", "there.toml"))
    assert "cannot be written" in refused(on_disk("calibrate", "data", "-o", "no/where.toml"))
    assert "cannot be written" in refused(on_disk("calibrate", "data", "-o", "data", "--force"))
    assert Path("there.toml").read_text() == "mine"


def test_options_that_exclude_each_other(on_disk):
    assert "exclude each other" in refused(on_disk("calibrate", "data", "--quick", "--thorough"))


def test_without_rights(on_disk, small):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    on_disk("calibrate", "data", "--quick", "-o", "mine.toml")
    unprivileged = Unprivileged(on_disk)
    outcome = unprivileged("calibrate", "data", "--quick", "-o", "m.toml")
    assert outcome.code == ExitCode.OK, outcome
    assert Path("m.toml").stat().st_uid == NOBODY
    assert os.listdir("data") == []
    os.chown("data", 0, 0)
    outcome = unprivileged("calibrate", "data", "--quick", "-o", "n.toml")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "data: cannot be written to" in outcome.stderr


def test_a_read_only_file_system(on_disk):
    bound = subprocess.run(["mount", "--bind", "data", "data"], capture_output=True)
    if bound.returncode:
        pytest.skip("root may mount here, and nobody else")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", "data"], check=True)
        assert "data: cannot be written to" in refused(on_disk("calibrate", "data"))
    finally:
        subprocess.run(["umount", "data"], check=True)


def begun(folder):
    """Start a real one, and wait until it has files."""
    running = subprocess.Popen(
        [*COMMAND, "data", "--quick", "-o", "m.toml"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not any((folder / "data").glob("pagecast-calibrate-*/device")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return running


@pytest.mark.parametrize("ending", ENDINGS)
def test_whoever_ends_it_finds_no_files(on_disk, ending):
    stop(begun(on_disk.folder), ending)
    assert os.listdir("data") == []
    assert not Path("m.toml").exists()


def test_what_a_killed_one_left_is_removed_by_the_next(on_disk, small):
    running = begun(on_disk.folder)
    running.kill()
    running.communicate(timeout=60)
    Path("data/mine").write_text("x")
    assert len(os.listdir("data")) == 2
    assert on_disk("calibrate", "data", "--quick", "-o", "m.toml").code == ExitCode.OK
    assert os.listdir("data") == ["mine"]
