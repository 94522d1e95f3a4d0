"""Cases recorded on this kernel. Needs root, zram, the controller blkio of cgroup v1, and cargo."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bed import disk
from bed.__main__ import main
from bed.packages import BedError
from pagecast.studies import live_kernel
from tests.unit.bed.test_real_disk import state

try:
    disk.check()
except BedError as error:
    pytest.skip(str(error), allow_module_level=True)

ROOT = Path(__file__).parents[3]
STEPS = """\
mark write
open 0 MNT/f wct
write 0 0 64m 1m
fsync 0
close 0
stat after MNT/f
unlink MNT/f
sync
"""


@pytest.fixture(scope="module")
def built():
    """Build the player as Rust tests are built; the bed's own build takes a minute."""
    words = ["cargo", "build", "--quiet", "--locked", "--package", "pagecast-player"]
    subprocess.run(words, cwd=ROOT, check=True)
    return ROOT / "target" / "debug" / "pagecast-player"


@pytest.fixture
def player(built, monkeypatch):
    monkeypatch.setattr("bed.host.build_player", lambda _, player: shutil.copy(built, player))


@pytest.mark.usefixtures("player")
def test_cases_are_recorded_judged_and_nothing_stays(tmp_path, capsys):
    before = state()
    case = tmp_path / "short.pct"
    case.write_text(STEPS)
    folder = tmp_path / "bed"
    assert main(["host", str(folder), "m_memory", str(case), "--write", "100", "--repetitions", "1"]) == 0
    assert "reproduce live-kernel" in capsys.readouterr().out
    assert state() == before
    assert not (folder / "undo.json").exists()

    (recorded,) = (folder / "recordings").iterdir()
    for name in ("machine.toml", "platform.txt", "io.csv.gz", "mem.csv.gz", "cases/short.pct"):
        assert (recorded / name).exists(), name
    found = live_kernel.run(data=recorded, machine=str(recorded / "machine.toml"), models=["kernel"])
    (total,) = (
        row for row in found.to_json()["rows"] if (row["case"], row["operation"]) == ("short", "total")
    )
    # 64 MiB at 100 MiB/s, but for what the throttle lets pass at first.
    assert 0.2 < total["measured_s"] < 2.0
    assert 0.2 < total["forecast_s"] < 2.0


@pytest.mark.usefixtures("player")
def test_a_case_that_cannot_be_played_is_said_and_nothing_stays(tmp_path, capsys):
    before = state()
    case = tmp_path / "bad.pct"
    case.write_text("jump 1\n")
    assert main(["host", str(tmp_path / "bed"), str(case), "--repetitions", "1"]) == 1
    assert "bed: bad: " in capsys.readouterr().err
    assert state() == before
