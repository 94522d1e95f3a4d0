"""The suite of methods: a case of each method and size, that can be forecast and run and fits the machine."""

from dataclasses import replace

import pytest

import pagecast as pc
from pagecast.running import Plan
from pagecast.validation import Scale, fitting, methods
from tests.disk import folder_on_disk
from tests.unit.test_suite import GIB, MIB, SMALL, SMALL_MACHINE, TINY, rows_of

SIZES = ("1k", "4k", "64k", "1m", "32m")
FLOODS = ("flood_dirty", "flood_written")
MAPPINGS = ("mmap_cached", "mmap_cold", "mmap_written", "mmap_folios")
NAMES = [f"{method}_{size}" for method in ("direct", "sync", "dsync", "fsync", "stdio") for size in SIZES]
NAMES += MAPPINGS
LARGE = Scale(limit_bytes=4 * GIB, cache_bytes=20 * GIB, room_bytes=50 * GIB)


def machine(tmp_path, more=""):
    text = SMALL_MACHINE.replace('write = "200 MB/s" }', f'write = "200 MB/s", flush = "1 ms"{more} }}')
    (tmp_path / "small.toml").write_text(text)
    return pc.load_machine(tmp_path / "small.toml")


@pytest.fixture
def small(tmp_path):
    """A machine of 1 GiB, its disk mounted at the root, whose flushes take a millisecond."""
    return machine(tmp_path)


def case_of(name, scale, small):
    cases, _ = methods(scale, small)
    return next(case for case in cases if case.name == name)


def test_there_is_a_case_of_every_method_and_size(small):
    cases, left_out = methods(SMALL, small)
    assert [case.name for case in cases] == [*NAMES, *FLOODS]
    assert left_out == ()
    assert {case.tolerance.total for case in cases if case.name in FLOODS} == {0.20}
    assert {case.tolerance.total for case in cases if case.name not in FLOODS} == {0.15}


def test_what_the_blocks_of_a_disk_do_not_allow_is_left_out_and_named(tmp_path):
    cases, left_out = methods(SMALL, machine(tmp_path, ', logical_block_size = "4 KiB"'))
    assert [case.name for case in cases] == [name for name in (*NAMES, *FLOODS) if name != "direct_1k"]
    assert left_out == ("direct_1k: O_DIRECT moves whole blocks, here of 4096 B; it is left out",)


@pytest.mark.parametrize("name", [*NAMES, *FLOODS])
def test_the_models_forecast_every_case(name, small):
    case = case_of(name, SMALL, small)
    for model in ("kernel", "no-cache", "endless-cache"):
        result = pc.simulate(case.scenario, model=model)
        assert result.end_s > 0
        assert set(result.operations["operation"]) <= {
            "open", "write", "read", "fsync", "fopen", "setvbuf", "fwrite", "fread", "fclose", "mmap_read",
            "mmap_write", "msync",
        }  # fmt: skip


def written_by(scale, small):
    return {case.name: Plan(case.scenario).written_bytes for case in methods(scale, small)[0]}


def test_sizes_follow_the_memory_and_do_not_grow_without_end(small):
    at = written_by(SMALL, small)
    assert at["sync_1k"] == at["direct_1k"] == at["fsync_1k"] == 2 * 512 * 1024
    assert at["stdio_1k"] == 100 * MIB == at["stdio_64k"], "twice a fourth of the dirty limit"
    assert at["stdio_32m"] == 64 * MIB, "whole buffers"
    tiny = written_by(TINY, small)
    assert tiny["dsync_1m"] == 8 * MIB, "twice a fourth of the cache"
    assert tiny["dsync_32m"] == 64 * MIB, "a call at least"
    large, larger = written_by(LARGE, small), written_by(replace(LARGE, limit_bytes=8 * GIB), small)
    assert large == larger
    assert sum(large.values()) < 6e9, "half a minute of a disk of 200 MB/s"


def test_what_is_mapped_stays_in_memory(small):
    """Nobody is held back, and only what is cold and what is made durable waits for the disk."""
    for name in MAPPINGS:
        result = pc.simulate(case_of(name, SMALL, small).scenario)
        assert set(result.operations["bytes"]) <= {0, 48 * MIB}
        waits = {
            part for part in ("device_read_s", "device_write_s", "throttled_s") if sum(result.parts[part]) > 0
        }
        assert waits == {"mmap_cold": {"device_read_s"}, "mmap_written": {"device_write_s"}}.get(name, set())


def test_a_flood_is_a_gigabyte_or_half_of_the_dirty_limit(small):
    def flood_of(scale):
        return Plan(case_of("flood_dirty", scale, small).scenario).space_bytes - 64 * 4096

    assert flood_of(SMALL) == 100 * MIB
    assert 990e6 < flood_of(LARGE) <= 1e9


def test_the_flood_is_there_while_the_small_file_is_synced(small):
    """It is dirty, and with `flood_written` on its way to the disk."""

    def syncs_of(name):
        rows = pc.simulate(case_of(name, SMALL, small).scenario).operations
        of = {"flood": [], "small": []}
        for who, what, start_s, end_s in zip(
            *(list(rows[key]) for key in ("process", "operation", "start_s", "end_s")), strict=True
        ):
            if what == "fsync":
                of[who].append((start_s, end_s))
        return of

    of = syncs_of("flood_written")
    [(_, written_s)] = of["flood"]
    assert len(of["small"]) == 64
    assert of["small"][0][0] < written_s
    assert syncs_of("flood_dirty")["flood"] == []


def test_a_case_without_room_is_left_out(small):
    cases, _ = methods(SMALL, small)
    fit, left_out = fitting(cases, room_bytes=64 * MIB)
    assert "sync_32m" not in {case.name for case in fit}
    assert any(text.startswith("no room for sync_32m") for text in left_out)


@pytest.mark.parametrize("name", [*NAMES, *FLOODS])
def test_a_case_runs_here(name, small, tmp_path):
    (tmp_path / "run").mkdir()
    with folder_on_disk(tmp_path / "run") as folder:
        scenario = case_of(name, TINY, small).scenario
        measured = pc.run(scenario, dir=folder)
        assert list(folder.iterdir()) == [], "nothing is left"
    assert rows_of(measured) == rows_of(pc.simulate(scenario)), "the same operations with the same bytes"
