"""What the host of a virtual machine has not taken back of its free memory."""

import numpy as np

import pagecast as pc
from pagecast.validation.backed import Backed, free_blocks, free_bytes, takes_back

GB = 10**9


def test_at_first_nothing_is_backed_and_what_becomes_free_is():
    backed = Backed()
    backed.look(0.0, 8 * GB)
    assert backed.bytes == 0
    backed.look(1.0, 16 * GB)
    backed.look(1.5, 15 * GB)
    assert backed.bytes == 7 * GB


def test_a_sixteenth_of_what_is_free_goes_every_two_seconds():
    backed = Backed()
    for now_s, free in ((0.0, 8 * GB), (1.0, 16 * GB), (2.9, 16 * GB)):
        backed.look(now_s, free)
    assert backed.bytes == 8 * GB
    backed.look(5.0, 16 * GB)
    assert backed.bytes == 6 * GB
    backed.look(100.0, 16 * GB)
    assert backed.bytes == 0


def test_blocks_too_small_to_be_reported_stay(tmp_path):
    (tmp_path / "buddyinfo").write_text(
        "Node 0, zone      DMA     0      0      0      0      0      0      0      0      1      1      3 \n"
        "Node 0, zone   Normal     2      0      0      0      0      0      0      0    999      9    900 \n"
    )
    blocks = free_blocks(tmp_path)
    assert blocks == [2, 0, 0, 0, 0, 0, 0, 0, 1000, 10, 903]
    assert free_blocks(tmp_path / "none") is None
    backed = Backed()
    backed.look(0.0, 5 * GB, blocks)
    assert backed.bytes == 2 * 4096 + 1000 * 2**20
    backed.look(1.0, 6 * GB)
    backed.look(100.0, 6 * GB)
    assert backed.bytes == 2 * 4096 + 1000 * 2**20


def test_what_a_run_has_used_is_backed_when_its_files_are_gone():
    backed = Backed()
    backed.look(0.0, 10 * GB)
    samples = pc.Columns({"time_s": np.array([0.0, 4.0]), "nr_free_pages_bytes": np.array([10 * GB, 3 * GB])})
    backed.follow(samples, 5.0, 10 * GB)
    assert backed.bytes == 7 * GB
    backed.follow(pc.Columns({"time_s": np.array([])}), 5.5, None)
    assert backed.bytes == 7 * GB, "a place that tells nothing changes nothing"


def test_only_a_machine_whose_pages_cost_more_again_gives_them_back(machine, tmp_path):
    assert not takes_back(machine)
    guest = machine.to_toml().replace('page_remote = "0 ns"', 'page_remote = "0 ns"\npage_reported = "2 us"')
    (tmp_path / "guest.toml").write_text(guest)
    assert takes_back(pc.load_machine(tmp_path / "guest.toml"))
    assert free_bytes() > 0
    assert free_bytes(tmp_path) is None
