"""State spaces of our nets are those that the package `cpncheck` finds.

Others have written it, and compared it with CPN Tools.
"""

import pytest

from pagecast.petri import load
from pagecast.petri.nets import path_of
from pagecast.petri.nets.calls import Call
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write
from pagecast.petri.nets.pvfs_read import pvfs_read
from pagecast.petri.nets.pvfs_write import pvfs_write
from tests.unit.petri.corpus import NETS, built

cpncheck = pytest.importorskip("cpncheck")

BY_HAND = {
    "computed part of a pattern": (4, 4),
    "mutual recursion": (4, 4),
    "the time of the model": (3, 2),
}
"""Nodes and arcs of nets with what cpncheck does not know: `n + 1` in a pattern, `and`, IntInf."""


SMALL = [
    ("ext3-read", {"file_pages": 3, "prefetch_pages": 2}),
    ("ext3-read", {"file_pages": 4, "block_pages": 2, "cache_pages": 2, "requests": 4, "ageing_ns": 10**7}),
    (
        "ext3-read",
        {"file_pages": 4, "cached_pages": 2, "cache_pages": 3, "requests": 9, "is_random": True},
    ),
    ("ext3-read", {"file_pages": 4, "block_pages": 2, "cached_pages": 4, "requests": 8, "ageing_ns": 20000}),
    ("ext3-write", {"file_pages": 3, "queue_requests": 2}),
    ("ext3-write", {"file_pages": 3, "queue_requests": 2, "dirty_limit_pages": 2, "requests": 5}),
    ("ext3-write", {"file_pages": 3, "is_synchronous": True, "journal_mode": "writeback"}),
    ("ext3-write", {"file_pages": 4, "block_pages": 2, "journal_mode": "data", "journal_pages": 2}),
    (
        "ext3-write",
        {
            "file_pages": 4,
            "memory_pages": 2,
            "flush_ns": 12000,
            "disk_page_ns": 5000,
            "disk_position_ns": 1000,
        },
    ),
]
"""Shipped nets with values that make them small."""


PVFS = [
    ((1, 1), {"file_bytes": 8192, "block_bytes": 4096, "mss_bytes": 2500}),
    ((1, 3), {"file_bytes": 8192, "block_bytes": 8192, "mss_bytes": 4096}),
    ((2, 2), {"file_bytes": 8192, "block_bytes": 8192, "mss_bytes": 4096}),
]
"""Clients and servers of the nets of PVFS, with values that make them small."""


def oracle_of(path):
    """Give the state space that cpncheck builds of a file."""
    net = cpncheck.ColouredNet(cpncheck.CPNNet(str(path)))
    return cpncheck.build_state_space(net, max_nodes=5000)


def test_the_corpus_is_large_enough():
    assert len(NETS) - len(BY_HAND) >= 60


@pytest.mark.parametrize("name", BY_HAND)
def test_the_state_space_is_that_of_paper_and_pencil(name):
    space = built(name, NETS[name]).state_space()
    assert (space.nodes, space.arcs) == BY_HAND[name]


@pytest.mark.parametrize("name", [name for name in NETS if name not in BY_HAND])
def test_the_state_space_is_that_of_the_oracle(name, tmp_path):
    assert_same_space(built(name, NETS[name]), tmp_path)


@pytest.mark.parametrize(("hosts", "values"), PVFS)
@pytest.mark.parametrize("build", [pvfs_read, pvfs_write])
def test_the_state_space_of_pvfs_is_that_of_the_oracle(build, hosts, values, tmp_path):
    assert_same_space(build(*hosts).with_values(strip_bytes=4096, **values), tmp_path)


@pytest.mark.parametrize(("name", "values"), SMALL)
def test_the_state_space_of_a_shipped_net_is_that_of_the_oracle(name, values, tmp_path):
    assert_same_space(load(path_of(name)).with_values(**values), tmp_path)


@pytest.mark.parametrize("build", [ext3_read, ext3_write])
def test_the_state_space_of_listed_calls_is_that_of_the_oracle(build, tmp_path):
    calls = [Call(1, 3), Call(0, 1, before_ns=1000)] + ([Call(0, 0)] if build is ext3_write else [])
    assert_same_space(build(calls).with_values(file_pages=3), tmp_path)


def assert_same_space(net, tmp_path):
    """Compare the state space of a net with that of cpncheck."""
    net.save(tmp_path / "net.cpn")
    ours, theirs = net.state_space(), oracle_of(tmp_path / "net.cpn")
    assert (ours.is_complete, theirs.complete) == (True, True)
    assert (ours.nodes, ours.arcs) == (theirs.n_nodes, theirs.n_arcs)
    assert ours.components == len(set(theirs.scc))
    assert len(ours.home_markings) == len(theirs.home)
    assert len(ours.dead_markings) == sum(not arcs for arcs in theirs.succ)
    # cpncheck names places of fusion sets otherwise.
    places = range(len(theirs.net.places))
    sizes = [[len(marking[at]) for marking in theirs.markings] for at in places]
    bounds = zip(ours.bounds["upper"], ours.bounds["lower"], strict=True)
    assert sorted(bounds) == sorted((max(each), min(each)) for each in sizes)
