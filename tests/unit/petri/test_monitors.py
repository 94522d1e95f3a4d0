"""Monitors from Python: what they measure, and what several runs say together."""

import pytest

from pagecast.errors import ArgumentError, PetriNetError
from pagecast.petri import Net, Node, load
from pagecast.petri.nets import path_of
from pagecast.petri.replications import _student


def queue():
    """Jobs arrive every 10 units of time at random, and each is served in 7 at random."""
    net = Net("queue")
    net.declare("colset JOB = unit timed;", "var j : JOB;")
    source = net.place("Source", "JOB", "1`()")
    waiting = net.place("Waiting", "JOB")
    free = net.place("Free", "JOB", "1`()")
    arrive = net.transition("Arrive")
    net.arc(source, arrive, "j")
    net.arc(arrive, source, "j @+ poisson 10.0")
    net.arc(arrive, waiting, "j")
    serve = net.transition("Serve")
    net.arc(waiting, serve, "j")
    net.arc(free, serve, "j")
    net.arc(serve, free, "j @+ poisson 7.0")
    net.monitor("waiting", "marking size", waiting)
    net.monitor("served", "count", serve)
    net.monitor(
        "arrivals",
        "data",
        arrive,
        pred="fun pred (bindelem) = true",
        obs="fun obs (bindelem) = time ()",
        stop="fun stop () = NONE",
    )
    return net


def test_monitors_measure_a_run():
    run = queue().run(seed=3, until=10_000)
    rows = {name: at for at, name in enumerate(run.monitors["monitor"])}
    counts = dict(zip(run.transitions["transition"], run.transitions["occurrences"], strict=True))
    assert run.monitors["sum"][rows["served"]] == counts["Page'Serve"]
    assert run.monitors["count"][rows["arrivals"]] == counts["Page'Arrive"]
    assert run.monitors["max"][rows["arrivals"]] <= 10_000
    assert 0 < run.monitors["mean"][rows["waiting"]] < 2


def test_a_run_is_the_same_without_monitors():
    watched, plain = queue(), queue()
    plain._drawing.monitors.clear()
    assert plain.run(seed=3, until=1000).marking == watched.run(seed=3, until=1000).marking


def test_replications_differ_in_their_seeds_and_give_an_interval():
    found = queue().replicate(20, seed=5, until=20_000)
    assert len(found.ends) == 20
    assert len(set(found.ends["steps"])) > 1
    served = found.monitors["monitor"].index("served")
    mean, half = found.monitors["mean"][served], found.monitors["half_width"][served]
    assert abs(mean - 2000) < 3 * half < 100
    again = queue().replicate(20, seed=5, until=20_000)
    assert again.monitors.to_dict() == found.monitors.to_dict()


def test_one_run_has_no_interval_and_none_is_refused():
    assert queue().replicate(1, until=100).monitors["half_width"] == [None, None, None]
    with pytest.raises(ArgumentError, match="runs=0 is less than 1"):
        queue().replicate(0)


def test_quantiles_of_student_are_those_of_the_tables():
    assert _student(1) == 12.706
    assert _student(31) == pytest.approx(2.0395, abs=2e-3)
    assert _student(120) == pytest.approx(1.9799, abs=1e-3)


def test_monitors_are_kept_in_a_file(tmp_path):
    queue().save(tmp_path / "net.cpn")
    net = load(tmp_path / "net.cpn")
    assert (
        net.run(seed=3, until=5000).monitors.to_dict() == queue().run(seed=3, until=5000).monitors.to_dict()
    )
    net.save(tmp_path / "again.cpn")
    assert (tmp_path / "again.cpn").read_bytes() == (tmp_path / "net.cpn").read_bytes()


def test_a_monitor_ends_a_run_and_writes():
    net = queue()
    serve, waiting = Node("Page", "Serve", "transition"), Node("Page", "Waiting", "place")
    always, said = "fun pred (bindelem) = true", 'fun obs (bindelem) = "served\\n"'
    net.monitor("log", "write in file", serve, pred=always, obs=said)
    net.monitor("full", "breakpoint", waiting, pred="fun pred (m : JOB ms) = size m > 3")
    run = net.run(seed=3)
    assert run.ended == "monitor full"
    assert run.written["log"].count("served\n") == run.monitors["count"][1]


def test_mistakes_name_the_monitor():
    with pytest.raises(ArgumentError, match="kind='length' is none of marking size, list length"):
        queue().monitor("m", "length")
    net = queue()
    net.monitor("m", "marking size")
    with pytest.raises(PetriNetError, match="queue: monitor `m`: it watches one place, and not 0"):
        net.check()


def loaded(tmp_path):
    """The net of the queue from a file, without its monitors."""
    net = queue()
    net._drawing.monitors.clear()
    net.save(tmp_path / "queue.cpn")
    return load(tmp_path / "queue.cpn")


def test_a_net_that_was_loaded_takes_monitors_of_every_kind(tmp_path):
    net = loaded(tmp_path)
    net.monitor("waiting", "marking size", net.node("Waiting"))
    net.monitor("served", "count", net.node("Page'Serve", "transition"))
    functions = {"pred": "fun pred (bindelem) = true", "obs": "fun obs (bindelem) = time ()"}
    net.monitor("arrivals", "data", net.node("Arrive"), **functions)
    built, found = queue().run(seed=3, until=1000), net.run(seed=3, until=1000)
    for column in ("monitor", "kind", "count", "sum", "max"):
        expected = built.monitors[column]
        assert found.monitors[column][:2] == expected[:2]
        assert column == "count" or found.monitors[column][2] == expected[2]


def test_a_breakpoint_ends_a_net_that_was_loaded(tmp_path):
    net = loaded(tmp_path)
    net.monitor("late", "breakpoint", net.node("Serve"), pred="fun pred (bindelem) = time () > 100 & <")
    with pytest.raises(PetriNetError, match="monitor"):
        net.run(until=10_000)
    net = loaded(tmp_path)
    net.monitor("late", "breakpoint", net.node("Serve"), pred="fun pred (bindelem) = time () > 100")
    run = net.run(until=10_000)
    assert run.ended == "monitor late"
    assert 100 < run.time < 200


def test_a_net_with_a_monitor_more_can_be_written(tmp_path):
    net = loaded(tmp_path)
    net.monitor("served", "count", net.node("Serve"))
    net.save(tmp_path / "again.cpn")
    assert load(tmp_path / "again.cpn").run(until=100).monitors["monitor"] == ["served"]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("Sevre", None, "the net has no node `Sevre`"),
        ("Serve", "place", "the net has no place `Serve`"),
        ("Other'Serve", None, "the net has no node `Other'Serve`"),
    ],
)
def test_a_node_that_is_not_there(tmp_path, name, kind, message):
    with pytest.raises(ArgumentError, match=message):
        loaded(tmp_path).node(name, kind)


def test_a_name_of_several_nodes_needs_its_page():
    net = load(path_of("ext3-read"))
    with pytest.raises(ArgumentError, match=r"several nodes `Begin`.*name the page"):
        net.node("Begin")
    assert net.node("fread'Begin") == Node("fread", "Begin", "transition")
