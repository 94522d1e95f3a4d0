"""Gantt charts: each bar is where it belongs."""

import numpy as np
import pytest

import pagecast as pc
from pagecast.plot.style import ACTIVITY_COLOURS

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@pytest.fixture
def result(machine):
    """Three tasks of two cores each on four: the third one waits."""
    program = [pc.read("/data/in"), pc.compute(4.0), pc.write("/data/out", size_bytes=1e9)]
    tasks = {name: pc.Process(program, slots=2) for name in ("a", "b", "c")}
    return pc.simulate(pc.Scenario(machine, processes=tasks, files={"/data/in": 1e9}), model="no-cache")


def bars(ax):
    """Give start, end and row of each bar, by what is done."""
    found = {}
    for collection in ax.collections:
        name = collection.get_label().split(" ")[0]
        assert to_hex(collection.get_facecolor()[0]) == ACTIVITY_COLOURS[name].lower()
        corners = [path.vertices for path in collection.get_paths()]
        found[name] = sorted(
            (float(each[:, 1].mean().round() if len(each) == 4 else each[:-1, 1].mean().round()),
             float(each[:, 0].min()), float(each[:, 0].max()))
            for each in corners
        )  # fmt: skip
    return found


def test_a_process_has_a_row_with_its_wait(result):
    ax = pc.plot.gantt(result, ax=Figure().add_subplot())
    operations = result.operations
    (compute,) = (
        row
        for row in range(len(operations))
        if operations["index"][row] == 2 and operations["process"][row] == "c"
    )
    drawn = bars(ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert drawn["computing"][2] == (2.0, operations["start_s"][compute], operations["end_s"][compute])
    ((row, start, end),) = drawn["waiting"]
    assert (row, start) == (2.0, 0.0)
    assert end == min(
        operations["end_s"][row] for row in range(len(operations)) if operations["index"][row] == 3
    )


def test_a_core_has_a_row_without_overlaps(result):
    ax = pc.plot.gantt(result, ax=Figure().add_subplot(), by="core")
    drawn = bars(ax)
    assert set(drawn) == {"reading", "computing", "writing"}
    assert len(drawn["computing"]) == 6  # three tasks on two cores each
    by_row = {}
    for row, start, end in (bar for each in drawn.values() for bar in each):
        by_row.setdefault(row, []).append((start, end))
    assert set(by_row) == {0.0, 1.0, 2.0, 3.0}
    for spans in by_row.values():
        ends = np.array(sorted(spans))
        assert (ends[1:, 0] >= ends[:-1, 1] - 1e-9).all()


def test_processes_without_slots_have_no_cores(machine):
    result = pc.simulate(pc.Scenario(machine, processes={"a": [pc.compute(1.0)]}), model="no-cache")
    ax = pc.plot.gantt(result, ax=Figure().add_subplot(), by="core")
    assert [text.get_text() for text in ax.texts] == ["no process holds cores"]
    assert bars(pc.plot.gantt(result, ax=Figure().add_subplot()))["computing"] == [(0.0, 0.0, 1.0)]


def test_it_is_saved_where_processes_have_slots(result, scenario, tmp_path):
    from pagecast.outputs.saving import save_figures

    save_figures(result, tmp_path)
    names = {file.name for file in tmp_path.glob("gantt*")}
    assert names == {"gantt.png", "gantt.svg", "gantt_cores.png", "gantt_cores.svg"}
