"""The command that checks a suggestion: it names the case that advice was asked for, and is taken."""

import shlex

import pytest

from pagecast.advice.check import Case
from pagecast.advice.knob import Setting
from pagecast.advice.search import Suggestion
from pagecast.sweeps.source import read_source
from pagecast.workloads import Reading
from tests.unit.advice.conftest import BESIDE, SEVERAL


def command(path, *overrides, machine=None, own=(), reading=None, seed=0):
    """Give the words of the command for overrides of a suggestion."""
    reading = reading or Reading()
    source = read_source(path, overrides=own, machine=machine, reading=reading)
    case = Case(path, machine, own, reading, seed, source)
    suggestion = Suggestion((Setting("x", overrides, ()),), (), (), {}, None, 0.0)
    return shlex.split(case.command(suggestion))


@pytest.fixture
def beside(tmp_path):
    path = tmp_path / "be side.toml"
    path.write_text(BESIDE)
    return path


def test_it_has_all_overrides_as_a_shell_reads_them(beside):
    overrides = ("process.db.do=[{ write = '/data/a b', size = '1 B' }]", "machine.cores=2")
    words = command(beside, *overrides)
    assert words[:5] == ["pagecast", "validate", str(beside), "--dir", "DIR"]
    assert words[5:] == ["--set", overrides[0], "--set", overrides[1]]


def test_it_reads_the_case_in_the_same_way(tmp_path):
    job = tmp_path / "job.fio"
    job.write_text("[w]\nrw=write\nsize=1m\nfilename=/data/a\n")
    words = command(
        job,
        "machine.cores=2",
        machine="wrench-cluster",
        own=("machine.vm.dirty_ratio=30",),
        reading=Reading(cached=True, files_in="/data", pace="fast"),
    )
    assert words[5:7] == ["--machine", "wrench-cluster"]
    assert words[7:12] == ["--files-in", "/data", "--pace", "fast", "--cached"]
    assert words[12:] == ["--set", "machine.vm.dirty_ratio=30", "--set", "machine.cores=2"]


@pytest.mark.parametrize(
    "overrides",
    [
        ("machine.memory.size=1 GB",),
        ("machine.cgroup.a.memory.max=1 GB", "process.db.cgroup=a"),
        ("machine.cgroup.a.io.max.ssd.wbps=9 MB/s", "process.db.cgroup=a"),
    ],
)
def test_memory_and_cgroups_are_simulated(beside, overrides):
    words = command(beside, *overrides, seed=3)
    assert words[1:7] == ["simulate", str(beside), "--model", "kernel", "--seed", "3"]
    assert words[8::2] == [*overrides]


def test_several_hosts_are_simulated(tmp_path):
    path = tmp_path / "several.toml"
    path.write_text(SEVERAL)
    assert command(path, "host.server.nfsd.threads=32")[1] == "simulate"
