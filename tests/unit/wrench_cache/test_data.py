"""Tables that are shipped, tables made from recordings, and recordings themselves."""

import csv
import gzip
from itertools import pairwise

import pytest

from pagecast.errors import StudyError
from pagecast.studies import wrench_cache
from pagecast.studies.wrench_cache import make_tables
from pagecast.studies.wrench_cache.recordings import MEMORY_PROFILES, memory_profiles
from pagecast.studies.wrench_cache.tables import (
    HERE,
    cached_files,
    long_writes,
    makespans,
    measured,
    memory,
    published,
    published_run_times,
)


def write(path, rows):
    """Write dictionaries as CSV, gzipped if the name says so."""
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_every_measured_point_is_shipped():
    points = {number: sum(key[0] == number for key in measured()) for number in "1234"}
    assert points == {"1": 24, "2": 15 * 8, "3": 32 * 8, "4": 8}


def test_spreads_hold_their_means():
    assert all(value.min_s <= value.mean_s <= value.max_s for value in measured().values())


def test_totals_are_sums_of_the_tasks():
    of = {key[2]: value.mean_s for key, value in measured().items() if key[:2] == ("3", "7 applications")}
    assert of["write total"] == pytest.approx(of["write 1"] + of["write 2"] + of["write 3"])


def test_measured_makespans_are_longer_than_what_an_application_reads_and_writes():
    assert len(makespans()) == 15 + 32
    for (experiment, case), seconds in makespans().items():
        total = sum(measured()[experiment, case, f"{kind} total"].mean_s for kind in ("read", "write"))
        assert total < seconds < 1.7 * total + 20


def test_published_outputs_cover_all_cases_of_each_simulator():
    sizes = {name: len(values) for name, values in published().items()}
    assert sizes == {
        "wrench": 416,
        "wrench_cache_camera_ready": 416,
        "wrench_cache_v1": 416,
        "pysim_camera_ready": 24,
        "pysim_v1": 24,
    }


def test_published_run_times_and_cached_files_are_complete():
    assert {len(times) for times in published_run_times().values()} == {64}
    assert {len(amounts) for amounts in cached_files().values()} == {24}


def test_windows_follow_each_other_through_every_task():
    for case in ("20 GB", "50 GB", "75 GB", "100 GB"):
        windows = [window for window in memory() if window.case == case]
        spans = list(dict.fromkeys(window.span for window in windows))
        assert spans == [f"{what} {task}" for task in (1, 2, 3) for what in ("read", "compute", "write")]
        gaps = [after.start_s - before.end_s for before, after in pairwise(windows)]
        assert all(0 <= gap < 2 for gap in gaps)
        assert all(window.end_s - window.start_s <= 10.001 for window in windows)
        assert all(window.dirty_bytes <= window.cached_bytes < window.dirtyable_bytes for window in windows)


def test_long_writes_are_shares_that_grow_with_the_applications():
    shares = list(long_writes().values())
    assert len(shares) == 15
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 0.8


def test_windows_are_means_of_their_samples(tmp_path):
    common = {"size_gb": 20, "task": 1}
    read = common | {"op": "read", "start_s": 0, "end_s": 12}
    write(tmp_path / "exp1_real.csv", [read, common | {"op": "write", "start_s": 15, "end_s": 16}])
    samples = [
        {"size_gb": 20, "time_s": k + 0.5, "dirty_bytes": k, "file_cache_bytes": 10, "free_bytes": 100}
        for k in range(20)
    ]
    write(tmp_path / "exp1_memprof_real.csv.gz", samples)
    rows = list(make_tables.memory(tmp_path))
    assert rows[0] == ["20 GB", "read 1", 0.0, 6.0, 2, 10, 110]
    assert [row[1:4] for row in rows[1:]] == [
        ["read 1", 6.0, 12.0],
        ["compute 1", 12.0, 15.0],
        ["write 1", 15.0, 16.0],
    ]


