"""State spaces of our nets are those that the package `cpncheck` finds.

Others have written it, and compared it with CPN Tools.
"""

import pytest

from tests.unit.petri.corpus import NETS, built

cpncheck = pytest.importorskip("cpncheck")

BY_HAND = {
    "computed part of a pattern": (4, 4),
    "mutual recursion": (4, 4),
    "the time of the model": (3, 2),
}
"""Nodes and arcs of nets with what cpncheck does not know: `n + 1` in a pattern, `and`, IntInf."""


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
    net = built(name, NETS[name])
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
