"""What is read from a folder of recordings, and what is calibrated on it."""

import pytest

from pagecast.errors import StudyError
from pagecast.studies.live_kernel import calibration
from pagecast.studies.live_kernel.calibration import LEAST_REMOVAL_S, MemorySize, calibrate
from pagecast.studies.live_kernel.recordings import platforms
from pagecast.throttling import plateau
from tests.unit.live_kernel.recorder import (
    A_WRITE,
    CALL_S,
    COPY_READ,
    COPY_WRITE,
    FAULT_S,
    FSYNC_S,
    HARD_LIMIT_PAGES,
    INSERT_S,
    LIMIT_SHARE,
    M_MEMORY,
    MIB,
    REMOVE_S,
    RESERVE_KIB,
    RESERVE_S,
    USABLE_KIB,
    record,
    write_table,
)


@pytest.fixture
def platform(data):
    return platforms(data)[0]


def recording(platform, case, repetition=1):
    return next(r for r in platform.recordings if (r.case, r.repetition) == (case, repetition))


def test_a_folder_of_platforms_or_a_platform_itself_is_read(data):
    assert [platform.name for platform in platforms(data)] == ["tiny"]
    assert [platform.name for platform in platforms(data / "tiny")] == ["tiny"]


def test_every_repetition_is_a_recording(platform):
    found = [(recording.case, recording.repetition) for recording in platform.recordings]
    assert found == [(case, k) for case in ("a_write", "b_both", "m_memory") for k in (1, 2)]


def test_phases_are_the_time_in_system_calls_between_marks(platform):
    phases = recording(platform, "a_write").phases()
    copying = 100 * (CALL_S + MIB / COPY_WRITE + 256 * INSERT_S)
    assert phases == pytest.approx({("p0", "first"): copying + 1e-6, ("p0", "second"): FSYNC_S}, abs=1e-6)


def test_the_total_is_that_of_the_own_process_with_waiting(platform):
    of = recording(platform, "b_both")
    assert of.phases()["one", "both"] == pytest.approx(FSYNC_S + 0.0156, abs=1e-3)
    assert of.phases()["p0", "both"] == pytest.approx(FSYNC_S + 0.0156, abs=1e-3)
    assert of.total_s() == pytest.approx(of.phases()["p0", "both"] + of.phases()["p0", "end"])


def test_a_recorded_wait_is_taken_as_it_is(tmp_path):
    folder = record(tmp_path / "tiny", {"a": "mark go\nproc one\nsleep 1\nendproc\nwait\nsync"})
    rows = [
        {"case": "a", "rep": 1, "proc": "p0", "t_start_s": 0, "op": "mark", "file": "go"},
        {"case": "a", "rep": 1, "proc": "p0", "t_start_s": 0, "op": "wait", "file": "", "duration_s": 3},
        {"case": "a", "rep": 1, "proc": "one", "t_start_s": 0, "op": "fsync", "file": "", "duration_s": 2},
    ]
    write_table(folder / "io.csv.gz", [{"bytes": 0, "duration_s": 0, "calls": 1} | row for row in rows])
    assert platforms(folder)[0].recordings[0].total_s() == 3


def test_looking_at_the_cache_is_the_time_since_the_last_call(platform):
    assert recording(platform, "a_write").stat_seconds()["p0"] == pytest.approx([0.01], abs=1e-5)


def test_checks_of_writers_are_read_where_they_were_traced(platform):
    traced = recording(platform, "a_write").throttling
    assert (traced.time_s, traced.setpoint_bytes) == ([1.0], [10 * MIB])
    assert traced.task_rate_bytes_per_s == [20 * MIB]
    assert recording(platform, "b_both").throttling is None


def test_what_the_kernel_had_learnt_is_the_first_that_it_showed(platform):
    of = recording(platform, "a_write")
    assert of.write_bandwidth_bytes_per_s == 50 * MIB
    assert of.dirty_ratelimit_bytes_per_s == 30 * MIB


def test_without_samples_the_bandwidth_is_that_of_the_trace(data):
    (data / "tiny" / "mem.csv.gz").unlink()
    of = recording(platforms(data)[0], "a_write")
    assert of.write_bandwidth_bytes_per_s == 40000 * 1024
    assert of.levels is None


