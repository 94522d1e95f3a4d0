"""``pagecast advise``: what it prints, and how it ends."""

import json
import re
import shlex

import pytest

from pagecast.advice import search as searching
from pagecast.exit_codes import ExitCode
from tests.unit.advice.conftest import BESIDE, SEVERAL, WANTS

ARGUMENTS = ("advise", "beside.toml", "--want", WANTS[0], "--want", WANTS[1], "--workers", "1")


@pytest.fixture
def beside(pagecast):
    """The command line, with a database beside a backup."""
    (pagecast.folder / "beside.toml").write_text(BESIDE)
    return pagecast


def test_advise_prints_lines_to_paste(beside, matches):
    outcome = beside(*ARGUMENTS, "--budget", "120")
    assert outcome.code == ExitCode.OK
    matches(outcome)


def test_help_of_advise(beside, matches):
    matches(beside("advise", "--help"))


def test_json_of_advise(beside):
    outcome = beside(*ARGUMENTS, "--budget", "20", "--json")
    document = json.loads(outcome.stdout)
    assert document["schema_version"] == 1
    assert document["simulations"] <= 20
    assert [each["want"] for each in document["wants"]] == ["p99(db fsync) < 20.0 ms", WANTS[1]]
    assert document["present"]["settings"] == []
    assert all(each["check"].startswith("pagecast validate ") for each in document["suggestions"])


def test_the_printed_checks_are_taken(pagecast):
    """Of a job with a machine and settings of its own, and of several hosts."""
    (pagecast.folder / "job.fio").write_text("[w]\nrw=write\nsize=64m\nfilename=/data/a\nend_fsync=1\n")
    (pagecast.folder / "several.toml").write_text(SEVERAL)
    job = ("job.fio", "--machine", "wrench-cluster", "--set", "machine.vm.dirty_ratio=30")
    for case, kind in ((job, "validate"), (("several.toml",), "simulate")):
        outcome = pagecast(
            "advise", *case, "--want", "makespan < 0.1x", "--budget", "60", "--workers", "1", "--json"
        )
        commands = [shlex.split(each["check"]) for each in json.loads(outcome.stdout)["suggestions"]]
        chosen = next(words[1:] for words in commands if words[1] == kind)
        if kind == "validate":
            assert "machine.vm.dirty_ratio=30" in chosen
            chosen = [str(pagecast.folder) if word == "DIR" else word for word in chosen] + ["--dry-run"]
        assert pagecast(*chosen).code == ExitCode.OK


def test_lines_name_their_host_where_there_are_several(pagecast):
    (pagecast.folder / "several.toml").write_text(SEVERAL)
    outcome = pagecast(
        "advise", "several.toml", "--want", "makespan < 0.8x", "--budget", "60", "--workers", "1"
    )
    assert "/etc/exports on server\n" in outcome.stdout
    assert "exportfs -o rw,async '*:/export'  # on server\n" in outcome.stdout


def test_ranges_stand_below_the_values(beside):
    outcome = beside(*ARGUMENTS, "--budget", "20", "--uncertain", "5")
    assert "In brackets: the 90 % range of 5 draws." in " ".join(outcome.stdout.split())
    assert re.search(r"\(\d[\d.]* ms to \d[\d.]* ms\)", outcome.stdout)
    document = json.loads(beside(*ARGUMENTS, "--budget", "20", "--uncertain", "5", "--json").stdout)
    for each in (document["present"], *document["suggestions"]):
        assert all(0 < low <= high for low, high in each["ranges"])


def test_all_shows_each_setting_alone(beside):
    outcome = beside(*ARGUMENTS, "--budget", "20", "--all")
    assert "Each setting alone" in outcome.stdout
    assert "dirty_writeback_centisecs 1500" in outcome.stdout


def test_wants_that_nothing_fulfils_are_a_failed_check(beside):
    outcome = beside(
        "advise", "beside.toml", "--want", "p99(db fsync) < 1 us", "--budget", "10", "--workers", "1"
    )
    assert outcome.code == ExitCode.CHECK_FAILED
    assert "No setting fulfils all that is wanted; the table has the closest." in outcome.stdout


def test_wants_that_hold_are_said(beside):
    outcome = beside(
        "advise", "beside.toml", "--want", "p99(db fsync) < 9 s", "--budget", "10", "--workers", "1"
    )
    assert outcome.code == ExitCode.OK
    assert "All that is wanted holds already." in outcome.stdout


def test_ctrl_c_prints_the_best_so_far(beside, monkeypatch):
    def stopped(task, todo, *, workers):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(searching, "run_here", stopped)
    outcome = beside(*ARGUMENTS)
    assert outcome.code == ExitCode.INTERRUPTED
    assert "as it is" in outcome.stdout
    assert outcome.stderr == "Stopped: this is the best so far.\n\npagecast: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["beside.toml"], "nothing is wanted; say for example --want"),
        (["beside.toml", "--want", "soon"], "`soon` is no condition"),
        (["beside.toml", "--want", "p99(db sync) < 1 s"], "there is no operation of `db` called `sync`"),
        (["beside.toml", "--want", "makespan < 1 s", "--budget", "1"], "--budget"),
        (["none.toml", "--want", "makespan < 1 s"], "none.toml: there is no such file"),
    ],
)
def test_wrong_use_of_advise_is_refused(arguments, what, beside):
    outcome = beside("advise", *arguments)
    assert outcome.code == ExitCode.BAD_INPUT
    assert what in outcome.stderr
    assert outcome.stdout == ""
