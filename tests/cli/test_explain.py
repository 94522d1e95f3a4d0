"""``pagecast explain``: what it prints and draws, and how it ends."""

import json

import pytest

import pagecast as pc
from pagecast.exit_codes import ExitCode
from tests.unit.explanation.conftest import SCENARIO


@pytest.fixture
def beside(pagecast):
    """The command line, with a database beside a backup, and its result."""
    (pagecast.folder / "beside.toml").write_text(SCENARIO)
    pc.simulate(pc.Scenario.load(pagecast.folder / "beside.toml")).save(pagecast.folder / "results")
    return pagecast


def test_explain_lists_the_slowest(beside, matches):
    matches(beside("explain", "beside.toml"))


def test_explain_an_fsync(beside, matches):
    matches(beside("explain", "results", "db", "fsync"))


def test_explain_an_instant(beside, matches):
    matches(beside("explain", "results", "--at", "2.5s"))


def test_an_instant_of_a_scenario_has_what_a_power_cut_would_lose(beside):
    told = beside("explain", "beside.toml", "--at", "2.5s").stdout.splitlines()
    assert sum(line.startswith("On ssd a power cut then would lose ") for line in told) == 1
    told = beside("explain", "beside.toml", "--at", "2.5s", "--model", "wrench").stdout
    assert "power cut" not in told


def test_help_of_explain(beside, matches):
    matches(beside("explain", "--help"))


def test_a_result_and_its_scenario_have_one_explanation(beside):
    asked = ("db", "fsync#17")
    assert beside("explain", "results", *asked).stdout == beside("explain", "beside.toml", *asked).stdout


@pytest.mark.parametrize("asked", [("db", "fsync #17"), ("d*", "fsync#17")])
def test_other_spellings_of_an_operation(asked, beside):
    assert (
        beside("explain", "results", *asked).stdout == beside("explain", "results", "db", "fsync#17").stdout
    )


def test_a_pattern_of_several_processes_is_the_slowest_of_all(beside):
    assert beside("explain", "results", "*").stdout == beside("explain", "results", "backup", "write").stdout


def test_json_of_explain(beside):
    one = json.loads(beside("explain", "results", "db", "fsync#17", "--json").stdout)
    assert (one["schema_version"], one["number"]) == (1, 17)
    several = json.loads(beside("explain", "results", "--json").stdout)
    assert [each["operation"] for each in several["operations"]] == ["write", "fsync", "write"]
    instant = json.loads(beside("explain", "results", "--at", "2 s", "--json").stdout)
    assert instant["at_s"] == 2.0


def test_it_draws(beside):
    outcome = beside("explain", "results", "db", "fsync", "--plot", "why.svg")
    assert outcome.stderr == "The picture is why.svg\n"
    assert (beside.folder / "why.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["results", "dbb"], "there is no process `dbb`"),
        (["results", "x*"], "there is no process `x*`; there are backup, db"),
        (["results", "*", "write#1"], "#1: of which process? Name it"),
        (["results", "db", "fsync#x"], "`fsync#x` names no operation"),
        (["results", "db", "fsync#99"], "#99: there are 30 such operations"),
        (["results", "--at", "soon"], "--at soon: is no time"),
        (["results", "db", "--at", "1s"], "leave PROCESS out"),
        (["results", "--set", "machine.cores=1"], "results is a result, which --set"),
        (["results", "--model", "wrench"], "there is no `wrench`; there are kernel"),
        (["results", "--plot", "x.gif"], "a picture ends in"),
        (["none.toml"], "none.toml: there is no such file"),
    ],
)
def test_wrong_use_of_explain_is_refused(arguments, what, beside):
    outcome = beside("explain", *arguments)
    assert outcome.code == ExitCode.BAD_INPUT
    assert what in outcome.stderr
    assert outcome.stdout == ""
