"""Measures are figures of the tables of a result, found by the names of operations."""

import math

import numpy as np
import pytest

import pagecast as pc
from pagecast.errors import MeasureError
from pagecast.measures import evaluate, parse_measure
from pagecast.measures.language import measure_list


@pytest.fixture
def value(backup_result):
    """Give the value of a measure."""
    return lambda text: evaluate([parse_measure(text)], backup_result)[0]


@pytest.fixture
def operations(backup_result):
    """All operations as a DataFrame."""
    return backup_result.operations.to_pandas()


def durations(operations, process, kind):
    rows = operations[operations["process"].str.startswith(process) & (operations["operation"] == kind)]
    return np.sort(rows["duration_s"].to_numpy())


def test_a_percentile_is_the_least_duration_that_so_many_do_not_exceed(value, operations):
    fsyncs = durations(operations, "db1", "fsync")
    for percent in (50, 90, 99, 100, 2.5):
        rank = math.ceil(percent / 100 * len(fsyncs))
        assert value(f"p{percent}(db1 fsync)") == pytest.approx(fsyncs[rank - 1], rel=1e-3)


def test_the_percentile_of_one_row_is_that_of_the_table(value, backup_result):
    latency = backup_result.latency.to_pandas()
    row = latency[(latency["process"] == "db2") & (latency["operation"] == "fsync")].iloc[0]
    for name in ("p50", "p90", "p99", "p99.9"):
        assert value(f"{name}(db2 fsync)") == row[f"{name.replace('.', '_')}_s"]


def test_a_star_takes_processes_together(value, operations):
    fsyncs = durations(operations, "db", "fsync")
    assert value("count(db* fsync)") == len(fsyncs) == 40
    assert value("p50(db* fsync)") == pytest.approx(fsyncs[19], rel=1e-3)
    assert value("max(* fsync)") == fsyncs[-1]
    assert value("min(db* fsync)") == fsyncs[0]
    assert value("sum(db* fsync)") == pytest.approx(fsyncs.sum())
    assert value("mean(db* fsync)") == pytest.approx(fsyncs.mean())


def test_a_star_for_the_kind_is_all_operations_on_files(value):
    assert value("count(db1 *)") == 40  # and not the sleeps
    assert value("count(db* write /data/wal1)") == 20


def test_bytes_and_rates(value, operations):
    assert value("bytes(backup write)") == 4_000_000_000
    written = operations[operations["process"] == "backup"]
    span_s = written["end_s"].max() - written["start_s"].min()
    assert value("rate(backup write)") == pytest.approx(4e9 / span_s)


def test_makespans(value, operations, backup_result):
    assert value("makespan") == backup_result.end_s
    ours = operations[operations["process"].str.startswith("db")]
    assert value("makespan(db*)") == pytest.approx(ours["end_s"].max() - ours["start_s"].min())


def test_peaks_and_shares(value, backup_result):
    assert value("peak(dirty)") == backup_result.timeline["dirty_bytes"].max()
    assert value("peak(dirty_bytes machine)") == value("peak(dirty)")
    parts = backup_result.parts.to_pandas()
    fsyncs = parts[(parts["operation"] == "fsync") & (parts["process"] == "db1")]
    shares = fsyncs.filter(like="_s").drop(columns=["process"], errors="ignore").sum()
    assert value("share(device write, db1 fsync)") == pytest.approx(shares["device_write_s"] / shares.sum())


def test_what_is_cached_is_that_at_the_end(value, backup_result):
    files = backup_result.files
    cached = dict(zip(files["path"], files["cached_bytes"].tolist(), strict=True))
    assert value("cached(/data/copy)") == cached["/data/copy"] > 3e9
    assert value("cached(/data/wal* machine)") == cached["/data/wal1"] + cached["/data/wal2"] == 40e6
    assert parse_measure("cached(/data/copy)").more_is_better


def test_rows_of_operations_do_not_count_as_cached():
    class AfterOperations:
        files = pc.Columns(
            {
                "host": ["c", "s", "c", "s"],
                "path": ["/d/f"] * 4,
                "index": np.array([0, 0, -1, -1]),
                "cached_bytes": np.array([1, 2, 4, 8]),
            }
        )

    measures = [parse_measure(text) for text in ("cached(/d/f)", "cached(/d/f s)")]
    assert evaluate(measures, AfterOperations()) == [12, 8]


def test_what_is_at_risk_is_the_highest_sum_of_all_disks(value, backup_result):
    assert value("at_risk") == backup_result.at_risk["at_risk_bytes"].max()
    assert parse_measure("at_risk").needs_at_risk


