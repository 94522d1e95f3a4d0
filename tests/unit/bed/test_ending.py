"""What a command has started ends with it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bed.ending import run_to_the_end, undisturbed

ROOT = Path(__file__).parents[3]


def is_alive(pid):
    """Say whether a process is there and not merely not yet taken away."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("leaves", ["sleep 60", "setsid sleep 60", "sh -c \"trap '' TERM; sleep 60 & wait\""])
def test_what_is_left_in_the_background_ends(leaves, tmp_path):
    script = f"{leaves} & echo $! > {tmp_path}/pid; exit 3"
    assert run_to_the_end(["sh", "-c", script], os.environ, grace_s=0.5) == 3
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_what_was_there_before_stays(tmp_path):
    with subprocess.Popen(["sleep", "60"]) as other:
        assert run_to_the_end(["true"], os.environ) == 0
        assert is_alive(other.pid)
        other.kill()


def test_a_signal_ends_the_command_and_its_children(tmp_path):
    code = (
        "import os, signal, sys; from bed.ending import run_to_the_end\n"
        "signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))\n"
        f"run_to_the_end(['sh', '-c', 'sleep 60 & echo $! > {tmp_path}/pid; echo ready; wait'], os.environ)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_undoing_is_not_stopped():
    before = signal.getsignal(signal.SIGINT)
    with undisturbed():
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.01)
    assert signal.getsignal(signal.SIGINT) == before
