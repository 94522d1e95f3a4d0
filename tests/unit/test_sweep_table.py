"""The table [sweep] of a scenario is for the sweep alone; the core passes over it."""

import pytest

import pagecast as pc
from pagecast.errors import ScenarioError
from pagecast.sweep_table import sweep_table

HEAD = '[machine]\nfrom = "wrench-cluster"\n'
TAIL = '[[process]]\nname = "a"\ndo = [ { sleep = "1 s" } ]\n'


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ('[sweep]\nmeasure = ["makespan"]\n', {"measure": ["makespan"]}),
        ("[sweep.vary]\nmachine.cores = [ 1,\n2\n, 3]\n", {"vary": {"machine": {"cores": [1, 2, 3]}}}),
        ("", None),
    ],
)
def test_it_is_found_in_the_text(table, found):
    assert sweep_table((HEAD + table + TAIL).encode(), "x.toml") == found


@pytest.mark.parametrize("text", [b"[sweep]\nmeasure = \n", b"sweep = '\xff'"])
def test_a_text_that_is_no_toml(text):
    with pytest.raises(ScenarioError, match=r"x.toml: no TOML"):
        sweep_table(text, "x.toml")


def test_a_scenario_with_it_is_simulated_as_without():
    text = HEAD + '[sweep]\nmeasure = "makespan"\n' + TAIL
    assert pc.simulate(pc.Scenario.from_toml(text)).end_s == 1.0


def test_messages_name_the_right_line():
    text = HEAD + '[sweep]\nmeasure = "makespan"\n' + TAIL.replace("do =", "dou =")
    with pytest.raises(ScenarioError, match=r"x.toml:7: unknown key `dou`"):
        pc.Scenario.from_toml(text, origin="x.toml")


def test_one_that_is_no_table():
    with pytest.raises(ScenarioError, match=r"x.toml:1: `sweep` is the number 3, but must be a table"):
        pc.Scenario.from_toml("sweep = 3\n" + HEAD + TAIL, origin="x.toml")
