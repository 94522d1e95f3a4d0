"""The standard suite: its cases can be forecast and run, fit the machine, and are those of the test bed."""

import re
from dataclasses import replace

import pytest

import bed.cases
import pagecast as pc
from pagecast.calibration.facts import Facts, Group, Memory, Mount
from pagecast.running import Plan
from pagecast.validation import Scale, estimate, fitting, standard, suite
from pagecast.validation import scale as scale_module
from tests.disk import folder_on_disk

MIB = 1 << 20
GIB = 1 << 30
NAMES = [name for name in bed.cases.CASES if name != bed.cases.MEMORY]
SMALL = Scale(limit_bytes=200 * MIB, cache_bytes=GIB, room_bytes=8 * GIB)
TINY = Scale(limit_bytes=4 * MIB, cache_bytes=16 * MIB, room_bytes=GIB)
BED = bed.cases.Scale.of(2048, 20)

SMALL_MACHINE = """\
cores = 2
memory = { size = "1 GiB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "8 GiB", read = "400 MB/s", write = "200 MB/s" }
mount."/" = { disk = "ssd" }
"""


@pytest.fixture
def small(tmp_path):
    """A machine of 1 GiB, its disk mounted at the root."""
    (tmp_path / "small.toml").write_text(SMALL_MACHINE)
    return pc.load_machine(tmp_path / "small.toml")


def case_of(name, scale, machine):
    return next(case for case in standard(scale, machine) if case.name == name)


def moved(scenario, prepared_bytes=0):
    """Give the bytes that a scenario writes and reads; those of files before time 0 are written."""
    operations = pc.simulate(scenario, model="no-cache").operations
    by_kind = {"write": prepared_bytes, "read": 0}
    for kind, size in zip(operations["operation"], operations["bytes"].tolist(), strict=True):
        call = {"fwrite": "write", "fread": "read"}.get(kind, kind)
        if call in by_kind:
            by_kind[call] += size
    return by_kind


def test_the_cases_are_those_of_the_test_bed(small):
    assert [case.name for case in standard(SMALL, small)] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_case_moves_as_many_bytes_as_that_of_the_test_bed(name, small, tmp_path):
    text = bed.cases.text_of(name, BED)
    script = tmp_path / "case.pct"
    script.write_text(text)
    theirs = moved(pc.Scenario.from_workload(script, machine=tmp_path / "small.toml"))
    same = Scale(BED.limit_mib * MIB, BED.cache_mib * MIB, 8 * GIB)
    scenario = case_of(name, same, small).scenario
    ours = moved(scenario, Plan(scenario).prepared_bytes)
    if name == "l_periodic":  # here what was written is read in the end: that shows when it was flushed
        theirs["read"] = ours["write"]
    assert ours == theirs


@pytest.mark.parametrize("model", [model for model in pc.MODELS if model != "cawl"])
@pytest.mark.parametrize("name", NAMES)
def test_every_model_forecasts_every_case(name, model, small):
    result = pc.simulate(case_of(name, SMALL, small).scenario, model=model)
    assert result.end_s > 0
    assert len(result.files["path"]) == 0, "the next repetition begins with an empty disk"


def test_sizes_follow_the_limit_and_the_memory(small):
    def written(scale):
        return {case.name: Plan(case.scenario).written_bytes for case in standard(scale, small)}

    at = written(SMALL)
    assert (at["a_seqwrite"], at["f8_writers"]) == (400 * MIB, 384 * MIB), "eighths are whole 4 MiB"
    more_limit = written(replace(SMALL, limit_bytes=400 * MIB))
    grown = {name for name in at if more_limit[name] > at[name]}
    assert grown == {*NAMES} - {"c_read", "d04_app", "d08_app", "e_reread", "j_direct", "k_sync"}
    assert more_limit["a_seqwrite"] == 2 * at["a_seqwrite"]
    more_memory = written(replace(SMALL, cache_bytes=2 * GIB))
    assert {name for name in at if more_memory[name] > at[name]} == {"d04_app", "d08_app"}


def test_what_the_files_of_a_case_take(small):
    """A file larger than memory is a quarter larger, and the four files of an application 0.8 each."""
    room = {case.name: Plan(case.scenario).space_bytes for case in standard(SMALL, small)}
    assert room["e_reread"] == 1280 * MIB
    assert room["d08_app"] == 4 * 816 * MIB == max(room.values())
    assert room["n_unlink"] == 160 * MIB, "one after the other"


