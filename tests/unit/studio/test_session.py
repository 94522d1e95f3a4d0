"""What the page gets: the figures of `simulate`, errors with their place, the newest answer."""

import json
import shlex
import threading

import numpy as np
import pytest

import pagecast as pc
from pagecast.cli import cli
from pagecast.cli.failures import run
from pagecast.studio.session import Session, Superseded
from pagecast.studio.thinning import MOST_POINTS
from tests.unit.studio.conftest import SCENARIO, asked

SETTINGS = (
    "machine.memory.size=2 GB",
    "machine.vm.dirty_bytes=100 MB",
    "machine.disk.ssd.read=300 MB/s",
    'process."writer{n}".count=1',
)
ENDLESS = """\
[machine]
from = "wrench-cluster"
[[process]]
name = "app"
do = [ { repeat = 1000000, do = [ { repeat = 1000000, do = [ { sleep = "1 s" } ] } ] } ]
"""


def test_the_series_are_those_of_simulate(session, path):
    found = session.forecast(asked(*SETTINGS))
    result = pc.simulate(pc.Scenario.load(path, set=SETTINGS), model="kernel")
    table, drawn = result.timeline, found["timeline"]
    assert drawn["end_s"] == result.end_s == found["models"][0]["end_s"]
    columns = {"dirty": "dirty", "cached": "cached", "under write-back": "writeback"}
    series = {each["name"]: each["values"] for each in drawn["memory"]}
    for name, column in columns.items():
        assert max(series[name]) == table[f"{column}_bytes"].max()
        assert series[name][-1] == table[f"{column}_bytes"][-1]
    assert {"background threshold", "dirty limit"} <= {*series}
    assert "anonymous" not in series, "there is none"
    assert [each["name"] for each in drawn["lists"]] == ["active list", "inactive list"]
    assert max(drawn["lists"][1]["values"]) == table["inactive_bytes"].max()
    assert len(drawn["time_s"]) <= MOST_POINTS + 1


def test_throttled_spans_and_the_slowest_operation(session):
    found = session.forecast(asked())
    throttled = found["throttled"]["processes"]
    assert {each["name"] for each in throttled} == {"writer1", "writer2"}
    for each in throttled:
        assert each["total_s"] == pytest.approx(sum(end - begin for begin, end in each["spans"]), rel=0.01)
    slowest = found["slowest"]
    assert len({each["operation"] for each in slowest}) == len(slowest) == 3, "copies are one"
    assert slowest[0]["duration_s"] == max(each["duration_s"] for each in slowest)


def test_of_many_throttled_processes_copies_are_one(path, session):
    path.write_text(SCENARIO.replace("count = 2", "count = 14"))
    found = session.forecast(asked())
    (writers,) = found["throttled"]["processes"]
    assert writers["name"] == "writer{n}"
    assert writers["total_s"] <= sum(end - begin for begin, end in writers["spans"]) * 1.01


def test_the_distribution_is_that_of_the_operations(session, path):
    (found,) = session.forecast(asked())["models"]
    result = pc.simulate(pc.Scenario.load(path), model="kernel")
    kinds = {each["label"]: each for each in found["latency"]["kinds"]}
    reads = kinds["reader  read"]
    table = result.latency
    row = table["process"].index("reader")
    assert reads["count"] == table["count"][row] == sum(reads["histogram"]["counts"])
    for name in ("p50_s", "p90_s", "p99_s", "p99_9_s"):
        assert reads[name] == pytest.approx(table[name][row], rel=0.002)
    assert reads["max_s"] == pytest.approx(table["max_s"][row], rel=0.002)
    assert (np.diff(reads["curve"][1]) >= 0).all()


def test_rivals_are_beside(session):
    found = session.forecast(asked(models=("kernel", "no-cache", "endless-cache")))
    assert [each["model"] for each in found["models"]] == ["kernel", "no-cache", "endless-cache"]
    writers = next(row for row in found["makespans"]["rows"] if row["process"] == "writer{n}")
    assert writers["count"] == 2
    kernel, no_cache, endless = writers["seconds"]
    assert endless < min(kernel, no_cache)


def test_wrench_tells_its_lists_at_the_end(session, path):
    found = session.forecast(asked(models=("wrench",)))["timeline"]
    assert found["lists"] == []
    result = pc.simulate(pc.Scenario.load(path), model="wrench")
    assert {*found["at_end"]} <= {"active", "inactive"}
    assert sum(found["at_end"].values()) == result.timeline["cached_bytes"][-1]


def test_a_rival_that_cannot_is_left_out(session):
    overrides = ("machine.cgroup.a.memory.max=1 GB", "process.reader.cgroup=a")
    found = session.forecast(asked(*overrides, models=("kernel", "no-cache")))
    assert [each["model"] for each in found["models"]] == ["kernel"]
    assert found["notes"][0].startswith("no-cache: model `no-cache` knows no memory cgroups")


def test_the_copied_command_prints_the_same_figures(session, path, capfd):
    question = asked(*SETTINGS, models=("kernel", "no-cache"))
    words = shlex.split(session.copied("command", question))
    assert words[:3] == ["pagecast", "simulate", str(path)]
    assert run(cli, [*words[1:], "--json"]) == 0
    runs = json.loads(capfd.readouterr().out)["runs"]
    found = session.forecast(question)
    for model, printed in zip(found["models"], runs, strict=True):
        assert model["model"] == printed["model"]
        assert model["end_s"] == max(printed["timeline"]["time_s"][-1], max(printed["operations"]["end_s"]))
        assert model["operations"] == len(printed["operations"]["end_s"]) or model["operations"] == sum(
            printed["latency"]["count"]
        )


