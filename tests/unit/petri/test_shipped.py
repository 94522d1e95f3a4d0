"""The nets that come with pagecast are the files that their modules build."""

import pytest

from pagecast import petri
from pagecast.errors import ArgumentError
from pagecast.petri.nets import NAMES, path_of
from pagecast.petri.nets.generate import BUILDERS


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_what_its_module_builds(name, tmp_path):
    BUILDERS[name]().save(tmp_path / "net.cpn")
    assert path_of(name).read_bytes() == (tmp_path / "net.cpn").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_no_two_nodes_of_a_page_are_drawn_over_each_other(name):
    for page in petri.load(path_of(name)).pages():
        nodes = [*page["places"], *page["transitions"]]
        for number, one in enumerate(nodes):
            for other in nodes[:number]:
                apart = abs(one["x"] - other["x"]) >= 80 or abs(one["y"] - other["y"]) >= 50
                assert apart, f"{page['name']}: {one['name']} and {other['name']}"


def test_every_net_ends_with_its_program():
    for name in NAMES:
        run = petri.load(path_of(name)).run()
        assert run.ended == "dead"
        finished = [text for place, text in run.marking.items() if place.endswith("'Finished")]
        assert finished != ["empty"]


def test_an_unknown_name_lists_the_nets():
    with pytest.raises(ArgumentError, match="ext3-read"):
        path_of("ext4-read")