def test_random_calls_stay_so_few_that_a_slow_disk_ends(small):
    large = replace(SMALL, limit_bytes=50 * GIB)
    assert Plan(case_of("i_random", large, small).scenario).written_bytes == GIB


def test_a_case_without_room_is_left_out_and_named(small):
    cases = standard(SMALL, small)
    fit, left_out = fitting(cases, room_bytes=2 * GIB)
    assert [case.name for case in fit] == [name for name in NAMES if name != "d08_app"]
    assert left_out == (
        "no room for d08_app: it needs 3.42 GB, there are 2.15 GB on the disk; it is left out",
    )
    assert fitting(cases, room_bytes=8 * GIB) == (cases, ())


def test_an_estimate_counts_the_files_that_a_case_begins_with(small):
    case = case_of("e_reread", SMALL, small)
    found = estimate([case])
    assert (found.cases, found.written_bytes, found.room_bytes) == (1, 1280 * MIB, 1280 * MIB)
    # Written once at 200 MB/s, read twice at 400 MB/s, the second time some of it from memory.
    alone_s = pc.simulate(case.scenario).end_s
    assert found.duration_s - alone_s == pytest.approx(1280 * MIB / 200e6, rel=0.05)
    assert estimate([]).written_bytes == 0


FACTS = Facts(
    cores=2,
    kernel_release="6.12.0",
    lru="two-list",
    hz=250,
    vm={},
    huge_pages=None,
    nodes=(),
    memory=Memory(9 * GIB, 8 * GIB, 0, GIB // 2, GIB),
    groups=(),
    mount=Mount("/", "ext4", "/dev/vda", "rw", 100 * GIB, 3 * GIB),
    device=None,
)


def scale_of(facts, machine, monkeypatch):
    monkeypatch.setattr(scale_module, "facts_at", lambda directory: facts)
    return Scale.here("anywhere", machine)


def test_a_scale_is_of_the_machine_as_it_is(small, monkeypatch):
    assert scale_of(FACTS, small, monkeypatch) == Scale(GIB, 8 * GIB, 3 * GIB)


def test_a_scale_is_no_larger_than_the_disk_of_the_forecast(small, monkeypatch):
    mount = replace(FACTS.mount, free_bytes=50 * GIB)
    assert scale_of(replace(FACTS, mount=mount), small, monkeypatch).room_bytes == 8 * GIB


def test_a_scale_is_of_the_cgroup_where_that_is_smaller(small, monkeypatch):
    groups = (Group("/own", 2, 2 * GIB), Group("/", 2, 16 * GIB))
    found = scale_of(replace(FACTS, groups=groups), small, monkeypatch)
    assert (found.cache_bytes, found.limit_bytes) == (2 * GIB, GIB // 4)


def test_a_kernel_that_tells_no_limit_has_its_default(small, monkeypatch):
    memory = replace(FACTS.memory, limit_bytes=None)
    assert scale_of(replace(FACTS, memory=memory), small, monkeypatch).limit_bytes == 1636 * MIB


def test_this_machine_has_a_scale(small, tmp_path):
    with folder_on_disk(tmp_path) as folder:
        scale = Scale.here(folder, small)
    assert 4 * MIB <= scale.limit_bytes <= scale.cache_bytes
    assert 0 < scale.room_bytes <= 8 * GIB


def test_a_directory_that_is_none_is_said(small, tmp_path):
    with pytest.raises(pc.errors.ProbeError, match=re.escape(str(tmp_path / "none"))):
        Scale.here(tmp_path / "none", small)


@pytest.mark.parametrize("name", NAMES)
def test_a_case_runs_here(name, small, tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "sleep", lambda _: pc.sleep(0.01))
    (tmp_path / "run").mkdir()
    with folder_on_disk(tmp_path / "run") as folder:
        scenario = case_of(name, TINY, small).scenario
        measured = pc.run(scenario, dir=folder)
        assert list(folder.iterdir()) == [], "nothing is left"
    assert rows_of(measured) == rows_of(pc.simulate(scenario)), "the same operations with the same bytes"


def rows_of(result):
    keys = ("process", "index", "operation", "path", "bytes")
    return sorted(zip(*(list(result.operations[key]) for key in keys), strict=True))