def test_the_copied_toml_has_the_same_figures(session, path):
    text = session.copied("toml", asked(*SETTINGS))
    path.write_text(text)
    assert session.forecast(asked())["timeline"] == session.forecast(asked(*SETTINGS))["timeline"]


def test_a_seed_and_values_of_the_command_line_are_copied(path):
    session = Session(path, ("machine.cores=2",), seed=7)
    words = shlex.split(session.copied("command", asked("machine.cores=3")))
    assert words[-6:] == ["--set", "machine.cores=2", "--set", "machine.cores=3", "--seed", "7"]


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("cores = 4", "cores = four"), 6, "is no TOML"),
        (("dirty_ratio = 20", "dirty_ration = 20"), 9, "did you mean `dirty_ratio`"),
        (('write = "/data/out', 'write = "/nowhere/out'), 24, "is under no mount"),
    ],
)
def test_an_error_has_its_place(change, line, message, path, session):
    assert "error" not in session.forecast(asked())
    path.write_text(SCENARIO.replace(*change))
    found = session.forecast(asked())
    assert (found["error"]["file"], found["error"]["line"]) == ("scenario.toml", line)
    assert message in found["error"]["message"]
    assert "timeline" not in found


def test_a_value_that_cannot_be_has_no_line(session):
    found = session.forecast(asked("machine.memory.size=-1 GB", known="x"))
    assert found["error"]["file"] == ""
    assert found["error"]["message"].startswith("--set machine.memory.size=-1 GB: ")
    assert found["controls"], "of the file itself"


def test_a_scenario_that_cannot_go_on_still_has_controls(session, path):
    path.write_text(SCENARIO.replace('{ read = "/data/in",', '{ alloc = "64 GB" }, { read = "/data/in",'))
    found = session.forecast(asked())
    assert "error" in found
    assert "machine.memory.size" in {each["id"] for each in found["controls"]}


def test_a_missing_file_is_an_error_and_its_return_is_seen(session, path):
    first = session.forecast(asked())
    path.unlink()
    assert session.watched.revision == ""
    assert "there is no such file" in session.forecast(asked())["error"]["message"]
    path.write_text(SCENARIO + "\n")
    assert session.watched.revision not in ("", first["revision"])
    assert "error" not in session.forecast(asked())


def test_a_change_of_a_machine_file_is_seen(tmp_path):
    (tmp_path / "m.toml").write_text('from = "wrench-cluster"\n')
    path = tmp_path / "s.toml"
    path.write_text('machine.from = "m.toml"\n[[process]]\nname = "a"\ndo = [ { sleep = "1 s" } ]\n')
    session = Session(path)
    before = session.forecast(asked())["revision"]
    assert session.watched.revision == before
    (tmp_path / "m.toml").write_text('from = "wrench-cluster"\ncores = 3\n')
    assert session.watched.revision != before


def test_a_change_of_a_file_that_only_the_page_names_is_seen(path, session):
    machine = path.parent / "other.toml"
    setting = 'machine={ from = "other.toml" }'
    ends = []
    for cores in (2, 1):
        machine.write_text(f'from = "wrench-cluster"\ncores = {cores}\nmount."/data".disk = "ssd"\n')
        found = session.forecast(asked(setting))
        ends.append(found["timeline"]["end_s"])
    assert ends[0] != ends[1]


def test_controls_come_once(session):
    first = session.forecast(asked())
    assert first["controls"]
    assert first["choices"][0] == "kernel"
    assert "controls" not in session.forecast(asked(known=first["revision"]))


def test_a_newer_question_stops_an_older_one(tmp_path, monkeypatch):
    path = tmp_path / "s.toml"
    path.write_text(ENDLESS)
    session = Session(path)
    begun, ended = threading.Event(), []

    def simulate(*arguments, **more):
        begun.set()
        return pc.simulate(*arguments, **more)

    monkeypatch.setattr("pagecast.studio.session.simulate", simulate)

    def ask():
        try:
            session.forecast(asked(page="one"))
        except Superseded:
            ended.append("superseded")

    older = threading.Thread(target=ask)
    older.start()
    assert begun.wait(60)
    path.write_text(SCENARIO)
    session.forecast(asked(page="another"))
    assert ended == [], "other pages go on"
    assert "timeline" in session.forecast(asked(page="one"))
    older.join(60)
    assert ended == ["superseded"]


def test_another_host_is_drawn(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'host.a.from = "wrench-cluster"\nhost.b.from = "wrench-cluster"\nnetwork.topology = "star"\n'
        'network.transport = "10gbe"\n[[process]]\nname = "app"\nhost = "b"\n'
        'do = [ { write = "/data/x", size = "1 GB" } ]\n'
    )
    session = Session(path)
    drawn = session.forecast(asked(host="b"))["timeline"]
    assert (drawn["host"], drawn["hosts"]) == ("b", ["a", "b"])
    assert max(drawn["memory"][0]["values"]) == 10**9
    assert session.forecast(asked(host="gone"))["timeline"]["host"] == "a"