def test_a_long_write_took_more_than_5_s(tmp_path):
    common = {"variant": "cleared", "op": "write", "n_apps": 2}
    seconds = [4.0, 5.0, 5.1, 60.0]
    rows = [common | {"duration_s": value} for value in seconds]
    write(
        tmp_path / "exp2_real.csv.gz", [*rows, rows[3] | {"op": "read"}, rows[3] | {"variant": "overwrite"}]
    )
    assert list(make_tables.long_writes(tmp_path)) == [["2 applications", 0.5, 4]]


def test_the_shipped_tables_are_small():
    assert sum(path.stat().st_size for path in HERE.glob("*.csv")) < 150_000


def test_the_mean_is_over_applications_then_over_repetitions(tmp_path):
    common = {"variant": "cleared", "size_gb": 3, "n_apps": 2, "task": 1, "op": "read"}
    times = [("exp2", 1, 1, 1.0), ("exp2", 1, 2, 3.0), ("exp2", 2, 1, 5.0), ("exp2", 2, 2, 5.0)]
    exp2 = [common | dict(zip(("experiment", "rep", "app", "duration_s"), t, strict=True)) for t in times]
    write(tmp_path / "exp2_real.csv.gz", [*exp2, exp2[0] | {"variant": "overwrite", "duration_s": 99}])
    other = exp2[0] | {"variant": "none", "duration_s": 7.0}
    write(tmp_path / "exp1_real.csv", [other | {"experiment": "exp1"}])
    write(tmp_path / "exp3_real.csv.gz", [other | {"experiment": "exp3"}])
    write(tmp_path / "exp4_real.csv", [other | {"experiment": "exp4"}] * 2)
    rows = {tuple(row[:3]): row[3:] for row in make_tables.measured(tmp_path)}
    assert rows["2", "2 applications", "read 1"] == [3.5, 2.0, 5.0, 2]
    assert rows["4", "nighres", "read 1"] == [14.0, 14.0, 14.0, 1]
    assert "3" not in {experiment for experiment, *_ in rows}


def test_memory_profiles_are_read_by_case(tmp_path):
    levels = {"used_bytes": 3e9, "file_cache_bytes": 2e9, "dirty_bytes": 1e9, "free_bytes": 7e9}
    sample = {"size_gb": 20, "time_s": 0.5} | levels
    write(tmp_path / f"{MEMORY_PROFILES}.csv.gz", [sample, sample | {"time_s": 1.5}])
    profile = memory_profiles(tmp_path)["20 GB"]
    assert profile.dirtyable_bytes.tolist() == [9e9, 9e9]
    assert profile.time_s.tolist() == [0.5, 1.5]
    assert profile.cached_bytes.tolist() == [2e9, 2e9]


def test_a_folder_without_recordings_is_refused_before_anything_is_simulated(tmp_path):
    def never(*_, **__):
        raise AssertionError("nothing may be simulated")

    with pytest.raises(StudyError, match=r"no exp1_memprof_real.csv.gz in it.*can be left out"):
        wrench_cache.run(data=tmp_path, simulate=never)


def test_a_recording_with_other_columns_is_refused_with_one_that_is_missing(tmp_path):
    write(tmp_path / f"{MEMORY_PROFILES}.csv.gz", [{"size_gb": 20, "seconds": 1}])
    with pytest.raises(StudyError, match="has no column 'time_s'; the study's README says what it needs"):
        memory_profiles(tmp_path)


def test_a_recording_that_is_cut_off_is_refused(tmp_path):
    columns = ("size_gb", "time_s", "used_bytes", "file_cache_bytes", "dirty_bytes", "free_bytes")
    write(tmp_path / f"{MEMORY_PROFILES}.csv.gz", [dict.fromkeys(columns, number) for number in range(20)])
    path = tmp_path / f"{MEMORY_PROFILES}.csv.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StudyError, match="cannot be read as a recording"):
        memory_profiles(tmp_path)
