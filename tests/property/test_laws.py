"""What holds for every scenario, whatever the model: the fast core alone.

The published model breaks two laws that the rivals keep. Its dirty bytes can exceed the cached ones, because
what others evict of a block while it is being flushed stays counted; so only files are looked at there. And
its cached bytes can exceed the memory, because a file is not evicted while it is read, however large it is.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import pagecast
from oracle.machine import Device, Host, Link, Mount
from oracle.scenario import File, Op, Process, Scenario
from oracle.to_toml import to_toml
from pagecast.result import Result
from tests.property.running import nanoseconds, our_times, simulate, simulate_text
from tests.property.strategies import MB, disks, memories, options, scenarios, sizes

NEVER_S = 10**6
PARTS = 13

models = st.sampled_from(["no-cache", "endless-cache", "wrench", "kernel"])
all_scenarios = scenarios(fills_memory=False)
"""Those that no model refuses."""
lonely = scenarios(most_hosts=1, most_processes=1, fills_memory=False)


def run(scenario: Scenario, model: str, wrench_options: dict[str, Any]) -> Result:
    """Simulate with options that only `wrench` knows."""
    return simulate(scenario, model, **(wrench_options if model == "wrench" else {}))


def one_process(program: list[Op], disk: Device, memory: Device, memory_bytes: int = 10**12) -> Scenario:
    """Give a machine with one disk to one process; its file is /data/f."""
    host = Host(memory_bytes, memory, {"ssd": disk})
    files = {"/data/f": File(1000 * MB)}
    return Scenario(
        {"machine": host}, {"/data": Mount("machine", "ssd")}, files, (Process("p", tuple(program)),)
    )


def flow_ns(size: int, rate: float) -> float:
    """How long a lone transfer takes."""
    return size / rate * 1e9


@given(model=models, scenario=all_scenarios, options=options)
def test_bytes_come_from_the_cache_or_a_device(
    model: str, scenario: Scenario, options: dict[str, Any]
) -> None:
    table = run(scenario, model, options).operations
    moved = np.isin(table["operation"], ["read", "write"])
    served = table["from_cache_bytes"] + table["from_device_bytes"]
    assert (table["bytes"][moved] == served[moved]).all()


@given(model=models, scenario=all_scenarios, options=options)
def test_parts_add_up_to_the_duration(model: str, scenario: Scenario, options: dict[str, Any]) -> None:
    result = run(scenario, model, options)
    parts = [np.rint(result.parts[name] * 1e9) for name in result.parts if name.endswith("_s")]
    assert len(parts) == PARTS
    assert (sum(parts) == np.rint(result.operations["duration_s"] * 1e9)).all()


@given(model=models, scenario=all_scenarios, options=options)
def test_time_never_runs_back(model: str, scenario: Scenario, options: dict[str, Any]) -> None:
    result = run(scenario, model, options)
    ends = nanoseconds(result.operations["end_s"])
    assert ends == sorted(ends)
    assert (np.diff(result.timeline["time_s"]) >= 0).all()
    assert (np.diff(result.events["time_s"]) >= 0).all()
    times = our_times(result)
    for process in {name for name, _ in times}:
        rows = [times[key] for key in sorted(times) if key[0] == process]
        assert all(start <= end for _, start, end in rows)
        assert all(end == start for (_, _, end), (_, start, _) in pairwise(rows)), "goes on at once"


@given(model=st.sampled_from(["no-cache", "endless-cache"]), scenario=scenarios())
def test_rivals_hold_no_more_than_they_should(model: str, scenario: Scenario) -> None:
    result = simulate(scenario, model)
    assert not result.timeline["dirty_bytes"].any()
    assert (result.timeline["free_bytes"] >= 0).all()
    # A client of NFS is not told that another host has cut a file.
    knows = np.array(result.files["host"]) != "client"
    assert (result.files["cached_bytes"] <= result.files["size_bytes"])[knows].all()


@given(scenario=scenarios(), options=options)
def test_dirty_bytes_of_a_file_are_cached(scenario: Scenario, options: dict[str, Any]) -> None:
    files = simulate(scenario, "wrench", **options).files
    assert (files["dirty_bytes"] <= files["cached_bytes"]).all()


@given(scenario=lonely, options=options)
def test_dirty_bytes_are_cached_if_nobody_evicts_what_is_flushed(
    scenario: Scenario, options: dict[str, Any]
) -> None:
    timeline = simulate(scenario, "wrench", **{**options, "dirty_expiry_s": NEVER_S}).timeline
    assert (timeline["dirty_bytes"] <= timeline["cached_bytes"]).all()


@given(disk=disks(), memory=memories(), size=st.integers(1, 1000 * MB))
def test_without_a_cache_the_time_is_that_of_the_device(disk: Device, memory: Device, size: int) -> None:
    program = [Op("read", "/data/f", size), Op("write", "/data/g", size)]
    duration_ns = nanoseconds(
        simulate(one_process(program, disk, memory), "no-cache").operations["duration_s"]
    )
    rates = [(disk.read_at or ((1, disk.read_bytes_per_s),))[0][1]]
    rates += [(disk.write_at or ((1, disk.write_bytes_per_s),))[0][1]]
    assert duration_ns == pytest.approx([flow_ns(size, rate) for rate in rates], rel=1e-12, abs=1.001)


@given(model=st.sampled_from(["endless-cache", "wrench"]), disk=disks(), memory=memories(), size=sizes)
def test_with_enough_cache_every_read_of_known_bytes_hits(
    model: str, disk: Device, memory: Device, size: int
) -> None:
    program = [
        Op("write", "/data/g", size),
        Op("read", "/data/f"),
        Op("read", "/data/f"),
        Op("read", "/data/g"),
    ]
    table = simulate(one_process(program, disk, memory), model).operations
    assert table["from_device_bytes"].tolist() == [0, 1000 * MB, 0, 0]
    rate = min(memory.read_bytes_per_s, memory.per_thread_bytes_per_s or np.inf)
    expected = [flow_ns(each, rate) for each in (1000 * MB, size)]
    a_nanosecond_per_chunk = 21
    assert nanoseconds(table["duration_s"][2:]) == pytest.approx(expected, abs=a_nanosecond_per_chunk)


@given(model=models, scenario=lonely, options=options, factor=st.floats(1, 4))
def test_a_faster_disk_is_never_slower_for_one_process(
    model: str, scenario: Scenario, options: dict[str, Any], factor: float
) -> None:
    """Without periodic flushes: these may meet the process at a worse time when it is faster.

    Under `kernel` there are always such, so that only what it reads is looked at:
    `test_a_faster_disk_may_make_a_write_slower`.
    """
    options = {**options, "dirty_expiry_s": NEVER_S}
    if model == "kernel":
        scenario = without_writes(scenario)
    slow, fast = (run(with_faster_disks(scenario, by), model, options) for by in (1, factor))
    rounding_s = 2e-9 * (1 + len(slow.events["time_s"])) + 1e-12 * slow.end_s
    duration_s = [nanoseconds(result.operations["duration_s"]) for result in (slow, fast)]
    assert all(b <= a + rounding_s * 1e9 for a, b in zip(*duration_s, strict=True))


def without_writes(scenario: Scenario) -> Scenario:
    """Think instead of making pages dirty, and of reading anything that was not there before."""
    think = Op("compute", seconds=1.0)

    def stays(op: Op) -> bool:
        file = scenario.files.get(op.path or "")
        if op.kind == "read":
            return file is not None and (op.offset or 0) + (op.size or 0) <= file.size
        return op.kind in ("compute", "sleep", "alloc", "free", "drop_caches")

    processes = (
        replace(process, ops=tuple(op if stays(op) else think for op in process.ops))
        for process in scenario.processes
    )
    return replace(scenario, processes=tuple(processes))


def test_a_faster_disk_may_make_a_write_slower() -> None:
    """It has cleaned more of what is written again, and only writing over dirty pages is free of throttling.

    The oracle says the same. With timers, which meet another part of the program, and eviction, which sets
    aside what the disk has not written yet, it is why this is no law for programs that write.
    """
    program = [Op("write", "/data/g", 210 * MB), Op("write", "/data/g", 200 * MB)]
    for model in ("fast", "oracle"):
        seconds = [second_write_s(program, rate * MB, model) for rate in (50, 200, 400)]
        assert seconds == pytest.approx([0.45, 0.81, 0.4], rel=0.03)


def second_write_s(program: list[Op], rate: float, model: str) -> float:
    scenario = one_process(program, Device(rate, rate), Device(500 * MB, 500 * MB), 1500 * MB)
    if model == "oracle":
        clocks = {"hz": 1000, "has_timer_wheel": False, "flusher_hz": 250}
        done = oracle.run(scenario, "kernel", unit_bytes=64 * 1024, **clocks)
        return (done.operations[1].end_ns - done.operations[1].start_ns) / 1e9
    result = pagecast.simulate(pagecast.Scenario.from_toml(to_toml(scenario)), model="kernel")
    return float(result.operations["duration_s"][1])


def with_faster_disks(scenario: Scenario, factor: float) -> Scenario:
    """Multiply the rates of all disks."""
    [(name, host)] = scenario.hosts.items()
    disks = {
        disk: replace(
            device,
            read_bytes_per_s=device.read_bytes_per_s * factor,
            write_bytes_per_s=device.write_bytes_per_s * factor,
            read_at=tuple((n, rate * factor) for n, rate in device.read_at),
            write_at=tuple((n, rate * factor) for n, rate in device.write_at),
        )
        for disk, device in host.disks.items()
    }
    return replace(scenario, hosts={name: replace(host, disks=disks)})


@given(disk=disks(), memory=memories(), size=sizes)
def test_a_drop_after_an_fsync_makes_the_next_read_cold(disk: Device, memory: Device, size: int) -> None:
    program = [
        Op("write", "/data/g", size), Op("fsync", "/data/g"), Op("drop_caches"), Op("read", "/data/g"),
    ]  # fmt: skip
    table = simulate(one_process(program, disk, memory), "wrench").operations
    assert (table["from_cache_bytes"][3], table["from_device_bytes"][3]) == (0, size)


@given(disk=disks(), memory=memories(), size=sizes)
def test_a_drop_without_an_fsync_leaves_the_dirty_pages(disk: Device, memory: Device, size: int) -> None:
    program = [Op("write", "/data/g", size), Op("drop_caches"), Op("read", "/data/g")]
    table = simulate(one_process(program, disk, memory), "wrench", dirty_expiry_s=NEVER_S).operations
    assert (table["from_cache_bytes"][2], table["from_device_bytes"][2]) == (size, 0)


@given(
    model=models,
    scenario=all_scenarios,
    seeds=st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
)
def test_seeds_change_nothing_where_devices_are_even(
    model: str, scenario: Scenario, seeds: tuple[int, int]
) -> None:
    one, other = (simulate_text(to_toml(scenario), model, seed).to_dict() for seed in seeds)
    assert one == other


@given(model=models, disk=disks(), memory=memories(), seed=st.integers(0, 2**32))
def test_a_seed_repeats_an_uneven_run_and_another_one_does_not(
    model: str, disk: Device, memory: Device, seed: int
) -> None:
    pair = [Process(name, (Op("read", f"/data/{name}"),)) for name in ("p", "q")]
    files = {f"/data/{process.name}": File(1000 * MB) for process in pair}
    scenario = replace(one_process([], disk, memory), files=files, processes=tuple(pair))
    text = to_toml(scenario).replace("[machine.disk.ssd]\n", "[machine.disk.ssd]\nunevenness = 0.3\n")
    first, again, other = (our_times(simulate_text(text, model, each)) for each in (seed, seed, seed + 1))
    assert first == again != other


@given(scenario=all_scenarios)
def test_kernel_never_holds_more_than_there_is(scenario: Scenario) -> None:
    timeline = simulate(scenario, "kernel").timeline
    assert (timeline["dirty_bytes"] <= timeline["cached_bytes"]).all()
    held = timeline["free_bytes"] + timeline["anonymous_bytes"] + timeline["cached_bytes"]
    sizes = np.array([scenario.hosts[host].memory_bytes for host in timeline["host"]])
    assert (held == sizes).all(), "free, anonymous and cached bytes are the memory"


@given(scenario=all_scenarios)
def test_kernel_keeps_dirty_and_active_bytes_of_a_file_in_the_cache(scenario: Scenario) -> None:
    files = simulate(scenario, "kernel").files
    assert (files["dirty_bytes"] <= files["cached_bytes"]).all()
    assert (files["active_bytes"] <= files["cached_bytes"]).all()


@given(scenario=all_scenarios, data=st.data())
def test_kernel_has_no_more_dirty_bytes_than_became_dirty(scenario: Scenario, data: st.DataObject) -> None:
    """What is written and what is cancelled cannot be seen here: debug builds check it after every event."""
    timeline = simulate(data.draw(in_calls(scenario)), "kernel").timeline
    for host in scenario.hosts:
        rows = np.array([name == host for name in timeline["host"]], dtype=bool)
        dirtied = timeline["dirtied_bytes"][rows]
        assert (np.diff(dirtied) >= 0).all()
        assert (timeline["dirty_bytes"][rows] <= dirtied).all()


@given(scenario=all_scenarios, data=st.data())
def test_under_kernel_files_add_up_to_what_is_cached(scenario: Scenario, data: st.DataObject) -> None:
    """At the end, also where read-ahead is under way then and where only clients have named a file."""
    result = simulate(data.draw(in_calls(scenario)), "kernel")
    for host in scenario.hosts:
        cached = [
            table["cached_bytes"][np.array([name == host for name in table["host"]], dtype=bool)]
            for table in (result.files, result.timeline)
        ]
        assert cached[0].sum() == cached[1][-1]


@st.composite
def in_calls(draw: st.DrawFn, scenario: Scenario) -> Scenario:
    """Draw the bytes of a call for each read and write."""
    calls = st.sampled_from([None, None, 4096, 50_001, 65_536, 1_000_000])

    def split(op: Op) -> Op:
        return replace(op, call_bytes=draw(calls)) if op.kind in ("read", "write") else op

    processes = (replace(each, ops=tuple(map(split, each.ops))) for each in scenario.processes)
    return replace(scenario, processes=tuple(processes))


@given(
    model=models,
    disk=disks(),
    readers=st.lists(
        st.tuples(st.integers(1, 800 * MB), st.sampled_from([0.0, 0.0, 0.0, 1.5])), min_size=2, max_size=5
    ),
    burst_ms=st.integers(1, 4000),
    data=st.data(),
)
def test_the_order_of_independent_processes_changes_nothing_before_a_limiter(
    model: str, disk: Device, readers: list[tuple[int, float]], burst_ms: int, data: st.DataObject
) -> None:
    memory = Device(5000 * MB, 5000 * MB)
    files = {f"/data/p{n}": File(size) for n, (size, _) in enumerate(readers)}
    all_of_them = tuple(
        Process(f"p{n}", (Op("read", f"/data/p{n}"),), start_s=start_s)
        for n, (_, start_s) in enumerate(readers)
    )

    def times(processes: tuple[Process, ...]) -> dict[tuple[str, int], tuple[str, int, int]]:
        scenario = replace(one_process([], disk, memory), files=files, processes=processes)
        limited = f'[machine.disk.ssd]\nburst = "{burst_ms} ms"\n'
        return our_times(simulate_text(to_toml(scenario).replace("[machine.disk.ssd]\n", limited), model))

    shuffled = times(tuple(data.draw(st.permutations(all_of_them))))
    for key, (_, *one) in times(all_of_them).items():
        assert one == pytest.approx(shuffled[key][1:], abs=2)


@given(model=st.sampled_from(["kernel", "wrench"]), size=st.integers(1, 1000 * MB), is_fresh=st.booleans())
def test_a_read_from_another_host_takes_memory_as_a_local_one_does(
    model: str, size: int, is_fresh: bool
) -> None:
    rates = Device(500 * MB, 500 * MB)
    hosts = {name: Host(4000 * MB, rates, {"ssd": rates}) for name in ("client", "server")}
    mounts = {"/remote": Mount("server", "ssd", "lan"), "/local": Mount("client", "ssd")}
    for path in mounts:
        process = Process(
            "p", (Op("read", f"{path}/f", is_fresh=is_fresh), Op("sleep", seconds=1.0)), "client"
        )
        files = {f"{path}/f": File(size, host="client")}
        timeline = simulate(
            Scenario(hosts, mounts, files, (process,), {"lan": Link(500 * MB, 0)}), model
        ).timeline
        for name, taken in (("client", size if is_fresh else 0), ("server", 0)):
            rows = np.array([host == name for host in timeline["host"]], dtype=bool)
            assert timeline["anonymous_bytes"][rows].max() == taken
