"""``--uncertain``: what is printed and saved, and what is refused."""

import csv
import json
import signal
import subprocess
import sys
import time

import pytest

from pagecast.exit_codes import ExitCode
from tests.cli.stopping import stop

SCENARIO = """\
models = ["kernel"]
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
uncertainty = { "disk.ssd.write" = "10 %", "memory.write" = "5 %" }
[[process]]
name = "app"
do = [ { write = "/data/out", size = "1 GB" }, { fsync = "/data/out" } ]
"""


@pytest.fixture
def command(pagecast, monkeypatch):
    """The command line, with a small scenario, and errors of the model that never change."""
    from pagecast.uncertainty import model_error, simulating

    learned = [
        model_error.Learned.of("p", "read", [("a", 0.1), ("b", -0.1)]),
        model_error.Learned.of("q", "synchronous", [("a", 0.05), ("b", -0.02), ("c", 0.0)]),
    ]
    monkeypatch.setattr(simulating, "shipped", lambda: model_error.ModelError(tuple(learned)))
    (pagecast.folder / "small.toml").write_text(SCENARIO)
    return pagecast


def test_uncertain_prints_ranges(command, matches):
    matches(command("simulate", "small.toml", "--uncertain", "20"))


def test_uncertain_says_that_values_are_exact(command):
    lines = [line for line in SCENARIO.splitlines() if not line.startswith("uncertainty")]
    (command.folder / "exact.toml").write_text("\n".join(lines))
    outcome = command("simulate", "exact.toml", "--uncertain", "10")
    assert "The values of the machine are taken as exact" in outcome.stdout
    assert "`pagecast calibrate` writes it" in outcome.stdout


def test_uncertain_says_when_no_error_is_known(command):
    outcome = command("simulate", "small.toml", "--model", "no-cache", "--uncertain", "10")
    assert "Ranges of no-cache hold no error of the model: none was learned." in outcome.stdout


def test_uncertain_is_in_json(command):
    outcome = command("simulate", "small.toml", "--uncertain", "10", "--json")
    [run] = json.loads(outcome.stdout)["runs"]
    assert run["uncertain"]["draws"] == 10
    assert run["uncertain"]["platforms"] == 2
    assert run["ranges"]["measure"][0] == "makespan"
    assert run["ranges"]["low"][0] < run["ranges"]["high"][0]


def test_uncertain_saves_tables_and_a_report(command):
    outcome = command("simulate", "small.toml", "--uncertain", "10", "--out", "results")
    assert outcome.code == ExitCode.OK
    folder = command.folder / "results" / "kernel"
    with (folder / "ranges.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["measure"] == "makespan"
    assert {"level_bands.csv", "latency_bands.csv"} <= {path.name for path in folder.iterdir()}


def test_without_it_nothing_changes(command):
    plain = command("simulate", "small.toml", "--json")
    [run] = json.loads(plain.stdout)["runs"]
    assert not {"uncertain", "ranges", "level_bands", "latency_bands"} & set(run)


@pytest.mark.parametrize("draws", ["0", "1", "-3", "10001", "many"])
def test_draws_that_make_no_range_are_refused(command, draws):
    outcome = command("simulate", "small.toml", "--uncertain", draws)
    assert outcome.code == ExitCode.BAD_INPUT
    assert "--uncertain" in outcome.stderr


def test_a_study_without_ranges_refuses_them(command):
    outcome = command("reproduce", "nvme-note", "--uncertain", "10", "--json")
    assert outcome.code != ExitCode.OK
    assert "nvme-note has no ranges; leave --uncertain 10 out" in outcome.stderr


def test_a_study_without_kinds_teaches_nothing(command):
    outcome = command("reproduce", "nvme-note", "--learn", "errors.csv", "--json")
    assert outcome.code != ExitCode.OK
    assert "nothing to learn" in outcome.stderr
    assert not (command.folder / "errors.csv").exists()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_draws_can_be_stopped(command, threads):
    long = SCENARIO.replace(
        "do = [", 'do = [ { repeat = 150, do = [ { write = "/data/a", size = "1 GB" } ] },'
    )
    (command.folder / "long.toml").write_text(long)
    arguments = ("simulate", "long.toml", "--uncertain", "5000", "--threads", threads)
    process = subprocess.Popen(
        [sys.executable, "-m", "pagecast", *arguments],
        cwd=command.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(4)
    assert process.poll() is None
    stop(process, signal.SIGINT)
