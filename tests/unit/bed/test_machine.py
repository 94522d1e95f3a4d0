"""The machine file of a bed, from what its kernel said."""

from dataclasses import replace

import pytest

import pagecast as pc
from bed.guest import NullDisk
from bed.machine import Made, machine_of, name_of
from bed.packages import BedError

PLATFORM = """\
Linux (none) 6.12.95+deb12-amd64 #1 SMP x86_64 GNU/Linux
MemTotal:        2021444 kB
vm.dirty_background_bytes = 0
vm.dirty_background_ratio = 10
vm.dirty_bytes = 0
vm.dirty_expire_centisecs = 3000
vm.dirty_ratio = 40
vm.dirty_writeback_centisecs = 500
vm.min_free_kbytes = 45056
0x0007
128
queue/nr_requests 64
queue/max_sectors_kb 124
queue/wbt_lat_usec 2000
queue/scheduler [none] bfq
"""
MADE = Made(
    bed="guest",
    cores=1,
    memory_mib=2048,
    disk="zram",
    write_bytes_per_s=100 << 20,
    read_bytes_per_s=200 << 20,
)


def test_it_is_one_that_a_scenario_takes(tmp_path):
    for made in (MADE, replace(MADE, bed="host", cores=2), replace(MADE, disk="queue")):
        path = tmp_path / "machine.toml"
        path.write_text(machine_of(made, PLATFORM))
        scenario = pc.Scenario(pc.load_machine(path), processes={"p": [pc.sleep(1.0)]})
        assert pc.simulate(scenario, model="kernel").timeline["free_bytes"][0] > 0
    text = path.read_text()
    for line in ('version = "6.12"', 'lru = "mglru"', "dirty_ratio = 40", "nr_requests = 128"):
        assert line in text
    assert "dirty_bytes" not in text


def test_a_disk_of_null_blk_is_described_by_its_attributes_and_its_queue(tmp_path):
    path = tmp_path / "machine.toml"
    text = machine_of(replace(MADE, disk="null", null=NullDisk(cache_size=64)), PLATFORM)
    path.write_text(text)
    pc.load_machine(path)
    for line in (
        'size = "2048 MiB"', 'read = "104855000 B/s"', 'latency = "100000 ns"', 'write_latency = "100000 ns"',
        'limit_interval = "20 ms"', 'service = "100000 ns"', 'scheduler = "none"', "nr_requests = 64",
        "max_sectors_kb = 124", 'sharing = "total"',
    ):  # fmt: skip
        assert line in text
    ordered = replace(MADE, disk="null", null=NullDisk(submit_queues=2), scheduler="bfq")
    assert name_of(ordered, PLATFORM) == "guest612-null-queues2-bfq-2g"
    text = machine_of(ordered, PLATFORM.replace("[none] bfq", "none [bfq]"))
    path.write_text(text)
    pc.load_machine(path)
    for line in (
        'service = "100000 ns"', "hw_queue_depth = 128", "\nqueue_depth = 64", 'scheduler = "bfq"',
        "cost.page_writeback",
    ):  # fmt: skip
        assert line in text
    unlimited = machine_of(replace(MADE, disk="null", null=NullDisk(mbps=0)), PLATFORM)
    assert "limit_interval" not in unlimited


def test_limits_in_bytes_and_lists_are_those_of_the_kernel():
    platform = PLATFORM.replace("dirty_bytes = 0", "dirty_bytes = 104857600").replace(
        "dirty_ratio = 40", "dirty_ratio = 0"
    )
    text = machine_of(MADE, platform.replace("0x0007\n", ""))
    assert "dirty_bytes = 104857600" in text
    assert "\ndirty_ratio" not in text
    assert 'lru = "two-list"' in text
    assert 'lru = "two-list"' in machine_of(MADE, PLATFORM.replace("0x0007", "0x0000"))


def test_a_platform_is_named_after_what_makes_it_different():
    assert name_of(MADE, PLATFORM) == "guest612-zram-2g"
    assert (
        name_of(replace(MADE, bed="host", memory_mib=1536, disk="queue"), PLATFORM) == "host612-queue-1536m"
    )
    assert name_of(replace(MADE, cgroup_bytes=512 << 20), PLATFORM) == "guest612-zram-2g-cgroup512m"
    high = replace(MADE, cgroup_bytes=512 << 20, cgroup_file="memory.high")
    assert name_of(high, PLATFORM) == "guest612-zram-2g-cgroup512m-high"
    assert '[cgroup.case]\nmemory.high = "536870912 B"' in machine_of(high, PLATFORM)


def test_a_kernel_that_does_not_say_what_it_is_has_no_machine_file():
    with pytest.raises(BedError, match="no min_free_kbytes"):
        machine_of(MADE, PLATFORM.replace("min_free", "other"))
    with pytest.raises(BedError, match="does not begin with the kernel's version"):
        machine_of(MADE, "nothing")
