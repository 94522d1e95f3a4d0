"""``pagecast grid``: what it prints, and what it refuses."""

import json

import pytest

from pagecast.cli import grid as command
from pagecast.exit_codes import ExitCode
from pagecast.grid import TESTS

MACHINE = """\
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    (tmp_path / "m.toml").write_text(MACHINE)
    (tmp_path / "iozone.txt").write_text('"Reader report"\n        "4"\n"64"  3000000\n')
    monkeypatch.chdir(tmp_path)


def test_it_knows_all_tests():
    assert tuple(TESTS) == command.TESTS


def test_rates_are_shown(pagecast, machine):
    outcome = pagecast(
        "grid", "--machine", "m.toml", "--file", "64KiB..128KiB", "--record", "4KiB", "--test", "read"
    )
    assert outcome.code == ExitCode.OK
    lines = [line.split() for line in outcome.stdout.splitlines() if "KiB" in line]
    assert lines == [["64", "KiB", "4", "KiB", "4,000"], ["128", "KiB", "4", "KiB", "4,000"]]


def test_it_is_compared_with_iozone(pagecast, machine):
    outcome = pagecast("grid", "--machine", "m.toml", "--compare", "iozone.txt", "--json")
    document = json.loads(outcome.stdout)
    assert document["rows"]["source"] == ["kernel", "iozone.txt"]
    (error,) = document["errors"]
    assert (error["test"], error["n"], error["reference"]) == ("read", 1, "iozone.txt")
    assert error["mean_error"] == pytest.approx(3000000 * 1024 / 4e9 - 1, abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "name a machine (--machine), a directory to measure in (--dir), or a result (--compare)"),
        (["--machine", "m.toml", "--file", "1MiB..1KiB"], "holds no size; write for example 64KiB..512MiB"),
        (["--machine", "m.toml", "--file", "1..2"], "has no unit"),
        (["--machine", "m.toml", "--test", "walk"], "'walk' is not one of"),
        (["--compare", "none.txt"], "none.txt: there is no such file"),
    ],
)
def test_wrong_use_is_refused(arguments, what, pagecast, machine):
    outcome = pagecast("grid", *arguments)
    assert outcome.code == ExitCode.BAD_INPUT
    assert what in outcome.stderr
