"""What is compared beside times: memory, files, long writes, the program's own rate."""

from types import SimpleNamespace

import numpy as np
import pytest

from pagecast.studies.wrench_cache.experiments import (
    AS_RUN,
    EXPERIMENTS,
    MEASURED_MACHINE,
    PRODUCING,
    PUBLISHED_MACHINE,
    SERVER_PAYS,
)
from pagecast.studies.wrench_cache.forecast import long_writes, makespan, run_case, task_spans
from pagecast.studies.wrench_cache.memory import Levels, compare, compare_files
from pagecast.studies.wrench_cache.producing import BLOCK_BYTES, produce
from pagecast.studies.wrench_cache.recordings import Profile
from pagecast.studies.wrench_cache.tables import cached_files, measured, memory

MEMORY = 250e9


def windows(case="20 GB"):
    return [window for window in memory() if window.case == case]


def perfect_run(*, stretch=1.0, late=0.0, dirty_off=0.0):
    """A forecast with the measured memory, `stretch` times as slow and `late`; dirty is off by some bytes."""
    table = {"process": [], "operation": [], "start_s": [], "end_s": []}
    spans = {}
    for window in windows():
        start, _ = spans.get(window.span, (window.start_s, 0))
        spans[window.span] = (start, window.end_s)
    for name, (start, end) in spans.items():
        kind, task = name.split()
        if kind != "compute":
            row = (f"task{task}", kind, late + stretch * start, late + stretch * end)
            for column, value in zip(table, row, strict=True):
                table[column].append(value)
    edges = [late + stretch * edge for window in windows() for edge in (window.start_s, window.end_s - 1e-6)]
    level = {
        name: np.repeat([getattr(window, f"{name}_bytes") for window in windows()], 2)
        for name in ("dirty", "cached")
    }
    timeline = {
        "time_s": np.array(edges),
        "dirty_bytes": level["dirty"] + 5e9 + dirty_off,
        "writeback_bytes": np.full(len(edges), 5e9),
        "cached_bytes": level["cached"],
        "used_bytes": np.full(len(edges), 100e9),
        "free_bytes": np.full(len(edges), MEMORY - 100e9),
    }
    result = SimpleNamespace(operations=table, timeline=timeline)
    return SimpleNamespace(case="20 GB", model="kernel", machine="wrench-cluster", result=result)


@pytest.mark.parametrize(("stretch", "late"), [(1.0, 0.0), (1.5, 0.0), (1.0, 300.0)])
def test_what_is_as_measured_deviates_by_nothing_however_long_the_operations(stretch, late):
    levels = compare(perfect_run(stretch=stretch, late=late), None)
    assert np.abs(levels.dirty).max() < 1e-3
    assert np.abs(levels.cached).max() < 1e-3
    assert Levels.within([levels]) == (1.0, 1.0)


def test_dirty_deviates_in_shares_of_the_limit_of_the_moment():
    levels = compare(perfect_run(dirty_off=10e9), None)
    assert levels.dirty[0] == pytest.approx(10e9 / (0.4 * windows()[0].dirtyable_bytes), rel=1e-3)


def test_samples_are_compared_at_the_same_part_of_the_operation():
    middle = [(one.start_s + one.end_s) / 2 for one in windows()]
    columns = [[getattr(one, f"{name}_bytes") for one in windows()] for name in ("cached", "dirty")]
    cached, dirty = (np.array(column) for column in columns)
    free = np.array([one.dirtyable_bytes for one in windows()]) - cached
    profile = Profile(np.array([-5.0, *middle]), *(np.append(0, one) for one in (free, cached, dirty, free)))
    levels = compare(perfect_run(stretch=2.0), profile)
    assert levels.from_samples
    assert len(levels.dirty) == len(windows()), "what is before the first read is left out"
    assert np.abs(levels.dirty).max() < 1e-3


def test_a_model_without_dirty_memory_is_not_compared():
    run = perfect_run()
    run.model = "no-cache"
    assert compare(run, None) is None


def test_files_are_compared_in_shares_of_the_memory(outcome):
    run = outcome.of("1", "wrench")[3]
    found = {(one.operation, one.file): one for one in compare_files(run)}
    assert len(found) == 24
    ours = cached_files()["wrench_cache_camera_ready"]["100 GB", "write 2"][1]
    real = cached_files()["measured"]["100 GB", "write 2"][1]
    assert found["write 2", "f2"].forecast_bytes == ours
    assert found["write 2", "f2"].measured_bytes == real
    assert found["write 2", "f2"].memory_bytes == 268e9


OPERATIONS = {
    "process": ["input", "app1.task1", "app1.task1", "app2.task1", "input"],
    "operation": ["write", "read", "write", "write", "drop_caches"],
    "start_s": [0.0, 100.0, 104.0, 105.0, 99.0],
    "end_s": [99.0, 103.0, 110.0, 106.0, 99.0],
}


