"""Recordings of strace, made here: bytes equal those that the kernel counts."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pagecast as pc
from pagecast.workloads import Reading

PROGRAM = """
import os
data = open("in", "rb").read()
with open("out", "wb") as out:
    out.write(data)
    out.flush()
    os.fsync(out.fileno())
os.rename("out", "renamed")
if os.fork() == 0:
    open("renamed", "rb").read()
    os._exit(0)
os.wait()
print(open("/proc/self/io").read())
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Give a recording of a program, and what the kernel has counted of its first process."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    folder = tmp_path_factory.mktemp("strace")
    (folder / "in").write_bytes(bytes(3_000_000))
    (folder / "program.py").write_text(PROGRAM)
    command = ["strace", "-f", "-ttt", "-T", "-y", "-o", "run.strace"]
    done = subprocess.run(
        [*command, sys.executable, "-S", "-E", "program.py"], cwd=folder, capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"strace cannot trace here: {done.stderr.strip()[-200:]}")
    counted = dict(line.split(": ") for line in done.stdout.strip().splitlines())
    return folder / "run.strace", {key: int(value) for key, value in counted.items()}


def noted(scenario: pc.Scenario, pattern: str) -> int:
    """Sum the numbers that the notes of a trace tell."""
    notes = [text for _, _, all_notes in scenario.sources for _, text in all_notes]
    found = (re.match(pattern, text) for text in notes)
    return sum(int(each[1]) for each in found if each)


def elsewhere(scenario: pc.Scenario, direction: str) -> int:
    return noted(scenario, rf"(\d+) B {direction}")


def test_bytes_are_those_that_the_kernel_counts(recorded: tuple[Path, dict[str, int]]) -> None:
    trace, counted = recorded
    scenario = pc.Scenario.from_workload(trace, machine="wrench-cluster")
    latency = pc.simulate(scenario).latency
    moved = {
        kind: sum(
            int(size)
            for name, size in zip(latency["operation"], latency["bytes"], strict=True)
            if name == kind
        )
        for kind in ("read", "write")
    }
    # The kernel adds those of a child that was waited for; what is read to print the numbers is not in them.
    assert moved["read"] >= 6_000_000
    total = moved["read"] + elsewhere(scenario, "read from")
    assert total == pytest.approx(counted["rchar"], abs=2_000)
    assert moved["write"] == 3_000_000


COMMANDS = {
    "cp": ["cp", "in", "copy"],
    "dd": ["dd", "if=in", "of=copy", "bs=7000", "conv=fsync", "status=none"],
    "sort": ["sort", "-S", "1M", "--parallel=2", "-o", "copy", "lines"],
    "tar": ["tar", "cf", "copy", "in", "lines"],
    "sqlite3": ["sqlite3", "db", "pragma journal_mode=wal; create table t(a); insert into t values(1);"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_calls_and_bytes_of_ordinary_programs_are_those_that_the_kernel_counts(
    tmp_path: Path, name: str
) -> None:
    if shutil.which("strace") is None or shutil.which(name) is None:
        pytest.skip(f"strace or {name} is not installed")
    (tmp_path / "in").write_bytes(bytes(range(250)) * 20_000)
    (tmp_path / "lines").write_text("".join(f"{line * 7919 % 100_003}\n" for line in range(100_000)))
    # Before it is the command, the process is strace.
    own = excess(["true"], tmp_path)
    assert excess(COMMANDS[name], tmp_path) == own


def excess(command: list[str], folder: Path) -> dict[str, int]:
    """Trace a command; give how many calls and bytes the kernel has counted beyond those of the recording."""
    counted = traced(command, folder)
    reading = Reading(system_files=True, files_in="/data")
    scenario = pc.Scenario.from_workload(folder / "run.strace", machine="wrench-cluster", reading=reading)
    operations = pc.simulate(scenario, model="no-cache").operations
    rows = list(zip(operations["operation"], operations["bytes"], strict=True))
    for kind, direction, char, call in (
        ("read", "read from", "rchar", "syscr"),
        ("write", "written to", "wchar", "syscw"),
    ):
        sizes = [int(size) for name, size in rows if name in (kind, "copy")]
        counted[char] -= sum(sizes) + elsewhere(scenario, direction)
        counted[call] -= len(sizes) + noted(scenario, rf"\d+ B {direction} .*\((\d+) call")
    return {key: counted[key] for key in ("rchar", "wchar", "syscr", "syscw")}


def traced(command: list[str], folder: Path) -> dict[str, int]:
    """Run a command under strace; give what the kernel has counted of it when it has ended."""
    strace = ["strace", "-D", "-f", "-ttt", "-T", "-y", "-o", "run.strace"]
    with subprocess.Popen(
        [*strace, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        text = Path(f"/proc/{process.pid}/io").read_text()
        assert process.stderr is not None
        said = process.stderr.read().decode()
        if process.wait() != 0:
            pytest.skip(f"strace cannot trace here: {said.strip()[-200:]}")
    # strace is a grandchild, and may end after the command.
    for _ in range(1000):
        if "+++ exited" in (folder / "run.strace").read_text(errors="replace").rsplit("\n", 2)[-2]:
            break
        time.sleep(0.01)
    return {key: int(value) for key, value in (line.split(": ") for line in text.splitlines())}


def test_time_between_calls_can_be_left_out(recorded: tuple[Path, dict[str, int]]) -> None:
    trace, _ = recorded
    whole = pc.Scenario.from_workload(trace, machine="wrench-cluster")
    fast = pc.Scenario.from_workload(trace, machine="wrench-cluster", reading=Reading(pace="fast"))
    assert pc.simulate(fast).end_s < pc.simulate(whole).end_s


def test_a_child_is_a_process_of_its_own(recorded: tuple[Path, dict[str, int]]) -> None:
    scenario = pc.Scenario.from_workload(recorded[0], machine="wrench-cluster")
    assert len(scenario.processes) == 2
    result = pc.simulate(scenario)
    assert "rename" in result.operations["operation"]
