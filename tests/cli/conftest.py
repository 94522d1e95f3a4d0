"""Runs the command line in a folder of its own and compares what it says with a snapshot.

`make golden` rewrites the snapshots; read the diff before you commit it.
"""

import io
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pagecast import Result, __version__
from pagecast.cli import cli
from pagecast.cli.failures import run

SNAPSHOTS = Path(__file__).parent / "snapshots"

SCENARIO = """\
models = ["wrench", "no-cache"]
[machine]
cores = 4
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
[[file]]
path = "/data/in"
size = "2 GB"
[[process]]
name = "app"
do = [
  { read = "/data/in" },
  { compute = "3 s" },
  { write = "/data/out", size = "1 GB" },
  { fsync = "/data/out" },
]
"""


@dataclass
class Outcome:
    """What a command left behind."""

    command: str
    code: int
    stdout: str
    stderr: str

    def text(self) -> str:
        """Give all of it as a snapshot, without what differs from run to run."""
        text = f"$ {self.command}\nexit code {self.code}\n--- stdout\n{self.stdout}--- stderr\n{self.stderr}"
        text = re.sub(r'(?<="machine_hash": ")[0-9a-f]{64}', "<hash>", text)
        return "".join(f"{line.rstrip()}\n" for line in text.replace(__version__, "<version>").splitlines())


class Pagecast:
    """The command line, in a folder with `scenario.toml`."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capfd = capfd

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run(cli, arguments)
        stdout, stderr = self._capfd.readouterr()
        return Outcome(" ".join(("pagecast", *arguments)), code, stdout, stderr)

    def left_behind(self) -> list[str]:
        """Give the names in the folder, hidden ones too."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def pagecast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Pagecast:
    """The command line, on a terminal-less screen of 130 columns, with a clock that stands still."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")
    monkeypatch.delenv("PAGECAST_DEBUG", raising=False)
    monkeypatch.setattr(Result, "wall_s", 0.00123)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return Pagecast(tmp_path, monkeypatch, capfd)


@pytest.fixture
def matches(request: pytest.FixtureRequest) -> object:
    """Compare an outcome with the snapshot that is called like the test."""

    def compare(outcome: Outcome) -> None:
        name = re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")
        path = SNAPSHOTS / f"{name}.txt"
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(outcome.text())
        assert outcome.text() == path.read_text()

    return compare
