"""The page cache in a SimPy model: what it gives, what it refuses, and that nothing is left half."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import simpy

import pagecast as pc
from examples.simpy_exp1 import furthest, in_our_engine, in_simpy, resource
from pagecast.errors import (
    BeyondEndError,
    DiskFullError,
    FileMissingError,
    NoMountError,
    OutOfMemoryError,
    PagecastError,
    ScenarioError,
    SimulationError,
    UnknownModelError,
)
from pagecast.simpy import FileState, Memory, PageCache
from pagecast.studies.wrench_cache.experiments import CPU_SECONDS, default_machine

GB = 10**9
MODELS = ("kernel", "wrench", "no-cache", "endless-cache")


@pytest.fixture
def env():
    return simpy.Environment()


@pytest.mark.parametrize("model", ["kernel", "wrench", "no-cache"])
@pytest.mark.parametrize(("size_gb", "cpu_s"), CPU_SECONDS.items())
def test_exp_1_takes_as_long_as_in_our_engine(model, size_gb, cpu_s):
    case = {
        "machine": pc.load_machine(default_machine(model)),
        "size_bytes": size_gb * 1e9,
        "cpu_s": float(cpu_s),
    }
    assert furthest(in_simpy(model, **case), in_our_engine(model, **case)) < 0.01


@pytest.mark.parametrize("model", ["kernel", "wrench", "no-cache"])
def test_exp_1_with_a_resource_as_the_disk(model):
    assert furthest(in_simpy(model, disk=resource), in_our_engine(model)) < 0.01


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("processes", [2, 8])
def test_several_processes_end_when_they_do_in_our_engine(env, machine, model, processes):
    files = {f"/data/{n}/1": 1e9 for n in range(processes)}

    def program(n):
        for k in (1, 2):
            yield pc.read(f"/data/{n}/{k}", buffer="fresh")
            yield pc.write(f"/data/{n}/{k + 1}", size_bytes=1e9, call_bytes=2**20)
            yield pc.free()
        yield pc.fsync(f"/data/{n}/3")

    programs = {f"p{n}": lambda n=n: program(n) for n in range(processes)}
    ours = pc.simulate(pc.Scenario(machine, processes=programs, files=files), model=model).operations
    ends = {name: [] for name in programs}
    for name, end_s in zip(ours["process"], ours["end_s"], strict=True):
        ends[name].append(end_s)

    cache = PageCache(env, machine, model=model, files=files)

    def process(n):
        for operation, end_s in zip(program(n), ends[f"p{n}"], strict=True):
            outcome = yield from cache.do(operation)
            assert outcome.end_s == env.now == pytest.approx(end_s, rel=0.01)

    env.run(until=env.all_of([env.process(process(n)) for n in range(processes)]))


@pytest.mark.parametrize("model", ["kernel", "no-cache", "endless-cache"])
def test_a_queue_shares_a_disk_among_processes(env, machine, model):
    """Not `wrench`: when all do the same at once, its writes depend on who is a millisecond ahead."""

    def program(n):
        for k in (1, 2):
            yield pc.read(f"/data/{n}/{k}")
            yield pc.write(f"/data/{n}/{k + 1}", size_bytes=1e9)

    files = {f"/data/{n}/1": 1e9 for n in range(4)}
    programs = {f"p{n}": lambda n=n: program(n) for n in range(4)}
    ours = pc.simulate(pc.Scenario(machine, processes=programs, files=files), model=model).operations

    head, rates = simpy.Resource(env), {"read": 500e6, "write": 400e6}

    def disk(request):
        with head.request() as turn:
            yield turn
            yield env.timeout(request.size_bytes / rates[request.direction])

    cache = PageCache(env, machine, model=model, files=files, disks={"ssd": disk})
    outcomes = []

    def process(n):
        for operation in program(n):
            outcomes.append((yield from cache.do(operation)))

    env.run(until=env.all_of([env.process(process(n)) for n in range(4)]))
    total_s = sum(outcome.duration_s for outcome in outcomes)
    assert total_s == pytest.approx(sum(ours["duration_s"]), rel=0.05)


def test_an_outcome_says_what_was_done(env, machine):
    cache = PageCache(env, machine, files={"/data/f": pc.File(size_bytes=2e9, cached_bytes=1e9)})

    def process():
        yield env.timeout(3)
        outcome = yield from cache.read("/data/f")
        assert (outcome.operation, outcome.path, outcome.start_s) == ("read", "/data/f", 3)
        assert outcome.from_cache_bytes + outcome.from_device_bytes == 2 * GB
        assert outcome.from_cache_bytes == pytest.approx(1e9, rel=1e-2)
        assert outcome.end_s == env.now
        assert sum(outcome.parts_s.values()) == pytest.approx(outcome.duration_s)
        assert cache.file("/data/f") == FileState(2 * GB, 2 * GB, 0)

    env.run(until=env.process(process()))


def test_memory_fills_and_is_written_back_while_nobody_does_anything(env, machine):
    cache = PageCache(env, machine, model="kernel")

    def process():
        yield from cache.write("/data/f", size_bytes=0.5e9)
        assert cache.memory() == Memory(10 * GB, 0, GB // 2, GB // 2)
        assert cache.memory().free_bytes == 9.5 * GB
        yield env.timeout(60)
        assert cache.memory() == Memory(10 * GB, 0, GB // 2, 0)

    env.run(until=env.process(process()))


def test_looking_changes_hardly_anything(machine):
    """Under `kernel` levels are integrated from one look to the next."""

    def run(looks):
        env = simpy.Environment()
        cache = PageCache(env, machine, model="kernel")
        ends = []

        def writer():
            for _ in range(4):
                yield from cache.write("/data/f", size_bytes=1e9, append=True)
                ends.append(env.now)

        def watcher():
            while looks:
                yield env.timeout(0.1)
                memory = cache.memory()
                assert 0 <= memory.dirty_bytes <= memory.cached_bytes <= memory.total_bytes

        env.process(watcher())
        env.run(until=env.process(writer()))
        return ends

    assert run(looks=True) == pytest.approx(run(looks=False), rel=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_a_run_ends_soon_after_the_last_process(env, machine, model):
    one = PageCache(env, machine, model=model)
    PageCache(env, machine, model=model)  # two hosts do not keep each other awake
    ends = []

    def process():
        yield from one.write("/data/f", size_bytes=1e9)
        ends.append(env.now)

    env.process(process())
    env.run()
    assert ends[0] <= env.now <= ends[0] + 15


def test_a_page_cache_that_has_rested_catches_up(env, machine):
    cache = PageCache(env, machine, model="kernel")

    def write(path):
        yield from cache.write(path, size_bytes=0.5e9)

    env.process(write("/data/1"))
    env.run()
    assert cache.memory().dirty_bytes > 0

    def later():
        yield env.timeout(100)
        yield from write("/data/2")

    env.run(until=env.process(later()))
    assert cache.file("/data/1").dirty_bytes == 0, "written meanwhile"
    assert cache.file("/data/2").dirty_bytes == GB // 2
    env.run(until=env.now + 100)
    assert cache.memory().dirty_bytes == 0


@pytest.mark.parametrize("initial_time", [0, 7, 1e9])
def test_an_environment_may_count_milliseconds_and_begin_late(machine, initial_time):
    env = simpy.Environment(initial_time)
    cache = PageCache(env, machine, model="no-cache", units_per_s=1000)

    def process():
        outcome = yield from cache.write("/data/f", size_bytes=400e6)
        assert outcome.duration_s == pytest.approx(1)

    env.run(until=env.process(process()))
    assert env.now == pytest.approx(initial_time + 1000)


# Flags of open.


@pytest.mark.parametrize("flag", ["O_DIRECT", "O_SYNC", "O_DSYNC", "O_APPEND"])
@pytest.mark.parametrize("model", ["kernel", "no-cache"])
def test_a_file_that_is_open_with_flags_takes_as_long_as_in_our_engine(env, machine, model, flag):
    def operations(files):
        yield files.open("/data/f", create=True, flags=[flag])
        yield files.write("/data/f", size_bytes=2**26, call_bytes=2**20)
        yield files.read("/data/f", call_bytes=2**20)
        yield files.close("/data/f")
        yield files.write("/data/f", size_bytes=2**26, call_bytes=2**20)

    def process():
        for operation in operations(PageCache(env, machine, model=model)):
            yield from operation

    env.run(until=env.process(process()))
    scenario = pc.Scenario(machine, processes={"p": lambda: operations(pc)})
    assert env.now == pytest.approx(pc.simulate(scenario, model=model).operations["end_s"][-1], rel=1e-4)


def test_bytes_that_are_no_blocks_are_refused_with_o_direct_and_nothing_else_is(env, machine):
    cache = PageCache(env, machine)

    def process():
        yield from cache.open("/data/f", create=True, flags=["O_DIRECT"])
        with pytest.raises(SimulationError, match="EINVAL; make offset, size and call multiples of 512 B"):
            yield from cache.write("/data/f", size_bytes=1000)
        yield from cache.write("/data/f", size_bytes=1024)
        assert cache.memory().cached_bytes == 0

    env.run(until=env.process(process()))


# Interrupts and ends.


@pytest.mark.parametrize("model", MODELS)
def test_an_interrupted_operation_goes_on_to_its_end(env, machine, model):
    cache = PageCache(env, machine, model=model)

    def writer():
        try:
            yield from cache.write("/data/f", size_bytes=2e9)
            pytest.fail("it was interrupted")
        except simpy.Interrupt:
            assert env.now == 0.1
        yield env.timeout(0.1)
        outcome = yield from cache.fsync("/data/f")  # begins when the write is over
        assert outcome.start_s > 0.2
        assert cache.file("/data/f").size_bytes == 2 * GB
        assert cache.file("/data/f").dirty_bytes == 0

    def other(process):
        yield env.timeout(0.1)
        process.interrupt()

    process = env.process(writer())
    env.process(other(process))
    env.run(until=process)


@pytest.mark.parametrize("model", MODELS)
def test_a_process_that_ends_in_the_middle_leaves_nothing_half(env, machine, model):
    cache = PageCache(env, machine, model=model, files={"/data/in": 2e9})

    def reader():
        try:
            yield from cache.read("/data/in", buffer="fresh")
        except simpy.Interrupt:
            return

    def other(process):
        yield env.timeout(0.1)
        process.interrupt()
        yield env.timeout(30)
        assert cache.memory().anonymous_bytes == 0
        outcome = yield from cache.read("/data/in")
        assert outcome.from_cache_bytes + outcome.from_device_bytes == 2 * GB

    env.run(until=env.process(other(env.process(reader()))))


def test_a_process_that_fails_fails_as_in_simpy(env, machine):
    cache = PageCache(env, machine)

    def process():
        yield from cache.alloc(1e9)
        raise KeyError("of the model's own")

    env.process(process())
    with pytest.raises(KeyError, match="of the model's own"):
        env.run()
    assert cache.memory().anonymous_bytes == 0


def test_waiting_for_one_of_two(env, machine):
    cache = PageCache(env, machine, model="no-cache")

    def process():
        writing = env.process(cache.write("/data/f", size_bytes=4e9))
        yield writing | env.timeout(1)
        assert writing.is_alive
        yield writing
        assert env.now == pytest.approx(10)

    env.run(until=env.process(process()))


# Disks of the model's own.


def test_a_disk_that_seeks(env, machine):
    asked = []

    def seeking(request):
        asked.append(request)
        yield env.timeout(0.01 + request.size_bytes / 100e6)

    cache = PageCache(env, machine, model="no-cache", disks={"ssd": seeking}, request_bytes=10**6)

    def process():
        outcome = yield from cache.write("/data/f", size_bytes=100e6)
        assert outcome.duration_s == pytest.approx(2)

    env.run(until=env.process(process()))
    assert {(each.disk, each.direction) for each in asked} == {("ssd", "write")}
    assert [each.size_bytes for each in asked] == [10**6] * 100


def test_writers_are_throttled_to_a_slow_disk(env, machine):
    """The machine file says 400 MB/s; the disk gives a tenth, and what is dirty stays below the limit."""

    def slow(request):
        yield env.timeout(request.size_bytes / 40e6)

    cache = PageCache(env, machine, model="kernel", disks={"ssd": slow})

    def process():
        ends = []
        for _ in range(60):
            yield from cache.write("/data/f", size_bytes=100e6, append=True)
            ends.append(env.now)
            assert cache.memory().dirty_bytes < 2 * GB
        last = [later - earlier for earlier, later in pairwise(ends[-20:])]
        assert sum(last) / len(last) == pytest.approx(100e6 / 40e6, rel=0.1)

    env.run(until=env.process(process()))


def test_a_disk_shared_with_what_is_no_page_cache(env, machine):
    head = simpy.Resource(env)

    def disk(request):
        with head.request() as turn:
            yield turn
            yield env.timeout(request.size_bytes / 400e6)

    def somebody_else():
        with head.request() as turn:
            yield turn
            yield env.timeout(5)

    cache = PageCache(env, machine, model="no-cache", disks={"ssd": disk}, request_bytes=10**6)

    def process():
        yield env.timeout(0.1)
        outcome = yield from cache.write("/data/f", size_bytes=400e6)
        assert outcome.end_s == pytest.approx(6)

    env.process(somebody_else())
    env.run(until=env.process(process()))


def test_a_disk_that_is_no_generator(env, machine):
    cache = PageCache(env, machine, model="no-cache", disks={"ssd": lambda _: env.timeout(1)})
    env.process(cache.write("/data/f", size_bytes=1e6))
    with pytest.raises(TypeError, match=r"disks\['ssd'\] gave <Timeout.*> and no generator"):
        env.run()


def never(env, _):
    yield env.event()


def of_another_environment(_env, _):
    yield simpy.Environment().timeout(1)


@pytest.mark.parametrize("serve", [never, of_another_environment])
@pytest.mark.parametrize("model", MODELS)
def test_who_waits_for_a_disk_that_never_answers_waits_for_ever(env, machine, model, serve):
    disks = {"ssd": lambda request: serve(env, request)}
    cache = PageCache(env, machine, model=model, files={"/data/in": 1e8}, disks=disks)
    process = env.process(cache.read("/data/in"))
    with pytest.raises(RuntimeError, match="No scheduled events left"):
        env.run(until=process)
    env.run()
    assert process.is_alive


@pytest.mark.parametrize("model", MODELS)
def test_a_request_takes_as_long_as_it_takes(env, machine, model):
    def slow(_):
        yield env.timeout(40_000)

    disks = {"ssd": slow}
    cache = PageCache(env, machine, model=model, files={"/data/in": 1e8}, disks=disks, request_bytes=10**8)

    def process():
        outcome = yield from cache.read("/data/in")
        assert outcome.duration_s >= 40_000
        assert outcome.from_device_bytes == 10**8

    env.run(until=env.process(process()))
    assert env.now % 40_000 == pytest.approx(0, abs=1)


def test_without_a_cache_nothing_happens_after_the_last_request(env, machine):
    last = []

    def disk(request):
        yield env.timeout(request.size_bytes / 400e6)
        last.append(env.now)

    cache = PageCache(env, machine, model="no-cache", disks={"ssd": disk})
    env.process(cache.write("/data/f", size_bytes=1e9))
    env.run()
    assert env.now == last[-1]


@pytest.mark.parametrize("model", MODELS)
def test_a_file_is_there_while_it_is_written_for_the_first_time(env, machine, model):
    cache = PageCache(env, machine, model=model)

    def flusher():
        yield env.timeout(0.5)
        held = cache.file("/data/f")
        assert held.cached_bytes <= held.size_bytes == 8 * GB
        outcome = yield from cache.fsync("/data/f")
        assert cache.memory().dirty_bytes <= 8 * GB
        with pytest.raises(BeyondEndError):
            yield from cache.read("/data/f", size_bytes=1)
        return outcome

    writing = env.process(cache.write("/data/f", size_bytes=8e9, call_bytes=2**20))
    flushing = env.process(flusher())
    env.run(until=writing & flushing)
    assert flushing.value.end_s <= writing.value.end_s
    assert cache.file("/data/f").size_bytes == 8 * GB


# What is refused.


@pytest.mark.parametrize(
    ("operation", "error", "message"),
    [
        (pc.read("/data/nothing"), FileMissingError, "there is no file /data/nothing"),
        (pc.read("/data/f", offset_bytes=1, size_bytes=1e9), BeyondEndError, "beyond its end"),
        (
            pc.write("/elsewhere/f", size_bytes=1),
            NoMountError,
            "/elsewhere/f is under no mount; mounts: /data",
        ),
        (pc.write("/data/f", size_bytes=1e12), DiskFullError, "its disk has 99 GB left"),
        (pc.alloc(1e12), OutOfMemoryError, "1 TB of anonymous memory"),
        (pc.compute(1), ScenarioError, "`compute` is nothing that a page cache does"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_what_cannot_be_done_changes_nothing(env, machine, operation, error, message, model):
    cache = PageCache(env, machine, model=model, files={"/data/f": 1e9})

    def process():
        before = cache.memory(), cache.file("/data/f")
        with pytest.raises(error, match=message):
            yield from cache.do(operation)
        assert (cache.memory(), cache.file("/data/f")) == before
        outcome = yield from cache.read("/data/f")
        assert outcome.from_device_bytes == GB

    env.run(until=env.process(process()))


def test_a_model_that_has_no_answer(env, machine):
    cache = PageCache(env, machine, model="cawl", files={"/data/f": 1e9})
    env.process(cache.read("/data/f", size_bytes=1e6, offset_bytes=5e6))
    with pytest.raises(SimulationError, match="model `cawl`"):
        env.run()
    with pytest.raises(SimulationError, match="of no use any more: model `cawl`"):
        cache.memory()


def test_wrong_arguments_are_refused_at_the_call(env, machine):
    cache = PageCache(env, machine)
    with pytest.raises(ScenarioError, match="size_bytes=-1: a size cannot be negative"):
        cache.write("/data/f", size_bytes=-1)
    with pytest.raises(ScenarioError, match=r'path "f" is not absolute'):
        cache.read("f")
    with pytest.raises(TypeError, match=r"disks\['ssd'\]=.* is a Resource; give a generator function"):
        PageCache(env, machine, disks={"ssd": simpy.Resource(env)})
    with pytest.raises(TypeError, match=r"get one with pagecast\.read"):
        cache.do("read")
    with pytest.raises(FileMissingError, match="there is no file /data/f"):
        cache.file("/data/f")


def test_an_operation_needs_a_process(env, machine):
    operation = PageCache(env, machine).write("/data/f", size_bytes=1)
    with pytest.raises(SimulationError, match="write `yield from` in a SimPy process"):
        next(operation)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"model": "kernal"}, UnknownModelError, "there is no model `kernal`; did you mean `kernel`"),
        ({"options": {"chunk": "1 MB"}}, UnknownModelError, "chunk"),
        ({"disks": {"sdd": None}}, ScenarioError, "the machine has no disk 'sdd'; it has ssd"),
        ({"files": {"/data/f": -4e9}}, ScenarioError, r"size_bytes=-4e\+09: a size cannot be negative"),
        ({"files": {"/f": 1}}, NoMountError, "/f is under no mount"),
        ({"files": {"/data/f": -1}}, ScenarioError, "size_bytes=-1"),
        ({"files": {"/data/f": 1e12}}, DiskFullError, "/data/f needs"),
        ({"files": {"/data/f": pc.File(size_bytes=1, host="a")}}, ScenarioError, "host='a' of /data/f"),
        ({"request_bytes": 0}, ScenarioError, "request_bytes=0: must be at least one byte"),
        ({"units_per_s": 0}, ScenarioError, "units_per_s=0: must be a finite number above 0"),
    ],
)
def test_what_a_page_cache_cannot_be(env, machine, changed, error, message):
    with pytest.raises(error, match=message):
        PageCache(env, machine, **changed)
    assert issubclass(error, PagecastError)
    assert env.peek() == float("inf"), "nothing is left in the queue"


def test_a_machine_of_two_hosts(env):
    one = '{ cores = 1, memory = { size = "1 GB", read = "1 GB/s", write = "1 GB/s" } }'
    idle = '[[process]]\nname = "p"\nhost = "a"\ndo = [{ sleep = "1 s" }]'
    hosts = pc.Scenario.from_toml(f"host.a = {one}\nhost.b = {one}\n{idle}").machine
    with pytest.raises(ScenarioError, match="there are 2 hosts"):
        PageCache(env, hosts)
    with pytest.raises(TypeError, match=r"get one with simpy\.Environment"):
        PageCache(hosts, env)


def test_without_simpy_the_message_says_what_to_install():
    code = "import sys; sys.modules['simpy'] = None; import pagecast.simpy"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "pagecast.simpy needs SimPy; pip install 'pagecast[simpy]'" in ended.stderr


JOURNALED = """
cores = 4
memory = { size = "8 GB", read = "8 GB/s", write = "5 GB/s", cost = { call = "1 us" } }
[disk.ssd]
size = "100 GB"
read = "500 MB/s"
write = "400 MB/s"
latency = "80 us"
write_latency = "40 us"
flush = "1 ms"
SERVICE
[mount."/data"]
disk = "ssd"
type = "ext4"
commit = "20 us"
journal = { size = "64 MiB" }
"""


@pytest.mark.parametrize("service", ["", "service = '100 us'"], ids=["flows", "requests"])
def test_a_database_beside_a_backup_has_the_same_percentiles_as_in_our_engine(env, tmp_path, service):
    (tmp_path / "machine.toml").write_text(JOURNALED.replace("SERVICE", service))
    machine = pc.load_machine(tmp_path / "machine.toml")
    places = np.random.default_rng(7).integers(0, 4 * GB // 8192, 400) * 8192

    def database():
        yield pc.open("/data/table", flags=["O_DIRECT"] if service else [])
        for at in places.tolist():
            yield pc.read("/data/table", offset_bytes=at, size_bytes=8192)
            yield pc.write("/data/log", size_bytes=8192, append=True)
            yield pc.fsync("/data/log")

    def backup():
        yield pc.open("/data/old", flags=["O_DIRECT"] if service else [])
        for at in range(0, 2 * GB, 2**20 * 4):
            yield pc.read("/data/old", offset_bytes=at, size_bytes=min(4 * 2**20, 2 * GB - at))

    files = {"/data/table": 4 * GB, "/data/old": 2 * GB, "/data/log": 1 * GB // 1000}
    programs = {"database": database, "backup": backup}
    ours = pc.simulate(pc.Scenario(machine, processes=programs, files=files)).operations
    durations = {}
    for process, kind, path, spent_s in zip(
        ours["process"], ours["operation"], ours["path"], ours["duration_s"].tolist(), strict=True
    ):
        durations.setdefault((process, kind, path), []).append(spent_s)

    cache, told = PageCache(env, machine, files=files), {}

    def process(name):
        for operation in programs[name]():
            outcome = yield from cache.do(operation)
            told.setdefault((name, outcome.operation, outcome.path), []).append(outcome.duration_s)

    env.run(until=env.all_of([env.process(process(name)) for name in programs]))
    assert told.keys() == durations.keys()
    for key, spent_s in durations.items():
        shares = [50, 90, 99]
        assert np.percentile(told[key], shares) == pytest.approx(np.percentile(spent_s, shares), rel=0.02), (
            key
        )


DATABASE = (
    pc.open("/data/table", flags=["O_DIRECT"]),
    pc.read(
        "/data/table",
        call_bytes=8192,
        pattern=pc.Pattern("zipf:1.1", writes=0.2, depth=4, by="libaio", for_s=0.5, seed=3),
    ),
    pc.fsync("/data/table"),
)
BACKUP = (
    pc.open("/data/backup", flags=["O_DIRECT"]),
    pc.read("/data/backup", size_bytes=2**25, call_bytes=2**20),
)


def block_machine(tmp_path, scheduler):
    """A disk that serves requests one by one, below a file system with a journal."""
    (tmp_path / "block.toml").write_text(f"""
