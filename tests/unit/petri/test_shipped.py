"""The nets that come with pagecast are the files that their modules build."""

import re

import pytest

from pagecast import petri
from pagecast.errors import ArgumentError
from pagecast.petri.nets import NAMES, path_of
from pagecast.petri.nets.generate import BUILDERS, write


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_what_its_module_builds(name, tmp_path):
    write(BUILDERS[name](), tmp_path / "net.cpn")
    assert path_of(name).read_bytes() == (tmp_path / "net.cpn").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_no_two_nodes_of_a_page_are_drawn_over_each_other(name):
    for page in petri.load(path_of(name)).pages():
        nodes = [*page["places"], *page["transitions"]]
        for number, one in enumerate(nodes):
            for other in nodes[:number]:
                apart = abs(one["x"] - other["x"]) >= 80 or abs(one["y"] - other["y"]) >= 50
                assert apart, f"{page['name']}: {one['name']} and {other['name']}"


@pytest.mark.parametrize("name", NAMES)
def test_the_layout_changes_nothing_else(name, tmp_path):
    BUILDERS[name]().save(tmp_path / "net.cpn")
    plain, laid_out = (petri.load(path).pages() for path in (tmp_path / "net.cpn", path_of(name)))
    drawn = {"x", "y", "width", "height", "bends", "label"}
    for one, other in zip(plain, laid_out, strict=True):
        for kind in ("places", "transitions", "arcs"):
            for before, after in zip(one[kind], other[kind], strict=True):
                assert {key: before[key] for key in before.keys() - drawn} == {
                    key: after[key] for key in after.keys() - drawn
                }


@pytest.mark.parametrize("name", NAMES)
def test_the_integers_of_a_net_fit_into_the_31_bits_of_cpn_tools(name):
    texts = petri.load(path_of(name)).values.values()
    assert max(int(number) for text in texts for number in re.findall(r"\b\d+\b", text)) < 2**30


def test_two_arcs_between_the_same_nodes_are_bent_to_either_side():
    pages = {page["name"]: page for page in petri.load(path_of("ext3-read")).pages()}
    arcs = pages["Insert and reclaim"]["arcs"]
    first, second = (arc for arc in arcs if (arc["place"], arc["transition"]) == (1, 0))
    assert first["bends"] != second["bends"]
    assert first["label"] != second["label"]


def test_every_net_ends_with_its_program():
    for name in NAMES:
        run = petri.load(path_of(name)).run()
        assert run.ended == "dead"
        finished = [text for place, text in run.marking.items() if place.endswith("'Finished")]
        assert finished != ["empty"]


def test_an_unknown_name_lists_the_nets():
    with pytest.raises(ArgumentError, match="ext3-read"):
        path_of("ext4-read")
