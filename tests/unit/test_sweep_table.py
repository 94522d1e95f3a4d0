"""The table [sweep] of a scenario is for the sweep alone; all else keeps its lines."""

import pytest

import pagecast as pc
from pagecast.errors import ScenarioError
from pagecast.sweep_table import split_sweep_table

HEAD = '[machine]\nfrom = "wrench-cluster"\n'
TAIL = '[[process]]\nname = "a"\ndo = [ { sleep = "1 s" } ]\n'


@pytest.mark.parametrize(
    "table",
    [
        '[sweep]\nmeasure = ["makespan"]\n',
        '[ sweep ] # of this\nmeasure = [\n  "makespan",\n]\n\n',
        "[sweep.vary]\nmachine.cores = [ 1,\n[2]\n, 3]\n",
        '[sweep]\r\nsample = "latin:3"\r\n[sweep.vary]\r\n"machine.cores" = "1..4"\r\n',
    ],
)
def test_its_lines_become_blank(table):
    text = (HEAD + table + TAIL).encode()
    rest, found = split_sweep_table(text, "x.toml")
    assert found
    assert rest.count(b"\n") == text.count(b"\n")
    assert [line for line in rest.split(b"\n") if line] == (HEAD + TAIL).encode().strip().split(b"\n")


def test_a_scenario_with_it_is_simulated_as_without():
    text = HEAD + '[sweep]\nmeasure = "makespan"\n' + TAIL
    assert pc.simulate(pc.Scenario.from_toml(text)).end_s == 1.0


def test_messages_name_the_right_line():
    text = HEAD + '[sweep]\nmeasure = "makespan"\n' + TAIL.replace("do =", "dou =")
    with pytest.raises(ScenarioError, match=r"x.toml:7: unknown key `dou`"):
        pc.Scenario.from_toml(text, origin="x.toml")


def test_one_that_is_no_toml():
    with pytest.raises(ScenarioError, match=r"x.toml: the table \[sweep\] is no TOML .*line 4"):
        pc.Scenario.from_toml(HEAD + "[sweep]\nmeasure = \n" + TAIL, origin="x.toml")


@pytest.mark.parametrize(
    "text", [HEAD + TAIL, "# sweep\n" + HEAD + TAIL, HEAD + TAIL.replace('"a"', '"sweep"')]
)
def test_without_it_nothing_changes(text):
    assert split_sweep_table(text.encode(), "x.toml") == (text.encode(), None)
