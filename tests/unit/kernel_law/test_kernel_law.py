"""The study of the throttling law: events, limits, throughputs, and what it shows."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from pagecast import Scenario, _core
from pagecast.errors import StudyError
from pagecast.studies import kernel_law
from pagecast.studies.kernel_law import throughput
from pagecast.studies.kernel_law.conclusion import conclusion
from pagecast.studies.kernel_law.law import events, thresholds

# One event of Linux 3.3-rc1, linux-mm, 2012-01-28,
# message AAFC850A73EC0C40804D40FD09800642101AEA51@SHSMSX102.ccr.corp.intel.com.
# The part of the device is the least that gives the printed setpoint of 83,005 pages.
EVENT = {
    "event": 1,
    "limit_pages": 1048576,
    "dirty_pages": 950856,
    "bdi_dirty_pages": 81032,
    "bdi_thresh_pages_derived": 94863,
    "dirty_ratelimit_kib_per_s": 63408,
    "task_ratelimit_kib_per_s": 63592,
    "pid": 5563,
    "dirtied_pages": 32,
    "dirtied_pause_pages": 32,
    "pause_ms": 0,
    "period_ms": 2,
    "think_ms": 0,
}
THRESHOLD = {
    "set": "ratio_rounding",
    "row": 1,
    "dirty_ratio_percent": 20,
    "background_ratio_percent": 10,
    "dirty_thresh_kib": 359824,
    "background_thresh_kib": 179692,
    "bdi_dirty_thresh_kib": 3596,
}
CASE = {
    "table": "T",
    "kernel": "3.1",
    "throttling": "IO-less (as merged in 3.2)",
    "filesystem": "xfs",
    "storage": "hdd",
    "n_disks": 1,
    "workload": "sequential dd",
    "n_writers": 1,
    "block_bytes": 4096,
    "mem_class_mib": 4096,
    "mem_limit_mib": "",
    "dirty_ratio_percent": "",
    "dirty_limit_bytes": 104857600,
    "background_ratio_percent": 10,
    "background_bytes": "",
    "metric": "write_bandwidth",
    "value": 50.0,
}


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path):
    """A folder of one event, two limits and four cases."""
    write(tmp_path / "test_vectors.csv", [EVENT])
    plain = {"set": "ratio_plain", "dirty_thresh_kib": 1719076, "background_thresh_kib": 859536}
    write(
        tmp_path / "threshold_samples.csv", [THRESHOLD, THRESHOLD | plain, THRESHOLD | {"set": "bdi_ramp_up"}]
    )
    many = CASE | {"n_writers": 10, "value": 25.0}
    other = CASE | {"filesystem": "btrfs", "value": 60.0}
    before = CASE | {"throttling": "foreground writeback (before 3.2)"}
    ratio = {"dirty_ratio_percent": 20, "dirty_limit_bytes": "", "mem_limit_mib": 3072, "value": 40.0}
    left_out = [before, CASE | {"storage": "nfs"}, CASE | {"n_disks": 10}, CASE | {"metric": "nfs_nr_writes"}]
    write(tmp_path / "published_throughput.csv", [CASE, many, other, CASE | ratio, *left_out])
    return tmp_path


def simulated(case, overrides):
    """Write 30 MiB/s, half of what a disk of 60 MiB/s can, and keep 1 MiB dirty."""
    time_s = np.array([0.0, 100.0])
    dirty = np.full(2, 2.0**20)
    timeline = {"time_s": time_s, "dirtied_bytes": 30 * 2.0**20 * time_s + dirty, "dirty_bytes": dirty}
    return SimpleNamespace(timeline=timeline, provenance={"machine_hash": "0" * 64})


def test_an_event_is_met_to_the_last_digit(folder):
    (event,) = events(folder)
    assert (event.printed, event.ours) == (15898, 15898)
    assert event.is_exact
    assert abs(event.real_error) < 0.0025


def test_period_pause_and_the_next_check_follow_from_the_rate(folder):
    slept = EVENT | {"event": 2, "think_ms": -5, "pause_ms": 7}
    after = EVENT | {"event": 3, "dirtied_pause_pages": 154}
    other = after | {"event": 4, "pid": 1}
    write(folder / "test_vectors.csv", [EVENT, slept, after, other])
    found = events(folder)
    assert [one.period for one in found] == [(2, 2)] * 4
    assert [one.pause for one in found] == [(0, 0), (7, 7), (0, 0), (0, 0)]
    assert [one.has_poll for one in found] == [False, True, False, False]
    assert found[1].poll == (154, 15852 * 10 // 1024)


def test_an_event_that_is_not_met_is_shown(folder):
    write(folder / "test_vectors.csv", [EVENT | {"task_ratelimit_kib_per_s": 63596}])
    outcome = kernel_law.run(experiments=["law"], data=folder)
    assert "The law gives 0 of 1 printed rates" in conclusion(outcome)[0]


def test_limits_are_possible_as_the_kernel_rounds_them(folder):
    rounded, plain = thresholds(folder)
    assert rounded.is_exact
    assert _core.dirty_thresholds(rounded.dirtyable_pages, dirty_ratio=20, dirty_background_ratio=10) == (
        89956,
        44923,
    )
    assert rounded.is_device_full
    assert plain.is_exact
    assert plain.dirtyable_pages == 429769 * 5


def test_limits_that_no_memory_gives_are_not_possible(folder):
    write(folder / "threshold_samples.csv", [THRESHOLD | {"background_thresh_kib": 179912}])
    (found,) = thresholds(folder)  # half of the limit: plain percentages, not 4096ths
    assert found.dirtyable_pages is None


def test_cases_of_one_disk_with_the_law_are_compared_with_the_most_of_their_kind(folder):
    cases = throughput.cases(folder)
    assert [(case.filesystem, case.writers, case.published) for case in cases] == [
        ("xfs", 1, 1.0),
        ("xfs", 10, 0.5),
        ("btrfs", 1, 1.0),
        ("xfs", 1, 1.0),
    ]
    assert [case.has_no_seeks for case in cases] == [True, False, True, True]
    assert 'machine.vm.dirty_bytes="104857600 B"' in cases[0].overrides
    assert "machine.vm.dirty_background_ratio=10" in cases[0].overrides
    assert "machine.vm.dirty_ratio=20" in cases[3].overrides
    assert 'machine.memory.size="3072 MiB"' in cases[3].overrides


def test_disks_that_make_an_array_and_disks_with_a_file_system_each(folder):
    of_five = CASE | {"n_disks": 5, "n_writers": 3, "value": 200.0}
    rows = [of_five | {"storage": "hdd_raid0"}, of_five | {"storage": "hdd_jbod", "n_disks": 2}]
    write(folder / "published_throughput.csv", rows)
    array, separate = throughput.cases(folder)
    assert 'machine.disk.hdd.raid={ level = "0", disks = 5 }' in array.overrides
    assert (array.mounts, separate.mounts) == (("/fs",), ("/fs", "/fs2"))
    scenario = Scenario.from_toml(separate.scenario, set=separate.overrides)
    assert scenario.processes == ["dd1", "dd2", "dd3", "dd2_1", "dd2_2", "dd2_3"]
    assert "RAID 0 of 5 disks" in array.name
    outcome = kernel_law.run(experiments=["throughput"], data=folder, simulate=simulated)
    assert [one.forecast for one in outcome.throughputs] == pytest.approx([30 / 200] * 2)


def test_what_is_written_back_is_a_part_of_what_the_disk_can(folder):
    outcome = kernel_law.run(experiments=["throughput"], data=folder, simulate=simulated)
    assert [one.forecast for one in outcome.throughputs] == pytest.approx([0.5] * 4)
    assert [row.role for row in outcome.rows] == ["calibration", "judged", "calibration", "calibration"]
    assert outcome.rows[1].error == pytest.approx(0.0)
    assert outcome.rows[0].measured_s == pytest.approx(1024 / 50)
    assert outcome.rows[0].forecast_s == pytest.approx(2 * 1024 / 50)


def test_a_case_is_really_simulated(folder):
    one, many = throughput.forecast(throughput.cases(folder)[:2], (), throughput.simulate_case)
    assert one.forecast == pytest.approx(1.0, abs=0.03)
    assert 0.5 < many.forecast < one.forecast, "its disk goes from file to file"


def test_cases_before_the_law_are_forecast_by_its_rules(folder):
    (case,) = throughput.cases(folder, "foreground")
    assert 'machine.kernel.version="3.1"' in case.overrides
    assert 'machine.kernel.version="3.2"' in throughput.cases(folder)[0].overrides
    (one,) = throughput.forecast([case], (), throughput.simulate_case)
    assert one.forecast == pytest.approx(1.0, abs=0.03)


def test_the_outcome_is_printed_reported_and_json(folder, tmp_path):
    outcome = kernel_law.run(data=folder, simulate=simulated, command="a test")
    console = Console(file=io.StringIO(), width=100)
    outcome.print_to(console)
    text = console.file.getvalue()
    assert "rate of a task, rounded as the kernel rounds" in text
    assert "1 of 1" in text
    assert "The law gives 1 of 1 printed rates and 2 of 2 printed pairs of limits" in text
    outcome.write_report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("<svg") == 2
    document = json.loads(json.dumps(outcome.to_json(), allow_nan=False))
    assert [row["experiment"] for row in document["rows"]] == ["throughput"] * 4 + ["foreground"]
    assert "Before the law, on Linux 3.1, 1 case (" in " ".join(conclusion(outcome))
    assert document["events"][0]["task_ratelimit_pages_per_s"] == 15898


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "needs the published figures; name their folder with --data DIR"),
        ({"experiments": ["laws"]}, "has no experiment 'laws'; it has law, throughput"),
        ({"models": ["wrench"]}, "about the law of the model kernel, not about wrench"),
        ({"machine": "x.toml"}, "leave --machine x.toml out"),
        ({"seeds": 2}, "nothing that is random"),
    ],
)
def test_what_the_study_does_not_have_is_refused(asked, message):
    with pytest.raises(StudyError, match=message):
        kernel_law.run(**asked)


def test_a_folder_without_a_table_or_a_column_is_refused(folder):
    write(folder / "threshold_samples.csv", [EVENT])
    with pytest.raises(StudyError, match=r"threshold_samples.csv: there is no column set; it needs set, row"):
        thresholds(folder)
    (folder / "test_vectors.csv").unlink()
    with pytest.raises(StudyError, match=r"test_vectors.csv: there is no such table"):
        events(folder)


def test_numbers_that_are_none_are_refused_with_their_place(folder):
    write(folder / "test_vectors.csv", [EVENT | {"dirty_pages": "many"}])
    with pytest.raises(StudyError, match=r"test_vectors.csv, event 1: dirty_pages is 'many'"):
        events(folder)
    write(folder / "published_throughput.csv", [CASE | {"value": 0}])
    with pytest.raises(StudyError, match="a case that writes nothing is none"):
        throughput.cases(folder)
