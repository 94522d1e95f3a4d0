"""`pagecast run` of fio jobs that mind each other: `exitall`, `flow` and `steadystate` on the real kernel."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Pagecast
from tests.disk import folder_on_disk

HEAD = """\
[global]
directory=/data
size=1m
bs=4k
rw=randread
"""


@pytest.fixture
def there(pagecast: Pagecast) -> Iterator[Path]:
    """Give an empty directory on a disk."""
    (pagecast.folder / "there").mkdir()
    with folder_on_disk(pagecast.folder / "there") as folder:
        yield folder


def reads(pagecast: Pagecast, jobs: str, *arguments: str) -> Counter[str]:
    """Give the number of reads of each job."""
    (pagecast.folder / "job.fio").write_text(HEAD + jobs)
    outcome = pagecast(*arguments, "--json", "--record", "histogram")
    assert outcome.code == 0, outcome.stderr
    latency = json.loads(outcome.stdout)["runs"][0]["latency"]
    found: Counter[str] = Counter()
    columns = (latency[name] for name in ("process", "operation", "count"))
    for process, operation, count in zip(*columns, strict=True):
        found[process] += count * (operation == "read")
    return found


def test_the_end_of_one_job_ends_one_that_has_much_time(pagecast: Pagecast, there: Path) -> None:
    jobs = "[short]\nfilename=s\nexitall\n[long]\nfilename=l\ntime_based\nruntime=1000\n"
    real = reads(pagecast, jobs, "run", "job.fio", "--dir", str(there))
    assert real["short"] == 256
    assert real["long"] > 0
    assert list(there.iterdir()) == []


def test_jobs_of_a_flow_keep_their_proportion(pagecast: Pagecast, there: Path) -> None:
    short = "[short]\nfilename=s\nflow=1\nloops=8\nexitall\n"
    jobs = f"{short}[long]\nfilename=l\nflow=3\ntime_based\nruntime=1000\n"
    real = reads(pagecast, jobs, "run", "job.fio", "--dir", str(there))
    forecast = reads(
        pagecast, jobs, "simulate", "job.fio", "--machine", "wrench-cluster", "--model", "kernel"
    )
    assert real["short"] == forecast["short"] == 8 * 256
    assert real["long"] == pytest.approx(forecast["long"], rel=0.1)


def test_a_job_whose_rate_is_steady_ends(pagecast: Pagecast, there: Path) -> None:
    # Any rate is within ten times the mean.
    jobs = "[a]\nfilename=a\ntime_based\nruntime=1000\nss=iops:1000%\nss_dur=2\n"
    real = reads(pagecast, jobs, "run", "job.fio", "--dir", str(there))
    assert real["a"] > 0
