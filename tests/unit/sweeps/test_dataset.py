"""A sweep on a disk: parts that are whole, and a sweep that goes on."""

import json
import os

import pyarrow.parquet as pq
import pytest

import pagecast as pc
from pagecast.errors import OutputError, ScenarioError, SimulationError
from pagecast.sweeps import dataset, running
from pagecast.sweeps.query import query
from pagecast.sweeps.table import load_table
from tests.unit.sweeps.conftest import MEASURES, VARY


@pytest.fixture
def sweep(path):
    """Do the sweep, or a part of it."""

    def do(out, **more):
        return pc.sweep(path, **{"vary": VARY, "measure": MEASURES, "workers": 1, "out": out} | more)

    return do


def stop_after(points):
    def progress(fraction, what):
        if what.startswith(f"{points} of"):
            raise KeyboardInterrupt

    return progress


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.*"))}


def test_the_files_are_the_same_however_it_was_computed(sweep, tmp_path):
    sweep(tmp_path / "alone")
    sweep(tmp_path / "together", workers=2)
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path / "stopped", progress=stop_after(3))
    assert len(content(tmp_path / "stopped")) == 4
    sweep(tmp_path / "stopped", workers=2)
    alone = content(tmp_path / "alone")
    assert len(alone) == 9
    assert content(tmp_path / "together") == alone
    assert content(tmp_path / "stopped") == alone


def test_it_goes_on_where_it_was_stopped(sweep, tmp_path, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        sweep(tmp_path / "out", progress=stop_after(3))
    todo = []
    run_here = running.run_here
    monkeypatch.setattr(
        running, "run_here", lambda task, steps, **more: todo.extend(steps) or run_here(task, steps, **more)
    )
    found = sweep(tmp_path / "out")
    assert [index for index, _ in todo] == [3, 4, 5, 6, 7]
    assert found.rows == sweep(None).rows
    todo.clear()
    assert sweep(tmp_path / "out").rows == found.rows
    assert todo == []


def test_a_part_that_a_power_cut_has_left_empty_is_done_again(sweep, tmp_path):
    sweep(tmp_path / "out")
    before = content(tmp_path / "out")
    (tmp_path / "out" / "points" / "part-000003.parquet").write_bytes(b"")
    sweep(tmp_path / "out")
    assert content(tmp_path / "out") == before


def test_failures_are_kept(path, tmp_path):
    vary = {"machine.disk.ssd.size": "500MB,100GB"}
    first = pc.sweep(path, vary=vary, workers=1, out=tmp_path / "out")
    assert pc.sweep(path, vary=vary, workers=1, out=tmp_path / "out").rows == first.rows
    assert first.failed == 1


def test_failures_of_all_points_are_an_error_also_when_they_are_read_again(path, tmp_path):
    for error in (SimulationError, ScenarioError):
        with pytest.raises(error, match=r"all 2 points failed; the first one: .* needs 1 GB on disk"):
            pc.sweep(path, vary={"machine.disk.ssd.size": "400MB,500MB"}, workers=1, out=tmp_path / "out")


def test_columns_have_types_and_no_value_is_null(path, tmp_path):
    vary = {"machine.disk.ssd.size": "500MB,100GB", "machine.kernel.version": "5.10,6.6"}
    pc.sweep(path, vary=vary, measure=["peak(dirty)", "makespan"], workers=1, out=tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "points" / "part-000000.parquet")
    assert {name: str(table.schema.field(name).type) for name in table.schema.names} == {
        "point": "int64",
        "ssd_size_bytes": "int64",
        "kernel_version": "double",
        "peak_dirty_bytes": "int64",
        "makespan_s": "double",
        "error": "string",
    }
    assert table["makespan_s"].to_pylist() == [None]


def test_another_sweep_is_refused(sweep, path, tmp_path):
    sweep(tmp_path / "out")
    for more in (
        {"measure": ["makespan"]},
        {"seed": 1},
        {"vary": {"machine.cores": "1,2"}},
        {"set": ["machine.cores=2"]},
    ):
        with pytest.raises(OutputError, match=r"holds another sweep .*; choose another name or add --force"):
            sweep(tmp_path / "out", **more)
    path.write_text(path.read_text().replace("1 GB", "2 GB"))
    with pytest.raises(OutputError, match="holds another sweep"):
        sweep(tmp_path / "out")
    assert sweep(tmp_path / "out", measure=["makespan"], force=True).is_whole
    assert len(content(tmp_path / "out")) == 9


def test_what_is_in_the_way_is_kept(sweep, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    (tmp_path / "file").touch()
    for force in (False, True):
        with pytest.raises(OutputError, match="is not empty, and holds no sweep; choose another name"):
            sweep(tmp_path / "full", force=force)
    with pytest.raises(OutputError, match="is a file, and results need a directory"):
        sweep(tmp_path / "file")
    assert os.listdir(tmp_path / "full") == ["mine"]


def test_a_sweep_is_saved_afterwards(sweep, tmp_path):
    sweep(tmp_path / "out")
    sweep(None).save(tmp_path / "saved")
    assert content(tmp_path / "saved") == content(tmp_path / "out")


def test_the_manifest_says_what_it_is(sweep, path, tmp_path):
    sweep(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert manifest["provenance"]["pagecast_version"] == pc.__version__
    assert manifest["scenario"] == path.read_text()
    assert [axis["key"] for axis in manifest["design"]["axes"]] == [*VARY]
    assert [each["measure"] for each in manifest["measures"]] == [*MEASURES]


def test_it_is_read_again_as_it_was(sweep, tmp_path):
    found = sweep(tmp_path / "out").data
    table = load_table(tmp_path / "out")
    assert (table.keys, table.measures, table.model) == (found.keys, found.measures, found.model)
    assert all((table.columns[name] == found.columns[name]).all() for name in table.columns)


def test_other_tools_read_the_points_as_one_table(sweep, tmp_path):
    found = sweep(tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "points").num_rows == len(found.rows)


def test_it_is_asked_in_sql(sweep, tmp_path):
    sweep(tmp_path / "out")
    answer = query(
        tmp_path / "out", "select point, makespan_s from sweep where vm_dirty_bytes = 64000000 order by 2"
    )
    assert answer.columns == ("point", "makespan_s")
    assert [row[0] for row in answer.rows] == [1, 0]


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("selct 1", "the query failed: Parser Error: syntax error at or near"),
        ("select makespan from sweep", 'Candidate bindings: "makespan_s"'),
    ],
)
def test_what_sql_does_not_understand_is_said_in_one_line(sql, what, sweep, tmp_path):
    sweep(tmp_path / "out")
    with pytest.raises(ValueError, match="the query failed") as caught:
        query(tmp_path / "out", sql)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_is_no_sweep(tmp_path):
    with pytest.raises(OutputError, match="holds no sweep; make one with"):
        query(tmp_path, "select 1")
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(OutputError, match="is no manifest of a sweep"):
        load_table(tmp_path)


def test_a_full_disk_keeps_the_parts_that_are_there(sweep, tmp_path, monkeypatch):
    write_file = dataset.write_file

    def full(path, content, **more):
        if path.name == "part-000004.parquet":
            raise OutputError(f"{path.name}: cannot be written (No space left on device); nothing was kept")
        write_file(path, content, **more)

    monkeypatch.setattr(dataset, "write_file", full)
    with pytest.raises(
        OutputError, match=r"\(No space left on device\); other parts stay, and the same command goes"
    ):
        sweep(tmp_path / "out")
    assert len(content(tmp_path / "out")) == 5
