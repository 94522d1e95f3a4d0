"""The study of published throughputs over NFS: what it reads, which case fixes the server, what it shows."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from pagecast import Scenario
from pagecast.errors import StudyError
from pagecast.studies import nfs
from pagecast.studies.nfs.forecast import SCENARIO, _durable, _rate
from pagecast.studies.nfs.published import cases, reference

MIB = 2**20

CASE = {
    "kernel": "3.1.0-rc4-vanilla",
    "throttling": "foreground writeback (before 3.2)",
    "filesystem": "nfs",
    "n_writers": 1,
    "block_bytes": MIB,
    "mem_class_mib": 32768,
    "dirty_limit_bytes": 1024 * MIB,
    "background_ratio_percent": 10,
    "metric": "write_bandwidth",
    "value": 45.0,
}


@pytest.fixture
def folder(tmp_path):
    """A folder of three cases of kernels, of which one has COMMITs, and one of a patch."""
    rows = [
        CASE,
        CASE | {"metric": "nfs_commit_size", "value": 400.0},
        CASE | {"metric": "nfs_commit_rtt_time", "value": 5000.0},
        CASE | {"n_writers": 2, "value": 30.0},
        CASE | {"kernel": "3.1.0-rc8-ioless6", "dirty_limit_bytes": 100 * MIB, "value": 20.0},
        CASE | {"kernel": "3.1.0-rc8-nfs-wq", "value": 47.0},
        CASE | {"filesystem": "xfs"},
    ]
    with (tmp_path / "published_throughput.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(CASE))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


def simulated(case, *, disk_mib_per_s, size_mib, overrides):
    """Write 30 MiB/s and commit 60 MiB every two seconds."""
    time_s = np.array([0.0, 100.0])
    timeline = {
        "host": np.array(["client", "client"]),
        "time_s": time_s,
        "dirtied_bytes": 30 * MIB * time_s,
        "dirty_bytes": np.zeros(2),
    }
    events = {"event": np.array(["nfs commit"] * 50), "time_s": 2.0 * np.arange(1, 51)}
    return SimpleNamespace(
        timeline=timeline, events=events, events_left_out=0, provenance={"machine_hash": "0" * 64}
    )


def test_cases_are_those_over_nfs_with_the_version_of_their_kernel(folder):
    found = cases(folder)
    assert [case.version for case in found] == ["3.1", "3.1", "3.2", ""]
    assert found[0].commits.mib_per_s == pytest.approx(80.0)
    assert found[1].commits is None


def test_the_fastest_case_with_the_largest_limit_fixes_the_server(folder):
    case = reference(cases(folder))
    assert (case.limit_bytes, case.writers) == (1024 * MIB, 1)


def test_the_disk_of_the_server_gives_what_was_published_of_that_case(folder):
    def half_of_the_disk(case, *, disk_mib_per_s, size_mib, overrides):
        result = simulated(case, disk_mib_per_s=disk_mib_per_s, size_mib=size_mib, overrides=overrides)
        result.timeline["dirtied_bytes"] = disk_mib_per_s / 2 * MIB * result.timeline["time_s"]
        return result

    outcome = nfs.run(data=folder, simulate=half_of_the_disk)
    assert outcome.disk_mib_per_s == pytest.approx(90.0)
    assert outcome.rows[0].error == pytest.approx(0.0)


def test_writers_write_long_enough_to_be_looked_at(folder):
    sizes = []

    def early(case, *, disk_mib_per_s, size_mib, overrides):
        sizes.append(size_mib)
        result = simulated(case, disk_mib_per_s=disk_mib_per_s, size_mib=size_mib, overrides=overrides)
        result.timeline["time_s"] = np.array([0.0, size_mib / 100])
        return result

    nfs.run(data=folder, simulate=early)
    assert max(sizes) >= 4000


def test_the_case_that_fixes_the_server_is_not_judged(folder):
    outcome = nfs.run(data=folder, simulate=simulated)
    assert [row.role for row in outcome.rows] == ["calibration", "judged", "judged"]
    assert [round(row.error, 2) for row in outcome.rows] == [0.5, 0.0, -0.33]
    assert outcome.conclusion()[0] == (
        "Throughput: 1 of 2 cases within 20 %, mean 25 %; a disk that is always busy 233 %."
    )


def test_bytes_are_durable_when_a_commit_has_them_and_count_once():
    dirtied = MIB * np.array([0.0, 400.0, 800.0, 800.0, 1600.0, 1600.0])
    dirty = MIB * np.array([0.0, 400.0, 800.0, 400.0, 1200.0, 800.0])
    timeline = {
        "host": np.array(["client"] * 6),
        "time_s": np.array([0.0, 5.0, 10.0, 10.0, 30.0, 30.0]),
        "dirtied_bytes": dirtied,
        "dirty_bytes": dirty,
        "writeback_bytes": dirty,
    }
    times, durable = _durable(SimpleNamespace(timeline=timeline))
    assert durable.tolist() == [0.0, 0.0, 0.0, 400.0, 400.0, 800.0]
    assert _rate(times, durable) == pytest.approx(20.0)


def answered(case, *, disk_mib_per_s, size_mib, overrides):
    """Commit 60 MiB every two seconds, each answered after half of a second."""
    result = simulated(case, disk_mib_per_s=disk_mib_per_s, size_mib=size_mib, overrides=overrides)
    sent = result.events["time_s"]
    after = np.arange(1, len(sent) + 1)
    result.timeline = {
        "host": np.array(["client"] * 2 * len(sent)),
        "time_s": np.stack([sent, sent + 0.5], axis=1).ravel(),
        "dirtied_bytes": 60.0 * MIB * np.repeat(after, 2),
        "dirty_bytes": 60.0 * MIB * np.tile([1.0, 0.0], len(sent)),
    }
    return result


def test_a_round_trip_is_from_the_sending_of_a_commit_to_its_answer(folder):
    outcome = nfs.run(data=folder, simulate=answered)
    assert [one.round_trip_s for one in outcome.forecasts] == pytest.approx([0.5, 0.5, 0.5])
    shown = outcome.to_json()["cases"]
    assert (shown[0]["published_round_trip_s"], shown[0]["forecast_round_trip_s"]) == (5.0, 0.5)
    table = next(table for table in outcome.presentation.tables(outcome) if "Round trip" in table.title)
    assert table.rows == [("3.1.0-rc4-vanilla", "1024", "1", "5.00", "0.50", "-90.0")]


@pytest.mark.parametrize("change", [{"is_merged": True}, {"left_out": 1}])
def test_without_each_answer_there_is_no_round_trip(folder, change):
    def cut(case, **asked):
        result = answered(case, **asked)
        result.events_left_out = change.get("left_out", 0)
        if "is_merged" in change:
            result.timeline = {name: np.delete(column, [1, 2]) for name, column in result.timeline.items()}
        return result

    outcome = nfs.run(data=folder, simulate=cut)
    assert [one.round_trip_s for one in outcome.forecasts] == [None] * 3


def test_sizes_of_commits_and_patches_are_shown(folder):
    outcome = nfs.run(data=folder, simulate=simulated)
    console = Console(file=io.StringIO(), width=120)
    outcome.print_to(console)
    printed = console.file.getvalue()
    assert "Size of a COMMIT" in printed
    assert "3.1.0-rc8-nfs-wq" in printed
    shown = json.loads(json.dumps(outcome.to_json()))["cases"]
    assert (shown[0]["published_commit_mib"], shown[0]["forecast_commit_mib"]) == (400.0, 60.0)


def test_the_scenario_is_one():
    Scenario.load(SCENARIO)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "much"}, "'much', which is no number"),
        ({"value": 0}, "a case that writes nothing is none"),
        ({"kernel": "6.1"}, "kernel is '6.1'; known are"),
        ({"filesystem": "xfs"}, "no write_bandwidth of nfs"),
        ({"kernel": "3.1.0-rc8-nfs-wq"}, "no case of a kernel that was released"),
    ],
)
def test_a_bad_table_gets_one_message(tmp_path, change, message):
    with (tmp_path / "published_throughput.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(CASE))
        writer.writeheader()
        writer.writerow(CASE | change)
    with pytest.raises(StudyError, match=message):
        nfs.run(data=tmp_path, simulate=simulated)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"models": ["wrench"]}, "not about wrench"),
        ({"machine": "wrench-cluster"}, "leave --machine wrench-cluster out"),
        ({}, "--data DIR"),
    ],
)
def test_what_the_study_does_not_have_is_said(asked, message):
    with pytest.raises(StudyError, match=message):
        nfs.run(**asked)
