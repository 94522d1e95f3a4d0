"""The nets of PVFS: small sizes by hand, and what the dissertation says of its measurements."""

from functools import cache

import pytest

from pagecast.petri.nets.pvfs_read import pvfs_read
from pagecast.petri.nets.pvfs_write import pvfs_write

BUILDERS = {"read": pvfs_read, "write": pvfs_write}
KIB, MIB = 1024, 1024 * 1024
PLAIN = {
    "byte_ns": 1,
    "header_bytes": 0,
    "wire_ns": 100,
    "start_ns": 0,
    "build_ns": 10,
    "gather_ns": 2,
    "segment_ns": 3,
    "search_ns": 5,
    "mss_bytes": 4096,
    "copy_l2_ns": 1,
}
"""Times of a network without headers, in which a page is a packet."""


@cache
def net(way, clients, servers):
    """Build a net once."""
    return BUILDERS[way](clients, servers)


def finished(way, clients, servers, seed=0, **values):
    """Give the times at which the clients have finished, the first client first."""
    if way == "read":
        values = {"is_cached": True, **values}
    run = net(way, clients, servers).with_values(**values).run(seed=seed)
    return run.tokens(f"pvfs {way}'Finished")["time"]


def rates(way, clients, servers, *, file_bytes=2 * MIB, **values):
    """Give the rate of each client, in bytes per second."""
    times = finished(way, clients, servers, file_bytes=file_bytes, **values)
    return [file_bytes * 1e9 / time for time in times]


def occurrences(run, transition):
    """Give how often a transition has occurred, in all instances of its page."""
    counts = zip(run.transitions["transition"], run.transitions["occurrences"], strict=True)
    return sum(count for name, count in counts if name.rstrip(" 0123456789") == transition)


def test_a_read_of_one_page_takes_the_sum_of_its_parts():
    values = {"file_bytes": 4096, "block_bytes": 4096, "fread_ns": 0, "look_up_ns": 0}
    request, data = 10 + 100 + 5, 2 * 4096 + 100 + 2
    assert finished("read", 1, 1, **PLAIN, **values) == [request + 1 + data]


def test_a_write_of_one_page_takes_the_sum_of_its_parts():
    values = {"file_bytes": 4096, "block_bytes": 4096, "fwrite_ns": 0, "begin_ns": 0, "commit_write_ns": 0}
    data, answer = 10 + 2 * 4096 + 100 + 5, 100 + 2
    assert finished("write", 1, 1, **PLAIN, **values) == [data + 1 + answer]


def test_strips_are_dealt_round_robin():
    run = net("read", 1, 4).with_values(is_cached=True, file_bytes=MIB, block_bytes=MIB).run()
    for server in range(1, 5):
        assert run.tokens(f"Chunks'Position {server}")["value"] == [(1, 256 * KIB)]
    small = net("read", 1, 4).with_values(is_cached=True, file_bytes=MIB, block_bytes=64 * KIB).run()
    assert occurrences(small, "Receive'Search") == 16


@pytest.mark.parametrize(
    ("clients", "strips", "pieces"),
    [(2, 1, 1), (2, 2, 2), (2, 8, 2), (2, 9, 3), (4, 4, 4), (4, 8, 4)],
)
def test_a_server_releases_by_the_rule_of_figure_46(clients, strips, pieces):
    # At most a strip: at once. At most a strip for each client: strip by strip. Else a client's share.
    size = strips * 64 * KIB
    run = net("read", clients, 1).with_values(is_cached=True, file_bytes=size, block_bytes=size).run()
    assert occurrences(run, "Release'Release") == clients * pieces


def test_a_payload_is_cut_into_segments():
    run = net("write", 1, 1).with_values(file_bytes=64 * KIB, block_bytes=64 * KIB).run()
    assert occurrences(run, "Segmentation'Cut") == -(-64 * KIB // 1460)


def test_a_server_writes_a_whole_payload_at_once():
    run = net("write", 2, 2).with_values(file_bytes=512 * KIB, block_bytes=512 * KIB).run()
    assert occurrences(run, "Jobs'Begin") == 2 * 2


def test_a_cold_read_waits_for_the_disks():
    values = {"file_bytes": MIB, "block_bytes": MIB}
    assert (
        finished("read", 1, 4, is_cached=False, **values)[0] > 7_700_000 + finished("read", 1, 4, **values)[0]
    )


def test_reads_do_not_depend_on_the_file_size():
    one, other = (
        rates("read", 1, 4, file_bytes=size, block_bytes=256 * KIB)[0] for size in (2 * MIB, 4 * MIB)
    )
    assert one == pytest.approx(other, rel=0.001)


def test_small_writes_pay_for_striping():
    found = [rates("write", 1, 4, block_bytes=block * KIB)[0] for block in (8, 32, 64, 256)]
    assert found == sorted(found)
    assert found[0] < 0.5 * found[-1]


@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize("clients", [2, 4])
def test_curves_of_equal_clients_coincide(way, clients):
    for block in (8, 64, 256):
        found = rates(way, clients, 4, block_bytes=block * KIB, file_bytes=4 * MIB)
        assert max(found) / min(found) < 1.05


@pytest.mark.parametrize("way", ["read", "write"])
def test_a_constant_search_is_faster_and_the_gap_shrinks_with_the_block(way):
    gaps = []
    for block in (8, 64, 1024):
        constant, linear = (
            rates(way, 4, 4, block_bytes=block * KIB, is_linear=is_linear, search_ns=20000)[0]
            for is_linear in (False, True)
        )
        gaps.append(constant / linear)
    assert gaps[0] > 1.02
    assert gaps[0] > gaps[-1]


@pytest.mark.parametrize("way", ["read", "write"])
def test_the_rate_of_a_client_falls_beyond_the_number_of_servers(way):
    found = {clients: rates(way, clients, 2, block_bytes=256 * KIB)[0] for clients in (1, 2, 4)}
    assert found[4] < 0.8 * found[2] < 1.01 * found[1]


@pytest.mark.parametrize("way", ["read", "write"])
@pytest.mark.parametrize("seed", range(3))
def test_the_seed_changes_times_by_little(way, seed):
    one, other = (rates(way, 4, 4, block_bytes=256 * KIB, seed=each) for each in (seed, 99))
    assert one == pytest.approx(other, rel=0.02)
