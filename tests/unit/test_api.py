"""Scenarios from Python and from TOML, and `simulate`."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import pagecast as pc
from pagecast import _core, errors

TOML = """\
[machine]
from = "machine.toml"
[[file]]
path = "/data/in"
size = "2 GB"
[[process]]
name = "app"
do = [
  { read = "/data/in", buffer = "fresh" },
  { compute = "3 s" },
  { write = "/data/out", size = "1 GB" },
  { fsync = "/data/out" },
]
"""


ANY_WORKLOAD = [model for model in pc.MODELS if model != "cawl"]
"""The models that are asked by default; `cawl` knows writes only."""


def forever():
    while True:
        yield pc.compute(1.0)


def durations(scenario, model="no-cache", **options):
    return pc.simulate(scenario, model=model, **options).operations["duration_s"].tolist()


@pytest.mark.parametrize("model", ANY_WORKLOAD)
def test_python_and_toml_give_the_same_numbers(scenario, tmp_path, model):
    (tmp_path / "scenario.toml").write_text(TOML)
    from_toml = pc.simulate(pc.Scenario.load(tmp_path / "scenario.toml"), model=model)
    from_python = pc.simulate(scenario, model=model)
    assert {**from_toml.to_dict(), "options": None} == {**from_python.to_dict(), "options": None}
    assert from_toml.machine_hash == from_python.machine_hash


def test_a_scenario_can_be_simulated_again_and_again(scenario):
    assert durations(scenario) == durations(scenario) == [4.0, 3.0, 2.5, 0.0]
    assert durations(scenario, model="endless-cache") == [4.0, 3.0, 0.5, 0.0]


def test_a_program_may_be_a_list(machine):
    scenario = pc.Scenario(machine, processes={"app": [pc.compute(1.0), pc.sleep(2.0)]})
    assert durations(scenario) == durations(scenario) == [1.0, 2.0]


def test_a_program_sees_the_run_of_its_own_generator(machine):
    steps = []

    def app():
        for step in range(3):
            steps.append(step)
            yield pc.compute(1.0)

    durations(pc.Scenario(machine, processes={"app": app}))
    assert steps == [0, 1, 2]


def test_after_and_start(machine):
    second = pc.Process([pc.compute(1.0)], after=["first"], start_s=1.0)
    first = pc.Process([pc.compute(1.0)], start_s=2.0)
    result = pc.simulate(pc.Scenario(machine, processes={"second": second, "first": first}), model="no-cache")
    assert result.operations["process"] == ["first", "second"]
    assert result.operations["start_s"].tolist() == [2.0, 3.0]


def test_a_file_may_be_cached(machine):
    files = {"/data/in": pc.File(size_bytes=2e9, cached_bytes=2e9)}
    scenario = pc.Scenario(machine, processes={"app": [pc.read("/data/in")]}, files=files)
    assert durations(scenario, model="wrench") == [0.5]


def test_a_file_has_no_negative_size():
    with pytest.raises(
        errors.ScenarioError, match=r"size_bytes=-4e\+09: a size cannot be negative; give 0 or more"
    ):
        pc.File(size_bytes=-4e9)


@pytest.mark.parametrize("model", ["kernel", "wrench", "no-cache", "endless-cache"])
def test_a_file_is_there_from_the_beginning_of_its_first_write_on(machine, model):
    def writer():
        yield pc.write("/data/f", size_bytes=8e9, call_bytes=2**20)
        yield pc.read("/data/f")

    def flusher():
        yield pc.sleep(0.5)
        yield pc.open("/data/f")
        yield pc.fsync("/data/f")
        yield pc.read("/data/f")

    scenario = pc.Scenario(machine, processes={"writer": writer, "flusher": flusher})
    operations = pc.simulate(scenario, model=model).operations
    of_flusher = [process == "flusher" for process in operations["process"]]
    written_at = operations["end_s"][operations["operation"].index("write")]
    assert operations["end_s"][of_flusher].max() <= written_at
    assert operations["bytes"][of_flusher].tolist() == [0, 0, 0, 0], (
        "nothing to read before the write has ended"
    )
    assert operations["bytes"].sum() == 16e9


def test_a_file_cannot_be_cached_beyond_its_end(machine):
    files = {"/data/in": pc.File(size_bytes=3, cached_bytes=5)}
    words = '5 B of "/data/in" are cached, which has only 3 B; cache less'
    with pytest.raises(errors.ScenarioError, match=words):
        pc.Scenario(machine, processes={"app": [pc.sleep(1.0)]}, files=files)


def test_a_size_with_a_unit_is_refused_with_what_to_write(machine):
    with pytest.raises(TypeError, match=r"size_bytes='20 GB' is a str, not a number of bytes; write 20e9"):
        pc.Scenario(machine, processes={}, files={"/data/in": "20 GB"})


def test_a_seed_has_64_bits(scenario):
    with pytest.raises(ValueError, match=r"seed=-1 is not from 0 to 2\^64 - 1"):
        pc.simulate(scenario, seed=-1)


def test_one_string_is_no_list_of_values():
    with pytest.raises(TypeError, match=r"set='machine.cores=3' is a string; write \['machine.cores=3'\]"):
        pc.Scenario.from_toml("", set="machine.cores=3")


def test_set_replaces_a_value(tmp_path, machine):
    (tmp_path / "scenario.toml").write_text(TOML)
    slower = pc.Scenario.load(tmp_path / "scenario.toml", set=['machine.disk.ssd.read="250 MB/s"'])
    assert durations(slower)[0] == 8.0
    assert slower.machine_hash != pc.Scenario.load(tmp_path / "scenario.toml").machine_hash


def test_a_scenario_says_what_it_is(scenario):
    assert repr(scenario) == "<Scenario <python>: 1 process, 1 file, 1 host>"
    assert (scenario.models, scenario.hosts) == (ANY_WORKLOAD, ["machine"])


def test_options_reach_the_model(scenario):
    fine = pc.simulate(scenario, model="wrench", options={"chunk": "10 MB"})
    assert fine.options == {"chunk": "10 MB"}
    with pytest.raises(errors.UnknownModelError, match="has no option `chink`; did you mean `chunk`"):
        pc.simulate(scenario, model="wrench", options={"chink": "10 MB"})


def test_unknown_model(scenario):
    with pytest.raises(errors.UnknownModelError, match="no model `wrensh`; did you mean `wrench`"):
        pc.simulate(scenario, model="wrensh")


def test_shipped_disks():
    assert {"hdd-7200", "sata-intel-s4500", "nvme-intel-p3700", "nvme-intel-p4800x", "ebs-gp2"} <= {
        *pc.list_disks()
    }
    memory = '{ size = "8 GB", read = "8 GB/s", write = "5 GB/s" }'
    machine = '[machine]\ncores = 4\nmemory = {}\ndisk.d.from = "{}"\nmount."/".disk = "d"\n'
    process = '[[process]]\nname = "p"\ndo = [{ write = "/f", size = "8 MB" }, { fsync = "/f" }]\n'
    for name in pc.list_disks():
        scenario = pc.Scenario.from_toml(machine.format(memory, name) + process)
        assert pc.simulate(scenario, model="kernel", seed=1).operations["end_s"][-1] > 0, name


def test_shipped_machines():
    assert {"wrench-cluster", "wrench-cluster-published"} <= {*pc.list_machines()}
    hashes = {pc.load_machine(name).hash for name in pc.list_machines()}
    assert len(hashes) == len(pc.list_machines())


def test_the_text_of_a_machine_can_be_read_again(machine, tmp_path):
    (tmp_path / "again.toml").write_text(machine.to_toml())
    assert pc.load_machine(tmp_path / "again.toml") == machine


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrench-clutser", r"did you mean `wrench-cluster`\? A path needs a slash"),
        ("nope", r"shipped are cawl-host1, .*, wrench-cluster-published\. A path needs a slash"),
        ("", "shipped are"),
        ("./nowhere.toml", "nowhere.toml: there is no such file"),
        ("/tmp/", "is a directory"),
    ],
)
def test_no_such_machine(name, message):
    with pytest.raises(errors.ScenarioError, match=message):
        pc.load_machine(name)


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        ([pc.read("/data/none")], errors.FileMissingError, "there is no such file"),
        ([pc.read("/elsewhere")], errors.NoMountError, "under no mount of host `machine`"),
        ([pc.read("/data/in", size_bytes=3e9)], errors.BeyondEndError, "which has 2 GB"),
        ([pc.write("/data/out", size_bytes=1e12)], errors.DiskFullError, "needs 1 TB on disk `ssd`"),
        ([pc.alloc(11e9)], errors.OutOfMemoryError, "needs 11 GB more memory"),
        ([pc.wait("dawn")], errors.DeadlockError, "waits for event `dawn`"),
    ],
)
def test_each_way_to_fail_has_its_class(machine, program, error, message):
    scenario = pc.Scenario(machine, processes={"app": program}, files={"/data/in": 2e9})
    with pytest.raises(error, match=message) as caught:
        pc.simulate(scenario)
    assert isinstance(caught.value, pc.SimulationError)
    assert isinstance(caught.value, RuntimeError)


HOST = """
cores = 2
memory = { size = "10 GB", read = "1 GB/s", write = "1 GB/s" }
disk.ssd = { size = "100 GB", read = "100 MB/s", write = "100 MB/s" }
mount."/data".disk = "ssd"
cgroup.batch.memory.max = "1 GB"
"""

WRONG = {
    "after-nobody": ({}, {"p": {"after": ["ghost"]}}),
    "after-itself": ({}, {"p": {"after": ["p"]}}),
    "circle": ({}, {"p": {"after": ["q"]}, "q": {"after": ["p"]}}),
    "no-such-host": ({}, {"p": {"host": "hots"}}),
    "no-such-host-of-a-file": ({"/data/f": {"size": 1, "host": "other"}}, {"p": {}}),
    "no-such-cgroup": ({}, {"p": {"cgroup": "bach"}}),
    "no-mount": ({"/scratch/f": {"size": 1}}, {"p": {}}),
    "larger-than-its-disk": ({"/data/f": {"size": 10**12}}, {"p": {}}),
    "disk-is-full": ({"/data/f": {"size": 60 * 10**9}, "/data/g": {"size": 60 * 10**9}}, {"p": {}}),
    "cached-beyond-its-end": ({"/data/f": {"size": 3, "cached": 5}}, {"p": {}}),
    "dirty-beyond-what-is-cached": ({"/data/f": {"size": 5, "cached": 3, "dirty": 4}}, {"p": {}}),
    "cached-beyond-memory": ({"/data/f": {"size": 20 * 10**9, "cached": 20 * 10**9}}, {"p": {}}),
}
"""Keys of files by path, and of processes by name, as a file has them; sizes in bytes."""


@pytest.mark.parametrize(("files", "processes"), WRONG.values(), ids=WRONG)
def test_file_and_python_refuse_a_wrong_scenario_with_the_same_words(files, processes, tmp_path):
    machine = tmp_path / "one.toml"
    machine.write_text(f"[host.one]\n{HOST}")

    def table(kind, keys):
        return "\n".join([f"[[{kind}]]", *(f"{key} = {value!r}" for key, value in keys.items())])

    def with_units(keys):
        return {key: f"{value} B" if isinstance(value, int) else value for key, value in keys.items()}

    tables = [table("file", {"path": path, **with_units(keys)}) for path, keys in files.items()]
    tables += [
        table("process", {"name": name, **keys}) + "\ndo = [ { sleep = '1 s' } ]"
        for name, keys in processes.items()
    ]
    with pytest.raises(errors.ScenarioError) as read:
        pc.Scenario.from_toml(f"[host.one]\n{HOST}\n" + "\n".join(tables))
    names = {"size": "size_bytes", "cached": "cached_bytes", "dirty": "dirty_bytes", "host": "host"}
    with pytest.raises(errors.ScenarioError) as built:
        pc.Scenario(
            pc.load_machine(machine),
            files={
                path: pc.File(**{names[key]: value for key, value in keys.items()})
                for path, keys in files.items()
            },
            processes={name: pc.Process([pc.sleep(1.0)], **keys) for name, keys in processes.items()},
        )
    words = [str(caught.value).split(": ", 1)[1] for caught in (read, built)]
    assert words[0] == words[1]


def test_after_an_unknown_process(machine):
    with pytest.raises(errors.ScenarioError, match="`after` names `nobody`, and there is no such process"):
        pc.Scenario(machine, processes={"app": pc.Process([pc.compute(1.0)], after=["nobody"])})


def test_an_exception_of_a_program_is_the_cause(machine):
    def app():
        yield pc.compute(1.0)
        raise KeyError("mine")

    with pytest.raises(
        errors.ProgramError, match=r"process `app` failed at 1\.000 s: KeyError: 'mine'"
    ) as caught:
        pc.simulate(pc.Scenario(machine, processes={"app": app}))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_program_that_yields_something_else(machine):
    with pytest.raises(errors.ProgramError, match=r"process `app` yielded 5 \(int\), which is no operation"):
        pc.simulate(pc.Scenario(machine, processes={"app": lambda: iter([5])}))


def test_a_program_that_does_not_yield(machine):
    with pytest.raises(
        errors.ProgramError, match=r"process `app` is a function that returned None \(NoneType\)"
    ):
        pc.simulate(pc.Scenario(machine, processes={"app": lambda: None}))


def test_a_program_that_ends_python(machine):
    def app():
        yield pc.compute(1.0)
        sys.exit(4)

    with pytest.raises(SystemExit):
        pc.simulate(pc.Scenario(machine, processes={"app": app}))


@pytest.mark.parametrize("program", [forever(), "forever", None])
def test_what_is_no_program(machine, program):
    with pytest.raises(TypeError, match="is no program; give a generator function"):
        pc.Scenario(machine, processes={"app": program})


def test_a_list_of_anything_else_is_no_program(machine):
    with pytest.raises(TypeError, match=r"process 'app': 1 \(int\) is no operation; give read\(\.\.\.\)"):
        pc.Scenario(machine, processes={"app": [pc.compute(1.0), 1]})


@pytest.mark.parametrize("value", [3, "scenario.toml"])
def test_what_is_no_scenario(value):
    with pytest.raises(TypeError, match=r"^scenario=.* not a Scenario; get one with Scenario\(\.\.\.\) or"):
        pc.simulate(value)


def test_what_is_no_machine():
    with pytest.raises(TypeError, match=r"machine='node' is a str, not a Machine; get one with load_machine"):
        pc.Scenario("node", processes={})


def test_after_wants_a_list(machine):
    with pytest.raises(TypeError, match=r"write \['first'\]"):
        pc.Scenario(machine, processes={"app": pc.Process([pc.compute(1.0)], after="first")})


def test_ctrl_c_stops_within_100_ms(machine):
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pc.simulate(pc.Scenario(machine, processes={"app": forever}), model="no-cache")
    timer.join()
    # 100 ms are promised on an idle machine; the rest is for a busy one.
    assert time.perf_counter() - pressed[0] < 0.5


def test_other_threads_run_meanwhile(machine):
    stop = threading.Event()
    ticks = []

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    text = TOML[TOML.index("[[process]]") :].replace(
        "do = [", 'do = [ { repeat = 300000, do = [ { sleep = "1 s" } ] },'
    )
    files = '[machine]\nfrom = "wrench-cluster"\n[[file]]\npath = "/data/in"\nsize = "2 GB"\n'
    begun = time.perf_counter()
    pc.simulate(pc.Scenario.from_toml(files + text), model="no-cache")
    took = time.perf_counter() - begun
    stop.set()
    thread.join()
    assert len([each for each in ticks if each < begun + took]) > took / 0.01 / 10


def test_progress_is_told_at_most_ten_times_a_second(machine):
    told = []

    def progress(fraction, simulated_s):
        told.append((time.perf_counter(), fraction, simulated_s))
        if len(told) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        pc.simulate(pc.Scenario(machine, processes={"app": forever}), model="no-cache", progress=progress)
    times, _, simulated = np.array(told).T
    assert (np.diff(times) > 0.09).all()
    assert (np.diff(simulated) > 0).all()


CGROUPS = """\
cores = 2
memory = { size = "16 GB", read = "4 GB/s", write = "2 GB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data".disk = "ssd"
cgroup.batch.memory.max = "1 GB"
"""


@pytest.fixture
def machine_with_cgroup(tmp_path):
    (tmp_path / "cgroups.toml").write_text(CGROUPS)
    return pc.load_machine(tmp_path / "cgroups.toml")


def test_a_process_may_be_in_a_memory_cgroup(machine_with_cgroup):
    program = [pc.read("/data/in"), pc.read("/data/in")]
    scenario = pc.Scenario(
        machine_with_cgroup,
        files={"/data/in": 2e9},
        processes={"app": pc.Process(program, cgroup="batch")},
    )
    assert scenario.models == ["kernel"]
    result = pc.simulate(scenario, model="kernel")
    table = result.cgroups.to_dict()
    assert (table["host"], table["cgroup"], table["memory_max_bytes"]) == (["machine"], ["batch"], [10**9])
    assert 0.99e9 < table["memory_peak_bytes"][0] <= 1e9
    assert table["cached_bytes"] == result.files["cached_bytes"].tolist()
    assert result.operations["from_cache_bytes"][1] < 1e9


def test_a_cgroup_must_be_one_of_the_host(machine, machine_with_cgroup):
    processes = {"app": pc.Process([pc.sleep(1.0)], cgroup="bach")}
    with pytest.raises(errors.ScenarioError, match="has no cgroup `bach`; did you mean `batch`"):
        pc.Scenario(machine_with_cgroup, processes=processes)
    with pytest.raises(errors.ScenarioError, match="has no cgroup `bach`; add"):
        pc.Scenario(machine, processes=processes)


def test_out_of_memory_in_a_cgroup_is_out_of_memory(machine_with_cgroup):
    processes = {"app": pc.Process([pc.alloc(2e9)], cgroup="batch")}
    with pytest.raises(
        errors.OutOfMemoryError, match=r"cgroup `batch` on host `machine` \(memory.max\) has 1 GB"
    ):
        pc.simulate(pc.Scenario(machine_with_cgroup, processes=processes), model="kernel")


def test_other_models_refuse_a_machine_with_cgroups(machine_with_cgroup):
    scenario = pc.Scenario(machine_with_cgroup, processes={"app": [pc.sleep(1.0)]})
    with pytest.raises(errors.ScenarioError, match="model `wrench` knows no memory cgroups"):
        pc.simulate(scenario, model="wrench")


def test_the_binding_refuses_more_cached_bytes_than_there_are(machine):
    files = [(None, "/data/in", 3, 5, 0)]
    with pytest.raises(
        errors.ScenarioError, match=r'5 B of "/data/in" are cached, which has only 3 B; cache less'
    ):
        _core.Scenario.from_parts(machine, files, [])


def test_a_compiled_machine_names_its_hosts(machine):
    assert repr(machine) == "<Machine: machine>"
