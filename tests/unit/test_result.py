"""Results as columns."""

import json

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import OutputError
from pagecast.result import TABLES
from pagecast.spans import throttled_spans

COLUMNS = {
    "operations": [
        *("process", "host", "index", "operation", "path", "offset_bytes", "bytes"),
        *("start_s", "end_s", "duration_s", "from_cache_bytes", "from_device_bytes"),
    ],
    "parts": [
        *(
            "process",
            "index",
            "operation",
            "cpu_copy_s",
            "page_allocation_s",
            "device_read_s",
            "device_write_s",
        ),
        *("queueing_s", "throttled_s", "reclaim_s", "journal_s", "network_s", "server_s"),
        *("compute_s", "sleep_s", "wait_s"),
    ],
    "latency": [
        *("process", "path", "operation", "count", "bytes", "total_s", "mean_s", "stddev_s", "min_s"),
        *("p50_s", "p90_s", "p99_s", "p99_9_s", "max_s", "first_start_s", "last_end_s"),
    ],
    "rates": [
        *("time_s", "window_s", "process", "operation", "bytes_per_s", "iops", "ended", "mean_s", "max_s"),
    ],
    "timeline": [
        "time_s",
        "host",
        "used_bytes",
        "free_bytes",
        "anonymous_bytes",
        "cached_bytes",
        "dirty_bytes",
    ],
    "waits": ["process", "index", "part", "behind_process", "behind_path", "waited_s"],
    "bdi": [
        *(
            "time_s",
            "host",
            "device",
            "cgroup",
            "write_bandwidth_bytes_per_s",
            "avg_write_bandwidth_bytes_per_s",
        ),
        *(
            "dirty_ratelimit_bytes_per_s",
            "balanced_dirty_ratelimit_bytes_per_s",
            "task_ratelimit_bytes_per_s",
        ),
        *("dirty_bytes", "writeback_bytes"),
    ],
    "devices": [
        *("time_s", "window_s", "host", "device", "reads", "read_bytes", "writes", "write_bytes", "flushes"),
        *("utilisation", "mean_depth", "max_depth", "request_s", "queue_s"),
    ],
    "files": [
        *("time_s", "process", "index", "path", "host"),
        *("size_bytes", "cached_bytes", "dirty_bytes", "active_bytes"),
    ],
    "events": ["time_s", "host", "event", "process", "device", "path", "bytes"],
}


KERNEL_LEVELS = [
    *("inactive_bytes", "active_bytes", "writeback_bytes", "dirtied_bytes", "background_threshold_bytes"),
    *("setpoint_bytes", "dirty_limit_bytes", "hard_limit_bytes", "task_rate_bytes_per_s"),
]


@pytest.fixture
def result(scenario):
    """The small scenario under the published model."""
    return pc.simulate(scenario, model="wrench", seed=7, residency="operation")


@pytest.mark.parametrize("table", TABLES)
def test_each_table_has_its_columns(result, table):
    columns = result.table(table)
    assert list(columns) == COLUMNS[table]
    assert {len(columns[name]) for name in columns} == {len(columns)}


def test_names_are_lists_and_numbers_are_arrays(result):
    operations = result.operations
    assert operations["operation"] == ["read", "compute", "write", "fsync"]
    assert operations["path"] == ["/data/in", "", "/data/out", "/data/out"]
    assert operations["bytes"].dtype == np.int64
    assert operations["duration_s"].dtype == np.float64


def test_equal_names_are_one_object(result):
    processes = result.operations["process"]
    assert all(name is processes[0] for name in processes)


def test_parts_add_up_to_the_duration(result):
    parts = np.array([result.parts[name] for name in result.parts if name.endswith("_s")])
    np.testing.assert_allclose(parts.sum(axis=0), result.operations["duration_s"], rtol=1e-15)


def test_used_and_free_add_up_to_the_memory(result):
    timeline = result.timeline
    assert {*(timeline["used_bytes"] + timeline["free_bytes"]).tolist()} == {10_000_000_000}


def test_the_kernel_knows_more_levels(throttled):
    timeline = throttled.timeline
    assert list(timeline) == [*COLUMNS["timeline"], *KERNEL_LEVELS]
    cached = timeline["inactive_bytes"] + timeline["active_bytes"]
    np.testing.assert_array_equal(cached, timeline["cached_bytes"])
    assert timeline["dirtied_bytes"][-1] == 5_000_000_000
    assert timeline["task_rate_bytes_per_s"].dtype == np.float64