@pytest.mark.parametrize(
    ("part_kib", "pages"),
    [
        (364_212 - 348, 364_212 / 348),  # 0.99905 of the limit: a guest that had written 1057 pages
        (364_212, None),
        (364_212 - 4, None),  # a page: no more than rounding
        (364_212 // 2, None),  # so few pages that they are not told of
        (0, None),
    ],
)
def test_what_the_disks_part_of_the_limit_lacks_tells_how_little_was_written(tmp_path, part_kib, pages):
    folder = record(tmp_path / "tiny", {"a_write": A_WRITE})
    row = {"case": "a_write", "rep": 1, "t_s": 0, "Dirty_kB": 0, "Writeback_kB": 0}
    write_table(
        folder / "mem.csv.gz",
        [row | {"nr_dirty_threshold": 364_212 // 4, "BdiDirtyThresh_kB": part_kib}],
    )
    found = platforms(folder)[0].recordings[0]
    assert found.completions_bytes == (None if pages is None else pytest.approx(pages * 4096))
    assert found.writeout_fraction == (part_kib / 364_212 if part_kib < 364_000 - 3640 else 1.0)


def test_the_hard_limit_is_that_of_before_the_first_write(platform, tmp_path):
    traced = recording(platform, "a_write")
    assert traced.dirty_limit_bytes == HARD_LIMIT_PAGES * 4096
    assert recording(platform, "b_both").dirty_limit_bytes is None
    folder = record(tmp_path / "late", {"a_write": A_WRITE})
    start = min(call.start_s for call in traced.calls if call.kind == "write")
    row = {"case": "a_write", "rep": 1, "limit": HARD_LIMIT_PAGES}
    for late, expected in ((0.199, HARD_LIMIT_PAGES * 4096), (0.201, None)):
        write_table(folder / "global_dirty_state.csv.gz", [row | {"t_s": start + late}])
        assert platforms(folder)[0].recordings[0].dirty_limit_bytes == expected


def test_without_a_trace_nothing_is_known_of_the_base_rate(platform):
    assert recording(platform, "b_both").dirty_ratelimit_bytes_per_s is None


def test_costs_are_found_again(platform):
    costs = calibrate(platform.recordings, share=LIMIT_SHARE).costs
    assert costs.call_s == pytest.approx(CALL_S, rel=0.02)
    assert costs.page_insert_s == pytest.approx(INSERT_S, rel=0.02)
    assert costs.block_reserve_s is None
    assert costs.copy_read_bytes_per_s == pytest.approx(COPY_READ, rel=0.02)
    assert costs.copy_write_bytes_per_s == pytest.approx(COPY_WRITE, rel=0.02)
    assert costs.fault_s == pytest.approx(FAULT_S, rel=0.1)
    assert costs.page_remove_s == pytest.approx(REMOVE_S)


def test_a_write_over_blocks_tells_reserving_from_inserting(tmp_path):
    again = "drop\nmark over\nwrite 0 0 64m 1m\n"
    steps = M_MEMORY.replace("close 0\nopen 0 MNT/fm r", f"{again}close 0\nopen 0 MNT/fm r")
    folder = record(tmp_path / "tiny", {"m_memory": steps})
    costs = calibrate(platforms(folder)[0].recordings, share=LIMIT_SHARE).costs
    assert costs.page_insert_s == pytest.approx(INSERT_S - RESERVE_S, rel=0.02)
    assert costs.block_reserve_s == pytest.approx(RESERVE_S, rel=0.02)
    assert costs.copy_write_bytes_per_s == pytest.approx(COPY_WRITE, rel=0.02)


def test_a_removal_too_short_to_be_measured_says_nothing(tmp_path):
    steps = M_MEMORY.replace("64m 1m\nfsync", "8m 1m\nfsync").replace("64m", "8m")
    assert 8 * MIB / 4096 * REMOVE_S < LEAST_REMOVAL_S
    folder = record(tmp_path / "tiny", {"m_memory": steps})
    found = calibrate(platforms(folder)[0].recordings, share=LIMIT_SHARE)
    assert found.costs.page_remove_s is None
    assert "memory.cost.page_remove" not in found.values()


def test_memory_is_what_is_free_or_of_files(platform):
    memory = calibrate(platform.recordings, share=LIMIT_SHARE).memory
    assert memory.size_bytes == USABLE_KIB * 1024
    assert memory.reserve_bytes == pytest.approx(RESERVE_KIB * 1024, abs=1)
    assert memory.values() == {"memory.size": "1000000 KiB", "memory.reserve": "488000 KiB"}


def test_a_limit_in_bytes_says_nothing_of_the_reserve(platform):
    memory = calibrate(platform.recordings, share=None).memory
    assert memory == MemorySize(USABLE_KIB * 1024, None)
    assert {*memory.values()} == {"memory.size"}


def test_memory_of_other_cases_is_left_alone(platform):
    others = [recording for recording in platform.recordings if recording.case != "m_memory"]
    assert calibrate(others, share=LIMIT_SHARE).memory is None


def test_samples_without_free_memory_say_nothing_of_its_size(data):
    rows = [
        {"case": "m_memory", "rep": 1, "t_s": 0, "Dirty_kB": 0, "Writeback_kB": 0, "nr_dirty_threshold": 9}
    ]
    write_table(data / "tiny" / "mem.csv.gz", rows)
    found = calibrate(platforms(data)[0].recordings, share=LIMIT_SHARE)
    assert found.memory is None
    assert found.costs is not None


def test_costs_are_keys_of_a_machine(platform):
    values = calibrate(platform.recordings, share=LIMIT_SHARE).values()
    assert values["memory.cost.call"] == "2000 ns"
    assert values["memory.cost.page_lookup"] == "0 ns"
    assert values["memory.cost.copy_write"].endswith(" MB/s")


def test_without_the_case_nothing_is_calibrated(tmp_path):
    folder = record(tmp_path / "tiny", {"a_write": A_WRITE})
    assert calibrate(platforms(folder)[0].recordings, share=LIMIT_SHARE).values() == {}


def test_with_one_call_size_no_costs_are_calibrated(tmp_path):
    folder = record(tmp_path / "tiny", {calibration.CASE: A_WRITE})
    assert calibrate(platforms(folder)[0].recordings, share=LIMIT_SHARE).costs is None


def test_a_folder_without_a_platform_is_refused(tmp_path):
    with pytest.raises(StudyError, match=r"no platform in it; --data wants a folder of folders with cases"):
        platforms(tmp_path)


def test_a_case_that_was_recorded_without_its_steps_is_named(data):
    (data / "tiny" / "cases" / "b_both.pct").unlink()
    assert platforms(data)[0].unknown == ("b_both",)


def test_a_table_without_a_column_is_refused(data):
    write_table(data / "tiny" / "io.csv.gz", [{"case": "a_write", "rep": 1}])
    with pytest.raises(StudyError, match=r"io\.csv\.gz: has no column 'proc'"):
        platforms(data)


def test_a_value_that_is_no_number_is_refused_with_its_line(data):
    row = {"case": "a_write", "rep": 1, "proc": "p0", "t_s": 0, "label": "x", "file": "f"}
    rows = [row | {"cached_bytes": 1}, row | {"cached_bytes": "many"}]
    write_table(data / "tiny" / "cache.csv.gz", rows)
    with pytest.raises(StudyError, match=r"cache\.csv\.gz:3: cannot be read as a recording"):
        platforms(data)


def test_m_memory_of_the_tests_has_all_call_sizes():
    assert {line.split()[-1] for line in M_MEMORY.splitlines() if line[:5] in ("write", "read ")} == {
        "4k", "1m", "16m",
    }  # fmt: skip


def test_where_writers_settled_is_known_if_pauses_were_traced(data):
    check = {"limit": 1000, "setpoint": 875, "dirty": 800, "dirty_ratelimit": 100, "task_ratelimit": 90}
    rows = [
        {"case": "a_write", "rep": 1, "t_s": k / 10, **check, "dirtied": 25, "pause": 10} for k in range(41)
    ]
    write_table(data / "tiny" / "balance_dirty_pages.csv.gz", rows)
    settled = plateau(recording(platforms(data)[0], "a_write").throttling)
    assert settled.settled_s == pytest.approx(2.0, abs=0.11)
    assert settled.dirty_bytes == 800 * 4096
    assert settled.throughput_bytes_per_s == pytest.approx(250 * 4096)


def test_without_pauses_nobody_knows_where_writers_settled(platform):
    assert plateau(recording(platform, "a_write").throttling) is None
