"""``pagecast petri``: what it prints, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pagecast.petri import Net


def called(folder, *arguments, answers=""):
    """Call the command in a folder; give the exit code, stdout and stderr."""
    program = Path(sys.executable).parent / "pagecast"
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(
        [program, "petri", *arguments],
        cwd=folder,
        env=environment,
        input=answers,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with `net.cpn`, in which a counter goes up to a limit."""
    folder = tmp_path_factory.mktemp("petri")
    net = Net("counter")
    net.declare("colset INT = int;", "val limit = 3;", "var n : INT;")
    counter, up = net.place("Counter", "INT", "1`0"), net.transition("Up", guard="n < limit")
    net.arc(counter, up, "n")
    net.arc(up, counter, "n + 1")
    net.save(folder / "net.cpn")
    return folder


def test_check_counts_what_is_there(folder):
    code, out, _ = called(folder, "check", "net.cpn")
    assert (code, out.splitlines()) == (
        0,
        ["net.cpn: fine. 1 place and 1 transition on 1 page.", "  val limit = 3"],
    )


def test_run_takes_another_value(folder):
    code, out, _ = called(folder, "run", "net.cpn", "--set", "limit=7", "--json")
    found = json.loads(out)
    assert (code, found["ended"], found["steps"]) == (0, "dead", 7)
    assert found["places"]["marking"] == ["1`7"]


def test_a_net_that_comes_with_pagecast_is_found_by_its_name(folder):
    values = ("--set", "file_pages=8", "--set", "journal_mode=data", "--set", "journal_pages=4")
    code, out, _ = called(folder, "run", "ext3-write", *values, "--json")
    found = json.loads(out)
    counts = dict(zip(*found["transitions"].values(), strict=True))
    assert (code, found["ended"], counts["Checkpoint'Written"]) == (0, "dead", 8)


def test_space_reports_the_dead_marking(folder):
    code, out, _ = called(folder, "space", "net.cpn", "--json")
    found = json.loads(out)
    assert (code, found["nodes"], found["arcs"], found["dead_markings"]) == (0, 4, 3, [3])


def test_space_shows_the_way_to_a_marking(folder):
    code, out, _ = called(folder, "space", "net.cpn", "--to", "Page'Counter=1`2")
    assert code == 0
    assert "  shortest way to marking 2:\n    Page'Up  n=0\n    Page'Up  n=1\n" in out
    code, out, _ = called(folder, "space", "net.cpn", "--to", "Page'Counter=1`7", "--json")
    assert (code, json.loads(out)["found"]) == (0, None)
    assert (
        "  no marking has Page'Counter=1`7\n"
        in called(folder, "space", "net.cpn", "--to", "Page'Counter=1`7")[1]
    )
    code, _, err = called(folder, "space", "net.cpn", "--to", "Page'Nowhere=empty")
    assert (code, "there is no place Page'Nowhere; there are Page'Counter" in err) == (2, True)
    assert called(folder, "space", "net.cpn", "--to", "Counter")[0] == 2


def test_step_does_what_is_answered(folder):
    code, out, _ = called(folder, "step", "net.cpn", answers="1\nm\nx\nq\n")
    assert code == 0
    assert "  1  Page'Up  n=0\n" in out
    assert "  Page'Counter: 1`1\n" in out
    assert "  answer a number of the list, `r N`, `m` or `q`\n" in out


def test_convert_writes_the_net_with_its_value(folder):
    assert called(folder, "convert", "net.cpn", "large.cpn", "--set", "limit=9")[0] == 0
    assert "val limit = 9" in called(folder, "check", "large.cpn")[1]
    code, _, error = called(folder, "convert", "net.cpn", "large.cpn")
    assert (code, error) == (
        2,
        "pagecast: error: large.cpn is there already; choose another name or add --force\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nowhere.cpn"), "nowhere.cpn: No such file or directory"),
        (
            ("run", "net.cpn", "--set", "limits=7"),
            "net.cpn: there is no value `limits`; the net declares limit",
        ),
        (
            ("check", "net.cpn", "--set", "limit=true"),
            "net.cpn: page `Page`, transition `Up`, guard, line 1, column 5: expected int, found bool",
        ),
    ],
)
def test_a_mistake_has_one_message(folder, arguments, message):
    code, out, error = called(folder, *arguments)
    assert (code, out, error) == (2, "", f"pagecast: error: {message}\n")


def test_an_endless_loop_is_stopped_and_named(tmp_path):
    net = Net("loop")
    net.declare("colset T = unit timed;")
    place, turn = net.place("P", "T", "1`()"), net.transition("Turn")
    net.arc(place, turn, both=True)
    with pytest.raises(
        Exception, match="page `Page`, transition `Turn`, at time 0: 1000 occurrences without any"
    ):
        net.run(steps_at_one_time=1000)


def test_a_page_is_replaced_with_force_alone(folder):
    page = folder / "run.html"
    assert called(folder, "run", "net.cpn", "--html", "run.html")[0] == 0
    page.write_text("mine")
    code, _, err = called(folder, "run", "net.cpn", "--html", "run.html")
    assert code != 0
    assert "run.html: is there already; choose another name or add --force" in err
    assert page.read_text() == "mine"
    assert called(folder, "run", "net.cpn", "--html", "run.html", "--force")[0] == 0
    assert "mine" not in page.read_text()


def test_a_page_and_json_of_one_run(folder):
    code, out, err = called(folder, "run", "net.cpn", "--html", "both.html", "--json")
    assert (code, json.loads(out)["steps"]) == (0, 3)
    assert "both.html has 3 occurrences" in err


def test_a_page_shows_one_run(folder):
    code, _, err = called(folder, "run", "net.cpn", "--html", "many.html", "--replications", "2")
    assert code == 2
    assert "--html shows one run; leave --replications out" in err
    assert not (folder / "many.html").exists()


def test_monitors_of_the_command(folder):
    stop = "breakpoint: Up; fun pred (bindelem) = IntInf.toInt (time ()) >= 0"
    code, out, _ = called(folder, "run", "net.cpn", "--monitor", "count: Up", "--monitor", stop, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["ended"] == "monitor breakpoint of Up"
    assert (found["monitors"]["monitor"][0], found["monitors"]["count"][0]) == ("count of Up", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("counts: Up", "is no KIND:NODE; kinds are marking size"),
        ("count", "is no KIND:NODE"),
        ("count: Down", "the net has no transition `Down`"),
        ("count: Counter", "the net has no transition `Counter`"),
        ("data: Up; fun observe (b) = 1", "is none of fun pred, obs, init and stop"),
    ],
)
def test_a_monitor_that_cannot_be(folder, text, message):
    code, _, err = called(folder, "run", "net.cpn", "--monitor", text)
    assert code != 0
    assert message in err
