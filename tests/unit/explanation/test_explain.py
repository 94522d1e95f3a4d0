"""Explanations of operations and instants, of a result and of one that was saved."""

import matplotlib.pyplot as plt
import pytest

import pagecast as pc
from pagecast.errors import ArgumentError, OutputError
from pagecast.explanation.drawing import draw
from pagecast.explanation.operation import slowest_rows
from pagecast.explanation.saved import read_saved
from tests.unit.explanation.conftest import SCENARIO


@pytest.fixture
def saved(beside, tmp_path):
    beside.save(tmp_path / "out")
    return read_saved(tmp_path / "out")


def test_the_slowest_fsync_waited_behind_write_back_of_the_backup(beside):
    found = pc.explain(beside, process="db", operation="fsync")
    assert found.rank == 1
    assert found.start_s > 1
    assert sum(found.parts.values()) == pytest.approx(found.duration_s)
    wait = found.waits[0]
    assert (wait.work, wait.process, wait.path) == ("write-back", "backup", "/data/copy")
    assert "behind write-back of backup's /data/copy" in found.text
    assert {other.process for other in found.others} == {"backup"}


def test_waits_add_up_to_no_more_than_their_part(beside):
    for number in range(1, 31):
        found = pc.explain(beside, process="db", operation="fsync", number=number)
        for part, part_s in found.parts.items():
            waited_s = sum(wait.waited_s for wait in found.waits if wait.part == part)
            assert waited_s <= part_s * (1 + 1e-9)


def test_numbers_count_operations_of_a_kind_from_one(beside):
    first, second = (pc.explain(beside, process="db", operation="fsync", number=n) for n in (1, 2))
    assert (first.number, second.number) == (1, 2)
    assert first.end_s <= second.start_s
    assert not first.waits
    assert first.levels.dirty_bytes <= 8192


def test_nothing_asked_for_is_the_slowest_operation(beside):
    found = pc.explain(beside)
    assert (found.process, found.operation) == ("backup", "write")
    assert [beside.operations["operation"][row] for row in slowest_rows(beside, 10)] == [
        "write",
        "fsync",
        "write",
    ]


def test_an_instant_has_operations_levels_and_disks(beside):
    slow = pc.explain(beside, process="db", operation="fsync")
    found = pc.explain(beside, at_s=(slow.start_s + slow.end_s) / 2)
    assert {(each.process, each.operation) for each in found.doing} >= {("db", "fsync"), ("backup", "write")}
    assert found.levels[0].dirty_bytes > found.levels[0].background_threshold_bytes
    assert found.disks[0].write_bytes_per_s == pytest.approx(400e6, rel=0.1)
    assert next(iter(found.served)) == "backup's /data/copy"
    assert "Dirty memory then: " in found.text


def test_waits_of_a_long_operation_count_by_the_part_in_the_window():
    """The backup's fsync waited behind the database, but not while that sleeps."""
    backup = '{ write = "/data/copy", size = "2 GB", call = "1 MiB" }'
    text = SCENARIO.replace(backup, f'{backup}, {{ fsync = "/data/copy" }}')
    result = pc.simulate(pc.Scenario.from_toml(text))
    found = pc.explain(result, at_s=5.09)
    assert [(each.process, each.operation) for each in found.doing] == [("backup", "fsync"), ("db", "sleep")]
    assert "backup" in result.waits["process"]
    assert found.served == {}
    assert "No operation around it waited for long behind another process's requests." in found.text


def test_waits_in_the_window_are_no_longer_than_its_operations(beside):
    slow = pc.explain(beside, process="db", operation="fsync")
    found = pc.explain(beside, at_s=(slow.start_s + slow.end_s) / 2)
    disk = found.disks[0]
    assert 0 < sum(found.served.values()) <= 2 * (disk.end_s - disk.begin_s)


def test_an_instant_has_what_a_power_cut_would_lose_if_the_result_knows_it(beside, tmp_path):
    assert pc.explain(beside, at_s=2.5).at_risk == ()
    result = pc.simulate(pc.Scenario.from_toml(SCENARIO), at_risk=True)
    [before] = pc.explain(result, at_s=0.0).at_risk
    assert (before.device, before.at_risk_bytes) == ("ssd", 0)
    assert "On ssd a power cut then would lose nothing." in pc.explain(result, at_s=0.0).text
    found = pc.explain(result, at_s=2.5)
    [lost] = found.at_risk
    assert lost.at_risk_bytes == lost.memory_bytes + lost.disk_cache_bytes + lost.uncommitted_bytes
    assert lost.memory_bytes == pytest.approx(found.levels[0].dirty_bytes, rel=0.05)
    assert lost.files >= 1
    assert "On ssd a power cut then would lose " in found.text
    result.save(tmp_path / "out")
    assert pc.explain(read_saved(tmp_path / "out"), at_s=2.5).at_risk == found.at_risk


def test_a_saved_result_is_explained_alike(beside, saved):
    assert pc.explain(saved, process="db", operation="fsync") == pc.explain(
        beside, process="db", operation="fsync"
    )
    assert pc.explain(saved, at_s=2.0).doing == pc.explain(beside, at_s=2.0).doing


def test_other_models_have_no_waits_and_no_limits(tmp_path, scenario):
    result = pc.simulate(scenario, model="no-cache")
    found = pc.explain(result, process="app", operation="read")
    assert found.waits == ()
    assert found.levels.dirty_limit_bytes is None
    result.save(tmp_path / "out")
    assert pc.explain(read_saved(tmp_path / "out")).parts == pc.explain(result).parts


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"process": "dbb"}, "there is no process `dbb`; there are backup, db"),
        (
            {"process": "db", "operation": "sync"},
            "there is no operation `sync`; there are fsync, sleep, write",
        ),
        ({"process": "db", "operation": "fsync", "number": 31}, "#31: there are 30 such operations"),
        ({"operation": "write", "number": 1}, "#1: of which process"),
        ({"at_s": 1e6}, "the result goes from 0 s to"),
        ({"at_s": float("nan")}, "the result goes from 0 s to"),
        ({"at_s": 1.0, "process": "db"}, "leave process, operation and number out"),
    ],
)
def test_what_is_not_there_is_said(beside, asked, what):
    with pytest.raises(ArgumentError, match=what):
        pc.explain(beside, **asked)


def test_a_folder_without_tables(tmp_path):
    with pytest.raises(OutputError, match="holds no tables"):
        read_saved(tmp_path)


def test_a_table_that_cannot_be_understood(beside, tmp_path):
    beside.save(tmp_path / "out")
    (tmp_path / "out" / "operations.csv").write_text("process,start_s\ndb\n")
    with pytest.raises(OutputError, match=r"operations\.csv: cannot be understood"):
        pc.explain(read_saved(tmp_path / "out"))


@pytest.mark.parametrize("asked", [{"process": "db", "operation": "fsync"}, {"at_s": 2.0}])
def test_the_picture_has_levels_disks_and_operations(beside, saved, asked):
    for result in (beside, saved):
        figure = plt.figure()
        draw(result, pc.explain(result, **asked), figure)
        levels, disks, under_way = figure.axes
        assert levels.get_legend().get_texts()[0].get_text() == "dirty"
        assert [text.get_text() for text in disks.get_legend().get_texts()] == ["ssd writes"]
        assert {label.get_text() for label in under_way.get_yticklabels()} == {"db", "backup"}
        plt.close(figure)
