"""A sweep gives the same rows however it is computed."""

import signal

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import ArgumentError, MeasureError, ScenarioError, SimulationError
from pagecast.sweeps import local
from tests.unit.sweeps.conftest import MEASURES, SCENARIO, VARY


def test_a_point_is_a_simulation_with_these_values(path):
    found = pc.sweep(path, vary=VARY, measure=MEASURES, workers=1)
    assert found.columns.keys() == [
        *("point", "vm_dirty_bytes", "ssd_write_bytes_per_s"),
        *("p99_app_fsync_s", "makespan_s", "peak_dirty_bytes", "error"),
    ]
    changes = ["machine.vm.dirty_bytes=64 MB", "machine.disk.ssd.write=400 MB/s"]
    result = pc.simulate(pc.Scenario.load(path, set=changes))
    row = {name: found.columns[name][1] for name in found.columns}
    assert (row["vm_dirty_bytes"], row["ssd_write_bytes_per_s"]) == (64_000_000, 400_000_000)
    assert row["makespan_s"] == result.end_s
    assert row["peak_dirty_bytes"] == result.timeline["dirty_bytes"].max()
    assert found.points[1] == {"vm_dirty_bytes": 64_000_000, "ssd_write_bytes_per_s": 400_000_000}


def test_workers_change_nothing(path):
    alone = pc.sweep(path, vary=VARY, measure=MEASURES, workers=1)
    assert pc.sweep(path, vary=VARY, measure=MEASURES, workers=3).rows == alone.rows


def test_the_table_is_a_data_frame(path):
    table = pc.sweep(path, vary={"machine.cores": [1, 2]}, workers=1).table
    assert list(table.columns) == ["point", "machine_cores", "makespan_s", "error"]
    assert table["machine_cores"].tolist() == [1, 2]


def test_a_scenario_from_toml_is_swept_with_its_changes(path):
    scenario = pc.Scenario.load(path, set=["machine.disk.ssd.write=100 MB/s"])
    slow = pc.sweep(scenario, vary={"machine.cores": [1]}, workers=1)
    fast = pc.sweep(path, vary={"machine.cores": [1]}, workers=1)
    assert slow.columns["makespan_s"][0] > 2 * fast.columns["makespan_s"][0]


def test_a_scenario_that_was_made_in_python_is_refused(path):
    machine = pc.Scenario.load(path).machine
    scenario = pc.Scenario(machine, processes={"a": [pc.sleep(1)]})
    with pytest.raises(ScenarioError, match="made or changed in Python cannot be swept by keys"):
        pc.sweep(scenario, vary={"machine.cores": [1]})


def test_the_table_of_the_scenario_says_what_to_do(path):
    path.write_text(
        SCENARIO
        + '[sweep]\nmeasure = ["peak(dirty)"]\n[sweep.vary]\nmachine.vm.dirty_bytes = "64MB,1GB"\n'
        + 'machine.mount."/data".disk = ["ssd"]\n'
    )
    found = pc.sweep(path, workers=1)
    assert found.columns.keys() == ["point", "vm_dirty_bytes", "data_disk", "peak_dirty_bytes", "error"]
    other = pc.sweep(path, workers=1, vary={"machine.cores": "1,2"}, measure="makespan")
    assert other.columns.keys() == ["point", "machine_cores", "makespan_s", "error"]


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("measures = []", "unknown key `measures`; known keys: vary, measure, sample, model"),
        ("vary = 3", "vary is a table"),
        ("measure = 3", "measure is a list of texts"),
        ("sample = 3", "sample is a text"),
    ],
)
def test_a_wrong_table(table, what, path):
    path.write_text(f"{SCENARIO}[sweep]\n{table}\n")
    with pytest.raises(ScenarioError) as caught:
        pc.sweep(path)
    assert what in str(caught.value)
    assert "scenario.toml: [sweep]" in str(caught.value)


def test_a_point_that_fails_is_a_row(path):
    found = pc.sweep(path, vary={"machine.disk.ssd.size": "500MB,100GB"}, workers=1)
    assert found.failed == 1
    assert "process `app` needs 1 GB on disk `ssd`" in found.columns["error"][0]
    assert found.columns["error"][1] == ""
    assert np.isnan(found.columns["makespan_s"][0])
    assert found.columns["makespan_s"][1] > 0


def test_all_points_that_fail_are_an_error(path):
    with pytest.raises(SimulationError, match="all 2 points failed; the first one: "):
        pc.sweep(path, vary={"machine.disk.ssd.size": "400MB,500MB"}, workers=1)
    with pytest.raises(ScenarioError, match="unknown key `dirty_byte`"):
        pc.sweep(path, vary={"machine.vm.dirty_byte": "1GB,2GB"}, workers=1)


def test_a_measure_of_nothing_ends_the_sweep_at_once(path):
    seen = []
    with pytest.raises(MeasureError, match="there is no process called `ap`; there are app"):
        pc.sweep(
            path, vary=VARY, measure=["max(ap fsync)"], workers=1, progress=lambda _, what: seen.append(what)
        )
    assert seen == ["0 of 8 points"]


def test_an_interruption_is_raised(path):
    def interrupt(fraction, what):
        if fraction > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pc.sweep(path, vary=VARY, workers=1, progress=interrupt)


def test_progress_tells_points(path):
    seen = []
    pc.sweep(path, vary=VARY, workers=1, progress=lambda fraction, what: seen.append((fraction, what)))
    assert seen[0] == (0.0, "0 of 8 points")
    assert seen[-1] == (1.0, "8 of 8 points")
    assert len(seen) == 9


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"on": "slurm"}, "`slurm` is no place for a sweep; write local, dask, or tcp://HOST:PORT"),
        ({"workers": 0}, "workers=0 is not from 1 to 10000"),
        ({"model": "cernel"}, "did you mean 'kernel'?"),
        ({"measure": ["vm_dirty = peak(dirty)"]}, "two columns are called `vm_dirty_bytes`"),
    ],
)
def test_wrong_arguments(more, what, path):
    with pytest.raises(ArgumentError) as caught:
        pc.sweep(path, vary=VARY, **more)
    assert what in str(caught.value)


class DyingWorker(local._Worker):
    """A worker that is killed when it gets a certain point for the first time, or each time."""

    deaths = 0
    most = 1

    def ask(self, index, overrides):
        dies = index == 2 and DyingWorker.deaths < DyingWorker.most
        if dies:
            # So that it has not answered before it dies.
            self._process.send_signal(signal.SIGSTOP)
        super().ask(index, overrides)
        if dies:
            DyingWorker.deaths += 1
            self._process.kill()
            self._process.wait()


@pytest.mark.parametrize(("most", "failed"), [(1, 0), (9, 1)])
def test_the_point_of_a_worker_that_was_killed_is_tried_once_more(most, failed, path, monkeypatch):
    alone = pc.sweep(path, vary=VARY, measure=MEASURES, workers=1)
    monkeypatch.setattr(local, "_Worker", DyingWorker)
    monkeypatch.setattr(DyingWorker, "deaths", 0)
    monkeypatch.setattr(DyingWorker, "most", most)
    found = pc.sweep(path, vary=VARY, measure=MEASURES, workers=2)
    assert found.failed == failed
    if failed:
        assert found.columns["error"][2] == "its process ended twice, with signal 9; is there enough memory?"
    assert [row for row in found.rows if not row[-1]] == [
        row for row in alone.rows if row[0] != 2 or not failed
    ]