def test_tasks_have_a_rate_while_a_device_throttles(throttled):
    timeline = throttled.timeline
    time_s, rates = timeline["time_s"], timeline["task_rate_bytes_per_s"]
    freerun = (timeline["background_threshold_bytes"] + timeline["dirty_limit_bytes"]) / 2
    spans = throttled_spans(throttled, "machine")
    within = np.any([(begin_s < time_s) & (time_s < end_s) for begin_s, end_s in spans], axis=0)
    outside = np.all([(time_s < begin_s) | (end_s < time_s) for begin_s, end_s in spans], axis=0)
    # Levels are looked at every millisecond, in which 2 MB more become dirty.
    held_back = within & (timeline["dirty_bytes"] > freerun + 2e6)
    assert held_back.sum() > 50
    assert not np.isnan(rates[held_back]).any()
    assert np.isnan(rates[outside]).all()


def test_what_is_not_there_is_none_in_plain_lists(throttled):
    rates = throttled.timeline.to_dict()["task_rate_bytes_per_s"]
    assert rates[0] is None
    assert {type(rate) for rate in rates} == {float, type(None)}
    json.dumps(throttled.to_dict(), allow_nan=False)


def test_what_is_not_there_is_empty_in_csv_and_null_in_parquet(throttled, tmp_path):
    throttled.save(tmp_path / "saved")
    lines = (tmp_path / "saved" / "timeline.csv").read_text().splitlines()
    assert lines[1].startswith("0.0,machine,")
    assert lines[1].endswith(",")
    parquet = pytest.importorskip("pyarrow.parquet")
    saved = parquet.read_table(tmp_path / "saved" / "timeline.parquet")["task_rate_bytes_per_s"]
    assert saved.null_count == int(np.isnan(throttled.timeline["task_rate_bytes_per_s"]).sum())


def test_levels_change_evenly_under_the_kernels_own_rules_alone(result, throttled):
    assert (result.changes_evenly, throttled.changes_evenly) == (False, True)


@pytest.mark.parametrize(("model", "active"), [("kernel", 1e9), ("wrench", 6e8), ("no-cache", 0)])
def test_residency_tells_what_is_active(machine, model, active):
    app = [pc.read("/data/in"), pc.read("/data/in")]
    scenario = pc.Scenario(machine, processes={"app": app}, files={"/data/in": 1e9})
    assert pc.simulate(scenario, model=model).files["active_bytes"].tolist() == [active]


def test_residency_after_each_operation_and_at_the_end(result):
    files = result.files
    assert {*zip(files["process"], files["index"].tolist(), strict=True)} >= {
        ("app", 0),
        ("app", 2),
        ("", -1),
    }


def test_to_dict_is_plain(result):
    run = result.to_dict()
    assert list(run) == ["model", "options", *TABLES, "repeated"]
    assert run["operations"]["bytes"] == [2_000_000_000, 0, 1_000_000_000, 0]
    assert {type(value) for table in TABLES for column in run[table].values() for value in column} <= {
        *(str, int, float, type(None))
    }


def test_provenance(result, machine):
    assert result.provenance == {
        "pagecast_version": pc.__version__,
        "scenario": "<python>",
        "machine_hash": machine.hash,
        "seed": 7,
    }


def test_to_pandas(result):
    pytest.importorskip("pandas")
    frame = result.operations.to_pandas()
    assert list(frame) == COLUMNS["operations"]
    assert frame.groupby("operation")["bytes"].sum()["read"] == 2_000_000_000


def test_a_column_that_is_not_there(result):
    with pytest.raises(KeyError, match="there is no column 'duration'; there are process"):
        result.operations["duration"]
    assert "duration" not in result.operations


def test_a_table_that_is_not_there(result):
    with pytest.raises(ValueError, match="there is no table 'operation'"):
        result.table("operation")


def test_save(result, tmp_path):
    result.save(tmp_path / "saved")
    names = {path.name for path in (tmp_path / "saved").iterdir()}
    assert names >= {"provenance.json", *(f"{table}.csv" for table in TABLES)}
    with pytest.raises(OutputError, match=r"is not empty; choose another name$"):
        result.save(tmp_path / "saved")


def test_reprs_are_short(result):
    assert repr(result) == "<Result of wrench: 4 operations in 10.000 s>"
    assert repr(result.timeline).startswith(f"<Columns: {len(result.timeline)} rows of time_s, host, ")


def test_the_slowest_operations_name_whom_they_waited_behind(machine):
    from rich.console import Console

    from pagecast.cli.slowest_table import slowest_table

    def small():
        yield pc.sleep(0.5)
        yield pc.write("/data/small", size_bytes=1e6)
        yield pc.fsync("/data/small")

    programs = {"big": [pc.write("/data/big", size_bytes=3e9)], "small": small}
    result = pc.simulate(pc.Scenario(machine, processes=programs))
    waits = result.waits
    assert ("small", "big", "/data/big") in zip(
        waits["process"], waits["behind_process"], waits["behind_path"], strict=True
    )
    console = Console(width=200)
    with console.capture() as told:
        console.print(slowest_table(result, 10))
    assert "behind big's /data/big " in told.get()