def test_another_program_is_no_task():
    assert makespan(OPERATIONS) == 10.0
    assert long_writes(OPERATIONS) == 0.5
    assert task_spans({name: column[:3] for name, column in OPERATIONS.items()}) == {
        "read 1": (100.0, 103.0),
        "compute 1": (103.0, 104.0),
        "write 1": (104.0, 110.0),
    }


def test_kernel_alone_is_told_what_the_published_simulators_leave_out():
    for experiment in EXPERIMENTS.values():
        assert experiment.overrides("wrench", MEASURED_MACHINE) == ()
        assert experiment.overrides("no-cache", PUBLISHED_MACHINE) == ()
        assert experiment.overrides("kernel", MEASURED_MACHINE) == (AS_RUN,)


def test_only_on_the_published_machine_a_server_pays_for_what_clients_read():
    told = {number: each.overrides("wrench", PUBLISHED_MACHINE) for number, each in EXPERIMENTS.items()}
    assert told == {"1": (), "2": (), "3": (SERVER_PAYS,), "4": ()}


@pytest.mark.parametrize(("number", "case"), [("1", 0), ("2", 0), ("3", 0), ("4", 0)])
def test_before_kernel_is_asked_the_input_is_written_and_dropped(number, case):
    experiment = EXPERIMENTS[number]
    run = run_case(experiment, experiment.cases[case], model="kernel", machine=None, seeds=[0], overrides=[])
    before = [name for name in run.result.operations["process"] if name == "input"]
    assert before
    assert run.start_s > 0
    first = next(value for value in run.result.operations["start_s"] if value >= run.start_s)
    table = run.result.operations
    last = max(
        end for end, kind in zip(table["end_s"], table["operation"], strict=True) if kind in ("read", "write")
    )
    assert run.makespan_s == pytest.approx(last - first, rel=1e-6)
    at_start = np.searchsorted(run.result.timeline["time_s"], run.start_s, side="right") - 1
    assert run.result.timeline["cached_bytes"][at_start] < 1e9
    assert run.result.timeline["dirty_bytes"][at_start] == 0


def test_published_models_are_not_told():
    experiment = EXPERIMENTS["4"]
    run = run_case(experiment, experiment.cases[0], model="wrench", machine=None, seeds=[0], overrides=[])
    assert run.start_s == 0
    assert "input" not in run.result.operations["process"]
    reads = [
        path
        for path, kind in zip(run.result.operations["path"], run.result.operations["operation"], strict=True)
        if kind == "read"
    ]
    assert len(reads) == len(set(reads)) == 13


def test_the_producing_scenario_without_a_rate_is_exp_4():
    for model in ("wrench", "kernel"):
        plain, in_blocks = (
            run_case(one, one.cases[0], model=model, machine=None, seeds=[0], overrides=[])
            for one in (EXPERIMENTS["4"], PRODUCING)
        )
        for operation, seconds in plain.seconds.items():
            assert in_blocks.seconds[operation] == pytest.approx(seconds, rel=0.02), (model, operation)


def simulate(write_1_s):
    """A program whose writes take so long, and 96 blocks as told; other steps are as measured."""

    def simulated(experiment, case, *, overrides, **_):
        told = next(one for one in overrides if one.startswith("parameter.producing"))
        block_s = float(told.split('"')[1].removesuffix(" ns")) / 1e9
        table = {"process": [], "operation": [], "start_s": [], "end_s": []}
        for _, _, operation in (key for key in measured() if key[0] == "4"):
            kind, step = operation.split()
            seconds = write_1_s + 96 * block_s if operation == "write 1" else 1.0
            for column, value in zip(table, (f"step{step}", kind, 0.0, seconds), strict=True):
                table[column].append(value)
        return SimpleNamespace(operations=table, provenance={"machine_hash": "0" * 64})

    return simulated


def test_the_producing_rate_is_what_the_writes_of_step_1_lack():
    real = measured()["4", "nighres", "write 1"].mean_s
    found = produce(model="kernel", machine=None, seeds=[0], overrides=[], simulate=simulate(real - 0.048))
    assert found.block_s == pytest.approx(0.0005)
    assert found.rate_bytes_per_s == pytest.approx(BLOCK_BYTES / 0.0005)
    assert found.run.mean_s("write 1") == pytest.approx(real, rel=1e-6)
    assert [row.operation for row in found.rows()] == [
        f"{kind} {step}" for step in (2, 3, 4) for kind in ("read", "write")
    ]


def test_writes_that_are_too_long_already_are_left_as_they_are():
    found = produce(model="no-cache", machine=None, seeds=[0], overrides=[], simulate=simulate(10.0))
    assert found.rate_bytes_per_s is None