cores = 4
memory = {{ size = "4 GB", read = "8 GB/s", write = "4 GB/s" }}
disk.ssd = {{ size = "1 TB", read = "500 MB/s", write = "500 MB/s",
              service = "300 us", hw_queue_depth = 2, scheduler = "{scheduler}", flush = "2 ms" }}
mount."/data" = {{ disk = "ssd", type = "ext4", journal = {{ size = "64 MiB" }} }}
""")
    return pc.load_machine(tmp_path / "block.toml")


@pytest.mark.parametrize("scheduler", ["none", "mq-deadline", "bfq"])
def test_calls_of_patterns_have_the_percentiles_of_our_engine(env, tmp_path, scheduler):
    machine = block_machine(tmp_path, scheduler)
    files = {"/data/table": 2e9, "/data/backup": 2e9}
    programs = {"database": lambda: iter(DATABASE), "backup": lambda: iter(BACKUP)}
    ours = pc.simulate(pc.Scenario(machine, processes=programs, files=files), model="kernel", seed=5)
    cache = PageCache(env, machine, files=files, seed=5)

    def database():
        for operation in DATABASE:
            yield from cache.do(operation)

    def backup():
        for operation in BACKUP:
            yield from cache.do(operation)

    env.run(until=env.process(database()) & env.process(backup()))
    inside = {(row.process, row.path, row.operation): row for row in cache.latency()}
    table = ours.latency
    seen = 0
    for at, key in enumerate(zip(table["process"], table["path"], table["operation"], strict=True)):
        row = inside[tuple(key)]
        assert (row.count, row.bytes) == (table["count"][at], table["bytes"][at])
        for name in ("mean_s", "p50_s", "p90_s", "p99_s", "p99_9_s", "max_s"):
            assert getattr(row, name) == pytest.approx(table[name][at], rel=1e-3, abs=1e-6)
        seen += row.count
    assert seen > 1000


def test_a_pattern_is_one_operation_with_parts(env, machine):
    cache = PageCache(env, machine, files={"/data/f": 1e9})

    def process():
        pattern = pc.Pattern("uniform", rate_iops=100, for_s=1)
        outcome = yield from cache.do(pc.read("/data/f", call_bytes=4096, pattern=pattern))
        assert (outcome.operation, outcome.end_s) == ("read", 1)
        assert sum(outcome.parts_s.values()) == pytest.approx(1)
        assert outcome.parts_s["sleep"] > 0.5

    env.run(until=env.process(process()))
    [row] = cache.latency()
    assert (row.process, row.path, row.operation, row.count) == ("process", "/data/f", "read", 100)


def test_a_priority_is_that_of_the_process(env, tmp_path):
    """Under bfq the idle class waits for the others."""
    cache = PageCache(env, block_machine(tmp_path, "bfq"), files={"/data/table": 2e9, "/data/backup": 2e9})
    ends = {}

    def reader(path, ionice):
        cache.set_priority(ionice)
        yield from cache.open(path, flags=["O_DIRECT"])
        pattern = pc.Pattern("uniform", depth=8, by="libaio")
        yield from cache.do(pc.read(path, size_bytes=2**24, call_bytes=2**14, pattern=pattern))
        ends[ionice] = env.now

    idle = env.process(reader("/data/backup", "idle"))
    env.run(until=idle & env.process(reader("/data/table", "best-effort 0")))
    assert ends["idle"] > 1.5 * ends["best-effort 0"]


def test_what_only_a_scenario_does_is_refused(env, machine):
    cache = PageCache(env, machine, files={"/data/f": 1e9})

    def process():
        with pytest.raises(ScenarioError, match="`depth` is for processes of a scenario"):
            yield from cache.do(pc.read("/data/f").asynchronous(depth=2))
        with pytest.raises(ScenarioError, match="`not_before` is for processes of a scenario"):
            yield from cache.do(pc.read("/data/f").not_before(1))
        with pytest.raises(ScenarioError, match="ionice='fast'"):
            cache.set_priority("fast")

    env.run(until=env.process(process()))
