"""Kinds of I/O: of an operation, and of a whole."""

import pytest

import pagecast as pc
from pagecast.uncertainty.kinds import kind_of_whole, kinds_of_rows, nfs_mounts, seconds_by_kind

MACHINE = """\
cores = 2
memory = { size = "10 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "90 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data" = { disk = "ssd" }
"""


def machine():
    return pc._core.Machine.from_toml(MACHINE.encode(), "m.toml", base_dir=".", machine_dir=".")


def kinds(*operations, files=None):
    scenario = pc.Scenario(machine(), processes={"app": list(operations)}, files=files or {})
    result = pc.simulate(scenario)
    return kinds_of_rows(result.operations, result.parts)


def test_reads_writes_and_fsyncs_are_told_apart():
    found = kinds(pc.write("/data/f", size_bytes=1e6), pc.fsync("/data/f"), pc.read("/data/f"), pc.sleep(0.1))
    assert found == ["buffered_write", "synchronous", "read", None]


def test_a_write_with_o_sync_is_synchronous():
    found = kinds(pc.open("/data/f", create=True, flags=["O_SYNC"]), pc.write("/data/f", size_bytes=1e6))
    assert found[-1] == "synchronous"


def test_what_is_below_a_mount_of_nfs_is_of_nfs():
    scenario = pc.Scenario(machine(), processes={"app": [pc.write("/data/f", size_bytes=1e6)]})
    result = pc.simulate(scenario)
    assert kinds_of_rows(result.operations, result.parts, {"/data"}) == ["nfs"]
    assert nfs_mounts(scenario) == frozenset()


@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        ({"read": 8.0, "nfs": 2.0}, "read"),
        ({"read": 7.0, "nfs": 3.0}, "mixed"),
        ({}, "mixed"),
        ({"read": 0.0}, "mixed"),
    ],
)
def test_a_whole_is_of_the_kind_that_takes_most(seconds, kind):
    assert kind_of_whole(seconds) == kind


def test_seconds_are_added_up_by_kind():
    import numpy as np

    assert seconds_by_kind(["read", None, "read"], np.array([1.0, 5.0, 2.0])) == {"read": 3.0}
