"""``--model petri`` of the commands that ask it."""

import json

import pytest

SCENARIO = """
machine.from = "dell-pe1850"
[[process]]
name = "app"
do = [ { write = "/out", size = "1 MiB", call = "64 KiB" }, { fsync = "/out" } ]
"""


@pytest.fixture
def scenario(pagecast):
    (pagecast.folder / "ext3.toml").write_text(SCENARIO)
    return "ext3.toml"


def test_nets_stand_beside_a_policy(pagecast, scenario):
    outcome = pagecast("simulate", scenario, "--model", "petri", "--model", "kernel", "--json")
    assert outcome.code == 0
    runs = json.loads(outcome.stdout)["runs"]
    assert [run["model"] for run in runs] == ["petri", "kernel"]
    assert runs[0]["operations"]["operation"] == runs[1]["operations"]["operation"] == ["write", "fsync"]
    assert "Note: The nets of petri leave out: write_cache of the disk." in outcome.stderr


def test_nets_are_asked_by_name_alone(pagecast, scenario):
    outcome = pagecast("simulate", scenario, "--json")
    assert "petri" not in [run["model"] for run in json.loads(outcome.stdout)["runs"]]


def test_a_result_of_nets_is_saved_explained_and_compared(pagecast, scenario):
    assert pagecast("simulate", scenario, "--model", "petri", "--out", "nets").code == 0
    outcome = pagecast("explain", "nets", "app", "fsync")
    assert outcome.code == 0
    assert "journal" in outcome.stdout
    assert "petri: the total time is" in pagecast("compare", "nets", "nets").stdout


def test_a_sweep_asks_nets(pagecast, scenario):
    outcome = pagecast(
        "sweep", scenario, "--vary", "machine.disk.sda.write=59.5MB/s,119MB/s", "--model", "petri"
    )
    assert outcome.code == 0
    assert "2 points under petri" in outcome.stdout


def test_what_nets_cannot_play_is_said_in_one_line(pagecast):
    text = SCENARIO.replace('{ fsync = "/out" }', '{ rename = "/out", to = "/other" }')
    (pagecast.folder / "rename.toml").write_text(text)
    outcome = pagecast("simulate", "rename.toml", "--model", "petri")
    assert outcome.code != 0
    assert "the model petri cannot play this: `rename` of app is in no net" in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", [["check"], ["validate", "--dir", "."]])
def test_other_commands_know_it_or_refuse_it(pagecast, scenario, command):
    outcome = pagecast(*command[:1], scenario, *command[1:], "--model", "petri")
    assert (outcome.code == 0) == (command == ["check"])
