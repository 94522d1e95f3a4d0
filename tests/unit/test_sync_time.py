"""`pagecast.cache.sync_time` with a stand-in for /proc."""

import pytest

import pagecast as pc
from pagecast.cache import sync_time
from pagecast.errors import ArgumentError, ProbeError, ScenarioError
from tests.unit.test_notices import HOSTS, scenario

MACHINE = """
cores = 4
memory = { size = "8 GB", read = "8 GB/s", write = "5 GB/s" }
disk.ssd = { size = "500 GB", read = "500 MB/s", write = "400 MB/s", flush = "2 ms" }
"""
MOUNTED = f"""{MACHINE}
mount."/".disk = "ssd"
mount."/tmp".type = "tmpfs"
"""
TWO = f"""{MOUNTED}
disk.hdd = {{ size = "500 GB", read = "100 MB/s", write = "100 MB/s" }}
mount."/old".disk = "hdd"
"""


@pytest.fixture
def machine(tmp_path):
    def load(text):
        (tmp_path / "machine.toml").write_text(text)
        return pc.load_machine(tmp_path / "machine.toml")

    return load


def test_dirty_memory_and_what_is_under_writeback_are_written_at_the_rate_of_the_disk(machine, tmp_path):
    (tmp_path / "meminfo").write_text("MemFree: 5 kB\nDirty:  900000 kB\nWriteback:  100000 kB\n")
    found = sync_time(machine(MOUNTED), proc=tmp_path)
    assert (found.dirty_bytes, found.disk) == (1_024_000_000, "ssd")
    assert found.duration_s == pytest.approx(1.024e9 / 400e6 + 2e-3, rel=0.02)


def test_nothing_dirty_leaves_the_flush(machine):
    assert sync_time(machine(MOUNTED), dirty_bytes=0).duration_s == pytest.approx(2e-3)


def test_the_disk_is_chosen_where_there_are_several(machine):
    slow = sync_time(machine(TWO), dirty_bytes=10**9, disk="hdd")
    assert slow.duration_s == pytest.approx(10, rel=0.02)
    with pytest.raises(ArgumentError, match="several disks, ssd, hdd; choose one with --disk"):
        sync_time(machine(TWO), dirty_bytes=10**9)
    with pytest.raises(ArgumentError, match="no mounted disk `sdd`; there are ssd, hdd"):
        sync_time(machine(TWO), dirty_bytes=10**9, disk="sdd")


def test_a_machine_without_a_mounted_disk_is_refused(machine):
    with pytest.raises(ArgumentError, match="the machine has no mounted disk"):
        sync_time(machine(MACHINE), dirty_bytes=10**9)


def test_several_hosts_are_refused():
    with pytest.raises(ArgumentError, match="several hosts"):
        sync_time(scenario("{ sync = true }", HOSTS).machine, dirty_bytes=0)


def test_more_than_the_memory_is_refused(machine):
    with pytest.raises(ScenarioError, match="do not fit into the memory"):
        sync_time(machine(MOUNTED), dirty_bytes=10**10)


def test_a_machine_that_does_not_tell_its_dirty_memory_is_named(machine, tmp_path):
    with pytest.raises(ProbeError, match=r"meminfo: does not tell Dirty and Writeback; give .* --dirty"):
        sync_time(machine(MOUNTED), proc=tmp_path)