def test_two_disks_at_risk_are_added_at_each_moment():
    class TwoDisks:
        model = "kernel"
        at_risk = pc.Columns(
            {
                "time_s": np.array([0.0, 1.0, 1.0, 2.0, 3.0]),
                "host": ["h"] * 5,
                "device": ["a", "a", "b", "a", "b"],
                "at_risk_bytes": np.array([5, 0, 6, 3, 0]),
            }
        )

    assert evaluate([parse_measure("at_risk")], TwoDisks()) == [9]  # and not 11, which is never there


@pytest.mark.parametrize(
    ("text", "name", "unit"),
    [
        ("p99(db fsync)", "p99_db_fsync_s", "s"),
        ("p99.9(db fsync /data/*)", "p99_9_db_fsync_data_all_s", "s"),
        ("count(* write)", "count_all_write", ""),
        ("bytes(backup write)", "bytes_backup_write_bytes", "bytes"),
        ("share(device write, db fsync)", "share_device_write_db_fsync", "share"),
        ("peak( dirty )", "peak_dirty_bytes", "bytes"),
        ("cached(/data/table)", "cached_data_table_bytes", "bytes"),
        ("makespan", "makespan_s", "s"),
        ("at_risk", "at_risk_bytes", "bytes"),
        ("latency = p99(db fsync)", "latency_s", "s"),
        ("p99('my db' fsync)", "p99_my_db_fsync_s", "s"),
    ],
)
def test_names_end_in_the_unit(text, name, unit):
    measure = parse_measure(text)
    assert (measure.name, measure.unit) == (name, unit)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("p99(dc fsync)", "there is no process called `dc`; there are backup, db1, db2"),
        ("p99(db1 fsink)", "there is no operation of `db1` called `fsink`; there are fsync, sleep, write"),
        ("p99(db1 fsync /x)", "there is no path of `db1` called `/x`; there are /data/wal1"),
        ("peak(durty)", "there is no level called `durty`; there are active, anonymous"),
        ("peak(dirty h9)", "there is no host called `h9`; there are machine"),
        ("cached(/data/copi)", "there is no file called `/data/copi`; there are /data/copy, /data/wal1"),
        ("cached(/data/copy h9)", "there is no host called `h9`; there are machine"),
        ("share(waiting, db1 fsync)", "there is no part called `waiting`; there are compute, cpu_copy"),
    ],
)
def test_what_is_not_in_the_result_is_listed(text, what, value):
    with pytest.raises(MeasureError) as caught:
        value(text)
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "write for example p99(db fsync)"),
        ("p99(db fsync", "write for example p99(db fsync)"),
        ("p0(db fsync)", "a percentile is above 0 and at most 100"),
        ("p101(db fsync)", "a percentile is above 0 and at most 100"),
        ("p99", "needs PROCESS OPERATION [PATH]"),
        ("p99(db)", "needs PROCESS OPERATION [PATH]"),
        ("p99('db fsync)", "a quote is not closed"),
        ("meen(db fsync)", "there is no `meen`; did you mean `mean`?"),
        ("xyz(db fsync)", "there is no `xyz`; there are p50, p90, p99, mean"),
        ("makespan()", "needs one PROCESS, or no brackets"),
        ("peak", "needs LEVEL [HOST]"),
        ("cached()", "needs PATH [HOST]"),
        ("share(db fsync)", "needs PART, PROCESS OPERATION [PATH]"),
        ("at_risk(db)", "needs nothing between brackets"),
    ],
)
def test_what_cannot_be_understood(text, what):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert what in str(caught.value)


def test_two_measures_with_one_name():
    with pytest.raises(MeasureError, match="are both called `p99_db_all_fsync_s`; give one a name"):
        measure_list(["p99(db* fsync)", "p99('db *' fsync)"])
    assert len(measure_list(["p99(db* fsync)", "other = p99('db *' fsync)"])) == 2


def test_other_models_know_nothing_of_the_risk(backup_result):
    class Other:
        model = "wrench"
        at_risk = pc.Columns({"at_risk_bytes": []})

    with pytest.raises(MeasureError, match="wrench does not know it; take kernel"):
        evaluate([parse_measure("at_risk")], Other())


def test_operations_that_take_no_time_have_no_rate():
    scenario = pc.Scenario.from_toml(
        '[machine]\nfrom = "wrench-cluster"\n[[process]]\nname = "a"\ndo = [ { sync = true } ]'
    )
    result = pc.simulate(scenario)
    assert evaluate([parse_measure("rate(a sync)")], result) == [None]
