"""Real runs of fio's job files, of strace's recordings and of descriptors."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import pagecast as pc
from tests.disk import folder_on_disk

FIO = shutil.which("fio")

JOB = """\
[global]
directory={folder}
bs=4k
size=1m
[seq]
rw=read
[rand]
stonewall
rw=randread
[write]
stonewall
rw=write
fsync=32
"""

DD = """\
71 1700000000.000000 execve("/usr/bin/dd", ["dd"], 0x7f /* 9 vars */) = 0 <0.000300>
71 1700000000.001000 openat(AT_FDCWD</data>, "a", O_RDONLY) = 3</data/a> <0.000020>
71 1700000000.001100 dup2(3</data/a>, 0</dev/null>) = 0</data/a> <0.000005>
71 1700000000.001200 close(3</data/a>) = 0 <0.000005>
71 1700000000.001300 openat(AT_FDCWD</data>, "b", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</data/b> <0.000050>
71 1700000000.001400 dup2(3</data/b>, 1</dev/null>) = 1</data/b> <0.000005>
71 1700000000.001500 close(3</data/b>) = 0 <0.000005>
71 1700000000.001600 read(0</data/a>, ""..., 65536) = 65536 <0.000040>
71 1700000000.001700 write(1</data/b>, ""..., 65536) = 65536 <0.000050>
71 1700000000.001800 read(0</data/a>, ""..., 65536) = 34464 <0.000040>
71 1700000000.001900 write(1</data/b>, ""..., 34464) = 34464 <0.000050>
71 1700000000.002000 read(0</data/a>, ""..., 65536) = 0 <0.000005>
71 1700000000.002100 close(0</data/a>) = 0 <0.000005>
71 1700000000.002200 close(1</data/b>) = 0 <0.000005>
71 1700000000.002300 +++ exited with 0 +++
"""


@pytest.fixture
def there(tmp_path):
    """A directory on a disk."""
    with folder_on_disk(tmp_path) as folder:
        place = folder / "there"
        place.mkdir()
        yield place
        assert list(place.iterdir()) == [], "nothing is left"


def moved(workload: Path, there: Path) -> tuple[Counter, Counter]:
    """Run a workload; give the calls and the bytes of each process and kind of operation."""
    scenario = pc.Scenario.from_workload(workload, machine="wrench-cluster")
    table = pc.run(scenario, dir=there).operations
    calls, size = Counter(), Counter()
    columns = (table[name] for name in ("process", "operation", "bytes"))
    for process, operation, count in zip(*columns, strict=True):
        calls[process, operation] += 1
        size[process, operation] += int(count)
    return calls, size


@pytest.mark.skipif(FIO is None, reason="fio is not installed")
def test_a_job_moves_what_fio_moves(there, tmp_path):
    (tmp_path / "own.fio").write_text(JOB.format(folder="/data"))
    calls, size = moved(tmp_path / "own.fio", there)
    data = tmp_path / "of_fio"
    data.mkdir()
    (tmp_path / "fio.fio").write_text(JOB.format(folder=data))
    command = [FIO, "--output-format=json", f"--output={tmp_path / 'report'}", tmp_path / "fio.fio"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    jobs = {job["jobname"]: job for job in json.loads((tmp_path / "report").read_text())["jobs"]}
    assert len(jobs) == 3
    for name, job in jobs.items():
        for kind in ("read", "write"):
            assert calls[name, kind] == job[kind]["total_ios"]
            assert size[name, kind] == job[kind]["io_bytes"]
        assert calls[name, "fsync"] == job["sync"]["total_ios"]


def test_a_recording_of_dd_moves_its_bytes(there, tmp_path):
    (tmp_path / "dd.strace").write_text(DD)
    calls, size = moved(tmp_path / "dd.strace", there)
    assert (size["dd.71", "read"], size["dd.71", "write"]) == (100_000, 100_000)
    assert calls["dd.71", "write"] == 2


def test_a_job_of_a_rate_does_not_sleep_after_its_runtime(there, tmp_path):
    job = "[j]\ndirectory=/data\nrw=read\nsize=64k\nbs=4k\ntime_based\nruntime=1\nrate_iops=100\n"
    (tmp_path / "rate.fio").write_text(job)
    scenario = pc.Scenario.from_workload(tmp_path / "rate.fio", machine="wrench-cluster")
    table = pc.run(scenario, dir=there).operations
    assert sum(operation == "read" for operation in table["operation"]) >= 100
    assert "sleep" not in table["operation"], "the rate alone fills the time"


def test_duplicated_descriptors_share_their_position(there, tmp_path):
    (tmp_path / "twice.toml").write_text("""\
[machine]
from = "wrench-cluster"
[[file]]
path = "/data/in"
size = "100 kB"
[[process]]
name = "app"
do = [
    { open = "/data/in", fd = 3 },
    { dup = "/data/in", fd = 3, to_fd = 4 },
    { read = "/data/in", fd = 3, size = "60 kB" },
    { close = "/data/in", fd = 3 },
    { read = "/data/in", fd = 4, size = "60 kB" },
]
""")
    result = pc.run(pc.Scenario.load(tmp_path / "twice.toml"), dir=there)
    assert result.operations["bytes"].tolist() == [0, 0, 60_000, 0, 40_000]
