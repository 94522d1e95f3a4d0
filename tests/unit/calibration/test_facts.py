"""What is read from /proc and /sys: trees of other machines than this one, and this one."""

import os
from pathlib import Path

import pytest

from pagecast.calibration.facts import read_facts

KIB = 1024
MEMINFO = """\
MemTotal:        8000000 kB
MemFree:         1000000 kB
Active(file):    2000000 kB
Inactive(file):  3000000 kB
"""


@pytest.fixture
def machine(tmp_path):
    """A machine with an SSD whose second partition the directory is on, and nothing unusual."""
    root = tmp_path / "root"
    directory = tmp_path / "data"
    directory.mkdir()
    device = directory.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    put(root / "proc/sys/kernel/osrelease", "5.15.0-91-generic\n")
    put(root / "proc/sys/vm/dirty_ratio", "20\n")
    put(root / "proc/meminfo", MEMINFO)
    put(root / "proc/vmstat", "nr_dirty_threshold 200000\nnr_dirty_background_threshold 100000\n")
    put(root / "proc/self/cgroup", "0::/\n")
    put(
        root / "proc/self/mountinfo",
        "1 0 99:9 / / rw - xfs /dev/other rw\n"
        f"2 1 {number} / /my\\040data rw,noatime - ext4 /dev/sda2 rw,data=ordered\n",
    )
    disk = root / "sys/devices/pci/block/sda"
    for name, text in {
        "dev": "8:0",
        "device/model": "FAST SSD  ",
        "queue/rotational": "0",
        "queue/scheduler": "[none] mq-deadline",
        "queue/nr_requests": "64",
        "queue/max_sectors_kb": "512",
        "queue/read_ahead_kb": "256",
        "queue/logical_block_size": "4096",
        "queue/wbt_lat_usec": "2000",
        "sda2/partition": "2",
    }.items():
        put(disk / name, f"{text}\n")
    link(root / "sys/dev/block" / number, disk / "sda2")
    put(root / "sys/class/bdi/8:0/max_ratio", "100\n")
    put(root / "sys/class/bdi/8:0/min_ratio", "3\n")
    return root, directory


def put(path: Path, text: str) -> None:
    """Write a file of a tree."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def link(path: Path, target: Path) -> None:
    """Make a link of a tree."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def facts(machine):
    root, directory = machine
    return read_facts(directory, root=root)


def test_memory_is_what_is_free_or_holds_files(machine):
    memory = facts(machine).memory
    assert (memory.total_bytes, memory.usable_bytes) == (8_000_000 * KIB, 6_000_000 * KIB)
    assert memory.background_bytes == 100_000 * 4096
    # 20 percent are 819 of 4096 parts: what lacks to five times the limit is never dirtyable.
    assert memory.reserve_bytes == int(6_000_000 * KIB - 200_000 * 4096 * 4096 / 819)


def test_a_partition_is_on_its_disk(machine):
    device = facts(machine).device
    assert (device.name, device.stack, device.model) == ("sda", ("sda2", "sda"), "FAST SSD")
    assert (device.scheduler, device.nr_requests, device.read_ahead_kb) == ("none", 64, 256)
    assert (device.is_rotational, device.min_ratio, device.max_ratio) == (False, 3, 100)
    assert device.logical_block_bytes == 4096


def test_a_mapped_device_reads_ahead_itself_and_its_disk_queues(machine):
    root, directory = machine
    number = os.stat(directory).st_dev
    name = root / "sys/dev/block" / f"{os.major(number)}:{os.minor(number)}"
    mapped = root / "sys/devices/virtual/block/dm-0"
    put(mapped / "queue/read_ahead_kb", "4096\n")
    put(mapped / "dev", "253:0\n")
    link(mapped / "slaves/sda2", name.resolve())
    name.unlink()
    link(name, mapped)
    device = facts(machine).device
    assert device.stack == ("dm-0", "sda2", "sda")
    assert (device.read_ahead_kb, device.nr_requests) == (4096, 64)


@pytest.mark.parametrize(
    ("path", "text", "is_throttled"),
    [
        ("blkio/blkio.throttle.write_bps_device", "7:1 1048576\n8:0 2097152\n", True),
        ("blkio/blkio.throttle.write_iops_device", "8:0 100\n", True),
        ("blkio/blkio.throttle.write_bps_device", "7:1 1048576\n", False),
        ("blkio/blkio.throttle.read_bps_device", "8:0 1048576\n", False),
        ("user/io.max", "8:0 rbps=max wbps=1048576 riops=max wiops=max\n", True),
        ("user/mine/io.max", "8:0 rbps=max wbps=max riops=max wiops=10\n", True),
        ("user/mine/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=max\n", False),
        ("others/io.max", "8:0 rbps=max wbps=1048576 riops=max wiops=max\n", False),
    ],
)
def test_a_cgroup_may_limit_writing_to_the_disk(machine, path, text, is_throttled):
    root, _ = machine
    put(root / "proc/self/cgroup", "0::/user/mine\n")
    put(root / "sys/fs/cgroup" / path, text)
    assert facts(machine).device.is_throttled == is_throttled


def test_a_mount_has_its_name_and_options(machine):
    mount = facts(machine).mount
    assert (mount.point, mount.kind, mount.source) == ("/my data", "ext4", "/dev/sda2")
    assert mount.options == "rw,noatime,data=ordered"


def test_without_a_device_there_is_none(machine):
    root, _ = machine
    for name in (root / "sys/dev/block").iterdir():
        name.unlink()
    assert facts(machine).device is None


@pytest.mark.parametrize(("text", "lru"), [("0x0007", "mglru"), ("0x0000", "two-list"), (None, "two-list")])
def test_the_lists(machine, text, lru):
    if text:
        put(machine[0] / "sys/kernel/mm/lru_gen/enabled", f"{text}\n")
    assert facts(machine).lru == lru


def test_groups_with_a_limit_up_to_the_root(machine):
    root, _ = machine
    put(root / "proc/self/cgroup", "0::/a/b\n")
    put(root / "sys/fs/cgroup/a/memory.max", "4294967296\n")
    put(root / "sys/fs/cgroup/a/b/memory.max", "max\n")
    [group] = facts(machine).groups
    assert (group.path, group.version, group.limit_bytes) == ("/a", 2, 1 << 32)


def test_groups_of_the_first_version(machine):
    root, _ = machine
    put(root / "proc/self/cgroup", "4:memory:/job\n3:cpu:/\n0::/\n")
    put(root / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n")
    put(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    [group] = facts(machine).groups
    assert (group.path, group.version, group.limit_bytes) == ("/job", 1, 1 << 30)


def test_nodes_have_their_sizes(machine):
    for node in (0, 1):
        put(machine[0] / f"sys/devices/system/node/node{node}/meminfo", f"Node {node} MemTotal:  4000 kB\n")
    assert facts(machine).nodes == (4000 * KIB, 4000 * KIB)


def test_a_limit_in_bytes_has_no_reserve(machine):
    put(machine[0] / "proc/sys/vm/dirty_bytes", "1000000000\n")
    assert facts(machine).memory.reserve_bytes is None


def test_this_machine():
    found = read_facts(Path.cwd())
    assert found.hz in (100, 250, 300, 1000)
    assert 0 < found.memory.usable_bytes <= found.memory.total_bytes
    assert found.mount.point
    assert found.kernel_version.count(".") == 1
