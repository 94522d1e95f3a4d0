"""What holds for every SimPy model with a page cache: bytes, times, and interrupts at any time."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

import pagecast as pc
from pagecast.errors import BeyondEndError
from pagecast.simpy import Outcome, PageCache, Request

MB = 10**6
APART_S = 0.0137
"""Processes start one after the other: who is first of those that begin at one instant is not told."""

MACHINE = """
cores = 16
memory = { size = "2 GB", read = "4 GB/s", write = "3 GB/s" }
disk.ssd = { size = "100 GB", read = "500 MB/s", write = "400 MB/s" }
mount."/data".disk = "ssd"
"""

Step = tuple[str, int]

models = st.sampled_from(["kernel", "wrench", "no-cache", "endless-cache"])
steps = st.tuples(
    st.sampled_from(["read", "write", "append", "fsync", "sync", "truncate", "drop_caches", "wait"]),
    st.integers(1, 600).map(lambda n: n * MB),
)
programs = st.lists(st.lists(steps, min_size=1, max_size=6), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> pc.Machine:
    """A host with 2 GB of memory and a disk."""
    path: Path = tmp_path_factory.mktemp("machine") / "machine.toml"
    path.write_text(MACHINE)
    return pc.load_machine(path)


@dataclass
class Model:
    """A SimPy model: processes with a file each."""

    env: simpy.Environment
    cache: PageCache
    outcomes: list[list[Outcome]]
    processes: list[simpy.Process]


def operation(path: str, kind: str, size: int, held: int) -> pc.Operation:
    """Give what a step does to a file that has `held` bytes."""
    match kind:
        case "read":
            return pc.read(path, size_bytes=min(size, held))
        case "write":
            return pc.write(path, size_bytes=size, call_bytes=2**20)
        case "append":
            return pc.write(path, size_bytes=size, append=True)
        case "fsync":
            return pc.fsync(path)
        case "truncate":
            return pc.truncate(path, size_bytes=min(size, held))
        case "drop_caches":
            return pc.drop_caches()
        case "wait":
            return pc.sleep(size / 10**8)
        case _:
            return pc.sync()


def held_after(kind: str, size: int, held: int) -> int:
    """Give the size of a file after a step."""
    sizes = {"write": max(size, held), "append": held + size, "truncate": min(size, held)}
    return sizes.get(kind, held)


def operations(path: str, program: list[Step]) -> list[pc.Operation]:
    """Give the operations of a process whose file has 200 MB."""
    held, given = 200 * MB, []
    for kind, size in program:
        given.append(operation(path, kind, size, held))
        held = held_after(kind, size, held)
    return given


def build(
    machine: pc.Machine,
    model: str,
    programs: list[list[Step]],
    disk: Callable[[simpy.Environment], Any] | None = None,
) -> Model:
    """Put a model together."""
    env = simpy.Environment()
    files: dict[Any, Any] = {f"/data/{n}": 200e6 for n in range(len(programs))}
    disks = {"ssd": disk(env)} if disk else None
    cache = PageCache(env, machine, model=model, files=files, disks=disks)
    outcomes: list[list[Outcome]] = [[] for _ in programs]

    def process(n: int) -> Generator[simpy.Event, Any, None]:
        yield env.timeout(n * APART_S)
        for (kind, size), each in zip(programs[n], operations(f"/data/{n}", programs[n]), strict=True):
            try:
                if kind == "wait":
                    yield env.timeout(size / 10**8)
                else:
                    outcomes[n].append((yield from cache.do(each)))
            except (simpy.Interrupt, BeyondEndError):
                continue  # who is interrupted again before the next operation begins has not done it

    return Model(env, cache, outcomes, [env.process(process(n)) for n in range(len(programs))])


def queue(env: simpy.Environment) -> Callable[[Request], Generator[simpy.Event, Any, None]]:
    """Give a disk that serves one request at a time."""
    head = simpy.Resource(env)

    def serve(request: Request) -> Generator[simpy.Event, Any, None]:
        with head.request() as turn:
            yield turn
            yield env.timeout(request.size_bytes / (500e6 if request.direction == "read" else 400e6))

    return serve


def moved(program: list[Step], outcomes: list[Outcome]) -> None:
    """Check that what was asked came from the cache or the disk, and that the time has gone somewhere."""
    held, at = 200 * MB, 0
    for kind, size in program:
        if kind != "wait":
            outcome = outcomes[at]
            at += 1
            served = outcome.from_cache_bytes + outcome.from_device_bytes
            assert served == {"read": min(size, held), "write": size, "append": size}.get(kind, served)
            assert sum(outcome.parts_s.values()) == pytest.approx(outcome.duration_s, abs=1e-5)
        held = held_after(kind, size, held)
    assert at == len(outcomes)


@given(model=models, programs=programs, disk=st.sampled_from([None, queue]))
def test_bytes_are_conserved_and_times_are_the_same_again(
    machine: pc.Machine, model: str, programs: list[list[Step]], disk: Any
) -> None:
    one, again = (build(machine, model, programs, disk) for _ in range(2))
    one.env.run()
    again.env.run()
    assert one.outcomes == again.outcomes
    for program, outcomes in zip(programs, one.outcomes, strict=True):
        moved(program, outcomes)
    for n, program in enumerate(programs):
        held = 200 * MB
        for kind, size in program:
            held = held_after(kind, size, held)
        assert one.cache.file(f"/data/{n}").size_bytes == held


@given(model=models, programs=programs)
def test_times_are_those_of_our_engine(machine: pc.Machine, model: str, programs: list[list[Step]]) -> None:
    files: dict[Any, Any] = {f"/data/{n}": 200e6 for n in range(len(programs))}
    processes: dict[str, Any] = {
        f"p{n}": pc.Process(operations(f"/data/{n}", program), start_s=n * APART_S)
        for n, program in enumerate(programs)
    }
    ours = pc.simulate(pc.Scenario(machine, processes=processes, files=files), model=model).operations
    inside = build(machine, model, programs)
    inside.env.run()
    for n, outcomes in enumerate(inside.outcomes):
        rows = zip(ours["process"], ours["operation"], ours["end_s"], strict=True)
        ends = [end_s for process, kind, end_s in rows if process == f"p{n}" and kind != "sleep"]
        assert [outcome.end_s for outcome in outcomes] == pytest.approx(ends, rel=0.01, abs=1e-3)


@given(
    model=models,
    programs=programs,
    interrupts=st.lists(st.tuples(st.floats(4 * APART_S, 5), st.integers(0, 3)), min_size=1, max_size=8),
    disk=st.sampled_from([None, queue]),
)
def test_interrupts_leave_nothing_half(
    machine: pc.Machine,
    model: str,
    programs: list[list[Step]],
    interrupts: list[tuple[float, int]],
    disk: Any,
) -> None:
    inside = build(machine, model, programs, disk)

    def interrupt(after_s: float, which: int) -> Generator[simpy.Event, Any, None]:
        yield inside.env.timeout(after_s)
        process = inside.processes[which % len(inside.processes)]
        if process.is_alive:
            process.interrupt()

    for after_s, which in interrupts:
        inside.env.process(interrupt(after_s, which))
    inside.env.run()
    assert not any(process.is_alive for process in inside.processes)

    def last() -> Generator[simpy.Event, Any, None]:
        yield from inside.cache.sync()
        memory = inside.cache.memory()
        assert (memory.anonymous_bytes, memory.dirty_bytes) == (0, 0)
        for n in range(len(programs)):
            size = inside.cache.file(f"/data/{n}").size_bytes
            outcome = yield from inside.cache.read(f"/data/{n}")
            assert outcome.from_cache_bytes + outcome.from_device_bytes == size

    inside.env.run(until=inside.env.process(last()))
