"""`pagecast run` of fio jobs and straces: the same calls on the real kernel as in a forecast."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Pagecast
from tests.disk import folder_on_disk

JOB = """\
[global]
size=4m
directory=/data
[seq]
rw=read
bs=64k
filename=a
[rand]
stonewall
rw=randrw
bs=4k
filename=b
io_size=1m
{more}
"""

STRACE = """\
7 1700000000.000000 openat(AT_FDCWD</data>, "in", O_RDONLY) = 3</data/in> <0.000010>
7 1700000000.000100 openat(AT_FDCWD</data>, "out", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</data/out> <0.000010>
7 1700000000.000200 read(3</data/in>, "x"..., 65536) = 65536 <0.000010>
7 1700000000.000300 write(4</data/out>, "x"..., 65536) = 65536 <0.000010>
7 1700000000.000400 read(3</data/in>, "x"..., 65536) = 1000 <0.000010>
7 1700000000.000500 write(4</data/out>, "x"..., 1000) = 1000 <0.000010>
7 1700000000.000600 read(3</data/in>, ""..., 65536) = 0 <0.000010>
7 1700000000.000700 fsync(4</data/out>) = 0 <0.000010>
7 1700000000.000800 close(4</data/out>) = 0 <0.000010>
7 1700000000.000900 +++ exited with 0 +++
"""


@pytest.fixture
def there(pagecast: Pagecast) -> Iterator[Path]:
    """Give an empty directory on a disk."""
    (pagecast.folder / "there").mkdir()
    with folder_on_disk(pagecast.folder / "there") as folder:
        yield folder


def moved(pagecast: Pagecast, *arguments: str) -> dict[str, list[int]]:
    """Give how many reads and writes there were, and their bytes."""
    outcome = pagecast(*arguments, "--json")
    assert outcome.code == 0, outcome.stderr
    latency = json.loads(outcome.stdout)["runs"][0]["latency"]
    sums: dict[str, list[int]] = {"read": [0, 0], "write": [0, 0]}
    for kind, count, size in zip(latency["operation"], latency["count"], latency["bytes"], strict=True):
        if kind in sums:
            sums[kind][0] += count
            sums[kind][1] += size
    return sums


def job(pagecast: Pagecast, more: str = "") -> str:
    """Write a job file."""
    (pagecast.folder / "job.fio").write_text(JOB.format(more=more))
    return "job.fio"


@pytest.mark.parametrize("more", ["", "ioengine=libaio\ndirect=1\niodepth=4"])
def test_a_fio_job_makes_the_calls_of_its_forecast(pagecast: Pagecast, there: Path, more: str) -> None:
    real = moved(pagecast, "run", job(pagecast, more), "--dir", str(there))
    assert list(there.iterdir()) == []
    forecast = moved(pagecast, "simulate", "job.fio", "--machine", "wrench-cluster", "--model", "kernel")
    assert real == forecast
    assert real["read"][0] + real["write"][0] == 64 + 256


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_a_fio_job_makes_the_calls_of_fio(pagecast: Pagecast, there: Path) -> None:
    real = moved(pagecast, "run", job(pagecast), "--dir", str(there))
    own = there / "own.fio"
    own.write_text(JOB.format(more="").replace("/data", str(there)))
    command = ["fio", "--output-format=json", str(own)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    fio: Any = json.loads(answer.stdout)
    for kind, (count, size) in real.items():
        sides = [each[kind] for each in fio["jobs"]]
        assert sum(side["total_ios"] for side in sides) == count
        assert sum(side["io_bytes"] for side in sides) == size


def test_an_strace_is_done_again(pagecast: Pagecast, there: Path) -> None:
    (pagecast.folder / "copy.strace").write_text(STRACE)
    done = moved(pagecast, "run", "copy.strace", "--dir", str(there), "--pace", "fast")
    assert list(there.iterdir()) == []
    assert (done["read"][1], done["write"]) == (66_536, [2, 66_536])


def test_block_traces_are_refused(pagecast: Pagecast, there: Path) -> None:
    (pagecast.folder / "disk.csv").write_text("128166372003061629,hm,1,Read,383496192,32768,413\n")
    outcome = pagecast("run", "disk.csv", "--format", "msr", "--dir", str(there))
    assert outcome.code == 2
    assert "whose requests are to a device and not to files" in outcome.stderr
