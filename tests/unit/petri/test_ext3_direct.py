"""The nets of ext3 beside the model `kernel`, where both have the same rule."""

import pytest

from pagecast import petri
from pagecast.api import Scenario, simulate
from pagecast.petri.nets import path_of

FILE_PAGES = 64 * 256
NO_LATENCY = ('machine.disk.sda.latency="0 s"', 'machine.disk.sda.seek="0 s"')
COPIES = {"copy_l2_ns": 5587, "copy_memory_ns": 5587 + 2880}
"""Those of `dell-pe1850`: Table 5, and the bus."""


def direct_s(call_kib, cached_mib, *overrides):
    """Give the time of `kernel` for a file of 64 MiB on `dell-pe1850`."""
    text = f"""
        machine.from = "dell-pe1850"
        [[file]]
        path = "/data"
        size = "64 MiB"
        cached = "{cached_mib} MiB"
        [[process]]
        name = "program"
        do = [{{ read = "/data", call = "{call_kib} KiB" }}]
    """
    result = simulate(Scenario.from_toml(text, origin="direct", set=list(overrides)), model="kernel")
    return float(result.operations["duration_s"][0])


def net_s(**values):
    """Give the time of the net."""
    net = petri.load(path_of("ext3-read")).with_values(file_pages=FILE_PAGES, **COPIES, **values)
    return net.run().tokens("Finished")["time"][0] / 1e9


@pytest.mark.parametrize("call_kib", [8, 64, 256, 1024])
def test_reads_of_a_cached_file(call_kib):
    net = net_s(block_pages=call_kib // 4, cached_pages=FILE_PAGES)
    assert net == pytest.approx(direct_s(call_kib, 64), rel=0.1)


def test_a_cold_read_from_a_disk_that_only_transfers():
    net = net_s(block_pages=16, disk_position_ns=0)
    assert net == pytest.approx(direct_s(64, 0, *NO_LATENCY), rel=0.01)
