"""The knobs of processes: which there are, and the programs with other flags."""

import tomllib

import pytest

import pagecast as pc
from tests.unit.advice.conftest import knobs_of as all_knobs
from tests.unit.advice.conftest import omissions_of

HEAD = """\
models = ["kernel"]
[machine]
cores = 2
memory = { size = "4 GB", read = "4000 MB/s", write = "2000 MB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s", service = "60 us" }
mount."/data" = { disk = "ssd" }
"""


def knobs_of(folder, process, *overrides):
    path = folder / "scenario.toml"
    path.write_text(f"{HEAD}[[process]]\n{process}")
    scenario = pc.Scenario.load(path, set=overrides)
    return {knob.name: knob for knob in all_knobs(scenario, path.read_bytes(), overrides)}, path


def program_of(knob):
    (text,) = knob.settings[0].overrides
    return tomllib.loads(f"do = {text.split('.do=', 1)[1]}")["do"]


def test_a_file_is_opened_before_the_loop_that_uses_it(tmp_path):
    do = 'do = [ { sleep = "1 s" }, { repeat = 2, do = [ { write = "/data/a", size = "4 KiB" } ] } ]'
    knobs, path = knobs_of(tmp_path, f'name = "app"\n{do}')
    knob = knobs["O_DIRECT for writes of app"]
    steps = program_of(knob)
    assert steps[1] == {"open": "/data/a", "flags": ["O_DIRECT"], "create": True}
    assert [next(iter(step)) for step in steps] == ["sleep", "open", "repeat"]
    assert pc.simulate(pc.Scenario.load(path, set=knob.settings[0].overrides)).end_s > 1


def test_a_file_of_each_round_is_opened_in_it(tmp_path):
    do = 'do = [ { repeat = 2, as = "k", do = [ { write = "/data/{k}", size = "4 KiB" } ] } ]'
    knobs, path = knobs_of(tmp_path, f'name = "app"\n{do}')
    knob = knobs["RWF_DONTCACHE for writes of app"]
    (loop,) = program_of(knob)
    assert loop["do"][0] == {"open": "/data/{k}", "flags": ["RWF_DONTCACHE"], "create": True}
    assert pc.simulate(pc.Scenario.load(path, set=knob.settings[0].overrides)).end_s > 0


def test_advice_follows_the_last_use_of_each_file(tmp_path):
    do = """do = [ { write = "/data/a", size = "1 MB" }, { repeat = 2, as = "k", do = [
      { write = "/data/{k}", size = "4 KiB" }, { fsync = "/data/{k}" }, { read = "/data/a" } ] } ]"""
    knobs, path = knobs_of(tmp_path, f'name = "app"\n{do}')
    knob = knobs["FADV_DONTNEED for files of app"]
    _, loop, last = program_of(knob)
    assert [next(iter(step)) for step in loop["do"]] == ["write", "fsync", "fadvise", "read"]
    assert last == {"fadvise": "/data/a", "advice": "dontneed"}
    assert pc.simulate(pc.Scenario.load(path, set=knob.settings[0].overrides)).end_s > 0


def test_advice_of_a_writer_keeps_what_another_one_reads(tmp_path):
    """A table of 2 GB stays in 4 GB of memory while 3 GB are written beside it and dropped."""
    do = 'do = [ { write = "/data/copy{k}", size = "500 MB" }, { fsync = "/data/copy{k}" } ]'
    process = f'name = "backup"\ndo = [ {{ repeat = 6, as = "k", {do} }} ]\n'
    process += '[[process]]\nname = "app"\nstart = "15 s"\ndo = [ { read = "/data/table" } ]\n'
    process += '[[file]]\npath = "/data/table"\nsize = "2 GB"\ncached = "2 GB"\n'
    knobs, path = knobs_of(tmp_path, process)
    (setting,) = knobs["FADV_DONTNEED for files of backup"].settings
    read_s = [
        pc.simulate(pc.Scenario.load(path, set=overrides)).operations["duration_s"][-1]
        for overrides in ((), setting.overrides)
    ]
    assert read_s[1] < read_s[0] / 2


def test_copies_of_a_process_have_knobs_together(tmp_path):
    do = 'do = [ { write = "/data/{n}", size = "4 KiB" }, { fsync = "/data/{n}" } ]'
    process = f'name = "app{{n}}"\ncount = 2\n{do}'
    knobs, path = knobs_of(tmp_path, process)
    for name in (
        "memory.high of app{n}",
        "memory.max of app{n}",
        "io.max wbps of app{n} on ssd",
        "ionice of app{n}",
    ):
        for setting in knobs[name].settings:
            assert pc.simulate(pc.Scenario.load(path, set=setting.overrides)).end_s > 0


@pytest.mark.parametrize(
    "process",
    [
        'do = [ { open = "/data/a", create = true }, { write = "/data/a", size = "4 KiB" } ]',
        'do = [ { fopen = "/data/a", mode = "w" }, { fwrite = "/data/a", size = "4 KiB" } ]',
    ],
)
def test_a_program_with_opens_of_its_own_keeps_its_flags(process, tmp_path):
    knobs, path = knobs_of(tmp_path, f'name = "app"\n{process}')
    told = omissions_of(pc.Scenario.load(path), path.read_bytes())
    assert told == ["O_DIRECT, RWF_DONTCACHE and fadvise of app (opens files itself)"]
    assert not [name for name in knobs if "O_DIRECT" in name or "DONTCACHE" in name]
    assert "memory.max of app" in knobs


def test_what_is_set_of_a_process_stays(tmp_path):
    process = 'name = "app"\ndo = [ { write = "/data/a", size = "4 KiB" } ]'
    own = "process.app.ionice=idle"
    knobs, path = knobs_of(tmp_path, process, own)
    assert not [name for name in knobs if "app" in name]
    told = omissions_of(pc.Scenario.load(path, set=[own]), path.read_bytes(), [own])
    knobs = "cgroup, ionice, O_DIRECT, RWF_DONTCACHE and fadvise of app"
    assert told == [f"{knobs} (no program of the scenario, or changed by --set)"]


def test_a_process_stays_in_its_cgroup(tmp_path):
    process = 'name = "a"\ndo = [ { write = "/data/a", size = "4 KiB" } ]\n'
    process += '[[process]]\nname = "b"\ncgroup = "own"\ndo = [ { write = "/data/b", size = "4 KiB" } ]\n'
    process += '[machine.cgroup.own]\nio.max.ssd = { wbps = "100 MB/s" }\n'
    knobs, path = knobs_of(tmp_path, process)
    settings = knobs["memory.max of b"].settings
    assert all(len(setting.overrides) == 1 for setting in settings), "it is in its cgroup already"
    assert pc.simulate(pc.Scenario.load(path, set=settings[0].overrides)).end_s > 0
