"""A log that fio writes has the requests that fio reports."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pagecast.recordings import read
from pagecast.workloads import Reading

JOB = """\
[global]
ioengine=psync
size=256k
bs=4k-16k
fsync=4
write_iolog=log
[a]
rw=randrw
"""


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_requests_and_bytes_are_those_of_fio(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOB)
    answer = subprocess.run(
        ["fio", "job.fio", "--output-format=json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    job = json.loads(answer.stdout)["jobs"][0]
    (batch,) = read(tmp_path / "log", Reading()).batches()
    for op in ("read", "write"):
        sizes = [size for name, size in zip(batch["op"], batch["bytes"], strict=True) if name == op]
        assert (len(sizes), sum(sizes)) == (job[op]["total_ios"], job[op]["io_bytes"])
    assert batch["op"].count("fsync") == job["sync"]["total_ios"]
    assert batch["time_s"] == sorted(batch["time_s"])
    assert batch["time_s"][-1] * 1000 <= job["job_runtime"] + 1
