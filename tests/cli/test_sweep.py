"""``pagecast sweep``: what it prints, keeps and draws, and how it ends."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from pagecast.cli.progress import Progress
from pagecast.exit_codes import ExitCode
from tests.cli.stopping import ENDINGS

SCENARIO = """\
models = ["kernel"]
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
[[process]]
name = "app"
do = [ { write = "/data/out", size = "1 GB" }, { fsync = "/data/out" } ]
"""

LONG = SCENARIO.replace("do = [", 'do = [ { repeat = 150, do = [ { write = "/data/a", size = "1 GB" } ] },')

ARGUMENTS = (
    *("sweep", "small.toml", "--vary", "machine.vm.dirty_bytes=64MB..1GB:log:3", "--workers", "1"),
    *("--measure", "p99(app fsync)", "--measure", "makespan"),
)


@pytest.fixture
def swept(pagecast):
    """The command line, with a small scenario."""
    (pagecast.folder / "small.toml").write_text(SCENARIO)
    (pagecast.folder / "long.toml").write_text(LONG)
    return pagecast


def test_sweep_prints_a_table(swept, matches):
    matches(swept(*ARGUMENTS))


def test_help_of_sweep(swept, matches):
    matches(swept("sweep", "--help"))


def test_help_of_sweep_run(swept, matches):
    matches(swept("sweep", "run", "--help"))


def test_run_may_be_left_out(swept):
    assert swept("sweep", "run", *ARGUMENTS[1:]).stdout == swept(*ARGUMENTS).stdout


def test_json(swept):
    document = json.loads(swept(*ARGUMENTS, "--json").stdout)
    assert document["schema_version"] == 1
    assert document["rows"]["vm_dirty_bytes"] == [64_000_000, 253_000_000, 1_000_000_000]
    assert document["design"]["axes"][0]["key"] == "machine.vm.dirty_bytes"
    assert document["measures"][0] == {"column": "p99_app_fsync_s", "measure": "p99(app fsync)", "unit": "s"}
    assert document["rows"]["error"] == ["", "", ""]


def test_csv(swept):
    rows = list(csv.DictReader(io.StringIO(swept(*ARGUMENTS, "--csv").stdout)))
    assert [row["point"] for row in rows] == ["0", "1", "2"]
    assert float(rows[0]["makespan_s"]) > 0


def test_points_that_fail_are_said(swept):
    outcome = swept("sweep", "small.toml", "--vary", "machine.disk.ssd.size=500MB,100GB", "--workers", "1")
    assert outcome.code == ExitCode.OK
    assert "Note: 1 of 2 points failed; the first one: " in outcome.stderr
    assert "error" in outcome.stdout


def test_all_that_fail_are_a_failure(swept):
    outcome = swept("sweep", "small.toml", "--vary", "machine.disk.ssd.size=400MB,500MB", "--workers", "1")
    assert outcome.code == ExitCode.SIMULATION_FAILED
    assert "all 2 points failed; the first one: " in outcome.stderr


def test_it_reads_standard_input(swept):
    text = f'{SCENARIO}[sweep.vary]\nmachine.cores = "1,2"\n'
    outcome = swept("sweep", "-", "--workers", "1", "--csv", stdin=text.encode())
    assert outcome.code == ExitCode.OK
    assert len(outcome.stdout.splitlines()) == 3


def test_it_sweeps_a_fio_job_on_a_machine(swept):
    (swept.folder / "job.fio").write_text("[a]\nrw=write\nbs=1M\nsize=1G\ndirectory=/data\nend_fsync=1\n")
    machine = SCENARIO.split("[[process]]")[0].replace('models = ["kernel"]\n', "")
    (swept.folder / "m.toml").write_text(machine)
    asked = ("sweep", "job.fio", "--vary", "machine.vm.dirty_bytes=64MB,1GB", "--workers", "1", "--csv")
    assert "a workload (fio) needs a machine; add --machine FILE" in swept(*asked).stderr
    outcome = swept(*asked, "--machine", "m.toml", "--measure", "rate(* write)")
    assert outcome.code == ExitCode.OK, outcome.stderr
    assert outcome.stdout.startswith("point,vm_dirty_bytes,rate_all_write_bytes_per_s,error\n")


def test_it_keeps_asks_and_draws(swept):
    outcome = swept(*ARGUMENTS, "--out", "results", "--plot", "lines.svg")
    assert outcome.stderr == "Results are in results\nThe picture is lines.svg\n"
    assert (swept.folder / "lines.svg").read_bytes().startswith(b"<?xml")
    best = swept("sweep", "query", "results", "--csv", "select point from sweep order by makespan_s limit 1")
    assert best.stdout == "point\n0\n"
    asked = swept("sweep", "query", "results", "--json", "select point, error from sweep")
    assert json.loads(asked.stdout)["rows"] == {"point": [0, 1, 2], "error": [None] * 3}
    table = swept("sweep", "query", "results", "select vm_dirty_bytes from sweep limit 1")
    assert "64 MB" in table.stdout
    drawn = swept("sweep", "plot", "results", "--kind", "pareto")
    assert drawn.stderr == "The picture is results.png\n"
    assert (swept.folder / "results.png").read_bytes().startswith(b"\x89PNG")


def test_many_points_are_not_all_shown(swept):
    asked = ("sweep", "small.toml", "--vary", "machine.cores=1..50:50", "--workers", "1")
    outcome = swept(*asked)
    assert "10 more points; --all shows them, --out keeps them" in outcome.stdout
    assert len(swept(*asked, "--all").stdout.splitlines()) == len(outcome.stdout.splitlines()) + 9


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["small.toml"], "nothing is varied; add --vary KEY=VALUES"),
        (["small.toml", "--vary", "machine.cores"], "--vary machine.cores: write KEY=VALUES"),
        (["small.toml", "--vary", "a=1", "--vary", "a=2"], "--vary a is there twice"),
        (
            ["small.toml", "--vary", "machine.cors=1,2"],
            "unknown key `cors` in [machine]; did you mean `cores`?",
        ),
        (["small.toml", "--vary", "machine.cores=1..9"], "how many values?"),
        (["none.toml", "--vary", "machine.cores=1,2"], "none.toml: there is no such file"),
        (["small.toml", "--vary", "machine.cores=1,2", "--json", "--csv"], "exclude each other"),
        (
            ["small.toml", "--vary", "machine.cores=1,2", "--plot", "x.gif"],
            "a picture ends in .png, .svg, .pdf",
        ),
        (["small.toml", "--vary", "machine.cores=1,2", "--on", "moon"], "`moon` is no place for a sweep"),
        (["small.toml", "--vary", "machine.cores=1,2", "--measure", "x"], "measure `x`: there is no `x`"),
        (["query", "nowhere", "select 1"], "nowhere: holds no sweep; make one with"),
        (["plot", "nowhere"], "nowhere: holds no sweep; make one with"),
    ],
)
def test_wrong_use_is_refused(arguments, what, swept):
    outcome = swept("sweep", *arguments)
    assert outcome.code == ExitCode.BAD_INPUT
    assert what in outcome.stderr
    assert outcome.stdout == ""


HOSTILE = {
    "--vary": [
        *("machine.cores=1e400..2:3", "machine.cores=nan..5:3", "machine.cores=1..9999999999999999999999:3"),
        *("machine.cores=1..5:99999999999999999999", "machine.cores='a,b", f"machine.cores={'1' * 5000},2"),
        *("machine.cores=..", "machine.cores=1..2..3:3", "machine.cores=\x00,1", "=", "==", "models=1,2"),
        *("machine.memory.size=0B..1B:5", "machine.memory.size=9999999999 TB,1GB", f"{'x' * 3000}=1,2"),
    ],
    "--measure": [
        *("p(", "p99(a b c d)", "p1e5(a b)", "p99.99999999999999999999(app write)", "p0.0000001(app write)"),
        *(
            "p99(a\x00 b)",
            "share(,)",
            "peak()",
            "x = y = at_risk",
            "point = makespan",
            "p99(" + "*" * 3000 + " a)",
        ),
    ],
    "--sample": ["latin:0", "latin:-1", "latin:99999999999999", "latin:3:99999999999999999999999", "latin"],
}


@pytest.mark.parametrize("option", HOSTILE)
def test_hostile_values_are_no_mistake_of_ours(option, swept):
    for value in HOSTILE[option]:
        more = () if option == "--vary" else ("--vary", "machine.cores=1,2")
        outcome = swept("sweep", "small.toml", "--workers", "1", *more, option, value)
        assert outcome.code in (ExitCode.OK, ExitCode.BAD_INPUT), value
        assert outcome.stderr.count("\n") <= 1, value


@pytest.mark.parametrize(
    "table",
    [
        *(
            "vary = { a = 2020-01-01 }",
            'vary = { "machine.cores" = [1, [2]] }',
            'vary = { "machine.cores" = nan }',
        ),
        *('vary = """\n[machine]\n"""', "measure = [ 1 ]", "[sweep.vary.x.y]\nz = 1", "vary = {", "\x00"),
    ],
)
def test_hostile_tables_are_no_mistake_of_ours(table, swept):
    (swept.folder / "table.toml").write_text(f"{SCENARIO}[sweep]\n{table}\n")
    outcome = swept("sweep", "table.toml", "--workers", "1")
    assert outcome.code == ExitCode.BAD_INPUT
    assert outcome.stderr.count("\n") == 1


def test_an_option_that_the_figure_does_not_have(swept):
    swept(*ARGUMENTS, "--out", "results")
    outcome = swept("sweep", "plot", "results", "--kind", "tornado", "--x", "a")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "tornado has no --x; it has --value" in outcome.stderr


def test_another_sweep_in_the_directory(swept):
    swept(*ARGUMENTS, "--out", "results")
    outcome = swept(*ARGUMENTS, "--seed", "3", "--out", "results")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "results: holds another sweep" in outcome.stderr
    assert swept(*ARGUMENTS, "--seed", "3", "--out", "results", "--force").code == ExitCode.OK


def test_a_directory_that_cannot_be_written(swept):
    outcome = swept(*ARGUMENTS, "--out", "/proc/results")
    assert outcome.code == ExitCode.BAD_INPUT
    assert "/proc/results: cannot be used" in outcome.stderr


def begun(folder, *more):
    """Start a sweep of a hundred points and wait for the first ones."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pagecast", "sweep", "long.toml", "--out", "results", *more),
            *("--vary", "machine.vm.dirty_bytes=64MB..1GB:log:100"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    until = time.monotonic() + 60
    while len(list((folder / "results").glob("points/part-*"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    return process


@pytest.mark.parametrize(("ending", "workers"), [(signal.SIGINT, "1"), *((each, "2") for each in ENDINGS)])
def test_ctrl_c_keeps_what_is_there(ending, workers, swept):
    process = begun(swept.folder, "--workers", workers)
    process.send_signal(ending)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "points under kernel" in stdout
    assert "of 100 points are in results; the same command goes on there" in stderr
    assert stderr.endswith("\npagecast: interrupted\n")
    kept = len(list((swept.folder / "results").glob("points/part-*")))
    assert kept >= 2
    assert f"Stopped: {kept} of 100 points" in stderr
    assert not [name for name in os.listdir(swept.folder / "results" / "points") if name.startswith(".")]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_prints_the_rows_that_are_there(workers, swept, monkeypatch):
    def interrupt(progress, fraction, what):
        if what.startswith("3 of 10 points"):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "part", interrupt)
    outcome = swept("sweep", "small.toml", "--vary", "machine.cores=1..10:10", "--csv", "--workers", workers)
    assert outcome.code == ExitCode.INTERRUPTED
    rows = list(csv.DictReader(io.StringIO(outcome.stdout)))
    assert len(rows) == 3
    assert all(float(row["makespan_s"]) > 0 for row in rows)
    assert outcome.stderr == (
        "\nStopped: 3 of 10 points are done; --out keeps them\n\npagecast: interrupted\n"
    )


def test_ctrl_c_before_the_first_row(swept, monkeypatch):
    def interrupt(progress, fraction, what):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "part", interrupt)
    outcome = swept("sweep", "small.toml", "--vary", "machine.cores=1..10:10")
    assert (outcome.code, outcome.stdout) == (ExitCode.INTERRUPTED, "")
    assert outcome.stderr == "\npagecast: interrupted\n"


def test_a_killed_sweep_leaves_whole_parts_and_no_process(swept):
    process = begun(swept.folder, "--workers", "2")
    children = workers_of(process.pid)
    assert len(children) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    until = time.monotonic() + 30
    while any(os.path.exists(f"/proc/{child}") for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert swept("sweep", "query", "results", "select count(*) from sweep").code == ExitCode.OK


def workers_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()
