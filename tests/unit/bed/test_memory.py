"""A command with less memory around. Nobody holds anything here: it would be all memory of this machine."""

import signal

import pytest

from bed import memory
from bed.packages import BedError


@pytest.fixture
def held(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "hold_all_but", lambda left_mib, undo: asked.append((left_mib, undo)))
    monkeypatch.setattr(memory, "held_bytes", lambda meminfo, left_mib: 0)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return asked


def test_a_command_runs_while_memory_is_held_and_its_exit_code_is_given(tmp_path, monkeypatch, held):
    monkeypatch.setattr("os.geteuid", lambda: 0)
    made = tmp_path / "made"
    assert memory.act([str(tmp_path), "--leave", "600", "--", "sh", "-c", f"touch {made}; exit 7"]) == 7
    assert [left_mib for left_mib, _ in held] == [600]
    assert made.exists()


def test_nothing_is_held_without_root(tmp_path, monkeypatch, held):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(BedError, match="needs root"):
        memory.act([str(tmp_path), "--", "true"])
    assert held == []
