"""The Python side of the real page cache: `pagecast.cache`."""

import pytest

import pagecast
from pagecast import cache
from pagecast.errors import PagecastError, ProbeError
from tests.disk import folder_on_disk, patiently


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on a disk with two files."""
    with folder_on_disk(tmp_path) as place:
        monkeypatch.chdir(place)
        (place / "a").write_bytes(b"\x01" * 100_000)
        (place / "b").write_bytes(b"\x01" * 4096)
        yield place


@patiently
def test_found_files_are_measured_and_changed_as_often_as_one_likes(folder):
    files = cache.find(folder)
    assert (len(files), files.paths) == (2, [str(folder / "a"), str(folder / "b")])
    assert cache.evict(files).is_cold
    assert cache.status(files).totals()["cached_bytes"] == 0
    assert cache.warm(files).is_warm
    status = cache.status(files)
    assert status.totals() | {"dirty_bytes": 0} == {
        "files": 2,
        "size_bytes": 104_096,
        "allocated_bytes": sum(status.files["allocated_bytes"]),
        "cached_bytes": 104_096,
        "dirty_bytes": 0,
        "writeback_bytes": 0,
        "evicted_bytes": 0,
        "recently_evicted_bytes": 0,
    }
    assert list(status.files.to_pandas()["size_bytes"]) == [100_000, 4096]


@patiently
def test_a_lock_holds_as_long_as_its_block(folder):
    with cache.lock(folder / "b") as held:
        assert held.locked_bytes == 4096
        assert held.warming.is_warm
        stayed = cache.evict(folder / "b")
        assert stayed.stayed == [0]
        assert "locked in memory by" in stayed.files["reasons"][0][0]
    assert held.locked_bytes == 0
    assert cache.evict(folder / "b").is_cold


@patiently
def test_a_trial_reports_each_run_when_it_has_ended(folder):
    seen = []
    trial = cache.cold(folder, ["cat", str(folder / "a")], on_run=seen.append)
    assert seen == trial.runs
    assert [run.state for run in seen] == ["cold", "warm"]
    assert seen[0].device_share > seen[1].device_share
    with pytest.raises(ProbeError, match="there is no command to run"):
        cache.cold(folder, [])


def test_progress_is_told_and_may_stop_the_work(folder):
    class EnoughError(Exception):
        pass

    def stop(stage, done, total):
        stages.append(stage)
        if stage == "running":
            raise EnoughError

    stages = []
    with pytest.raises(EnoughError):
        cache.cold(folder, ["sleep", "60"], progress=stop)
    assert stages[-1] == "running"


def test_errors_are_ours_and_the_matching_built_in(tmp_path):
    with pytest.raises(ProbeError, match="there is no such file or directory") as caught:
        cache.status(tmp_path / "nowhere")
    assert isinstance(caught.value, PagecastError)
    assert isinstance(caught.value, OSError)
    with pytest.raises(pagecast.PagecastError, match="method"):
        cache.status(tmp_path, method="guess") if (tmp_path / "f").write_bytes(b"x") else None


def test_a_size_is_read_as_it_is_written():
    from pagecast._core import format_bytes, parse_bytes

    assert parse_bytes("4 GiB") == 1 << 32
    assert parse_bytes(format_bytes(20_000_000_000)) == 20_000_000_000
    with pytest.raises(pagecast.ScenarioError, match="has no unit"):
        parse_bytes("4")
