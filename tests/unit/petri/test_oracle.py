"""State spaces of our nets are those that the package `cpncheck` finds: written by others, checked by them against CPN Tools."""

import pytest
from corpus import NETS, built

cpncheck = pytest.importorskip("cpncheck")


def oracle_of(path):
    """Give the state space that cpncheck builds of a file."""
    return cpncheck.build_state_space(cpncheck.ColouredNet(cpncheck.CPNNet(str(path))))


def test_the_corpus_is_large_enough():
    assert len(NETS) >= 60


@pytest.mark.parametrize("name", NETS)
def test_the_state_space_is_that_of_the_oracle(name, tmp_path):
    net = built(name, NETS[name])
    net.save(tmp_path / "net.cpn")
    ours, theirs = net.state_space(), oracle_of(tmp_path / "net.cpn")
    assert ours.is_complete and theirs.complete
    assert (ours.nodes, ours.arcs) == (theirs.n_nodes, theirs.n_arcs)
    assert ours.components == len(set(theirs.scc))
    assert len(ours.dead_markings) == sum(not arcs for arcs in theirs.succ)
    names = [place["gid"].split("/")[-1] for place in theirs.net.places]
    sizes = [[len(marking[at]) for marking in theirs.markings] for at in range(len(names))]
    wanted = sorted((name, max(each), min(each)) for name, each in zip(names, sizes, strict=True))
    bounds = ours.bounds
    found = zip(bounds["place"], bounds["upper"], bounds["lower"], strict=True)
    assert sorted((place.partition("'")[2].split(" 1")[0].split(" 2")[0], up, low) for place, up, low in found) == [
        (name.split(" 1")[0].split(" 2")[0], up, low) for name, up, low in wanted
    ]
