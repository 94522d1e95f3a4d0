"""Programs with several operations at once, patterns, and the time that they are told."""

import numpy as np
import pytest

import pagecast as pc

MACHINE = """
cores = 4
memory = { size = "8 GB", read = "10 GB/s", write = "10 GB/s" }
disk.ssd = { size = "1 TB", read = "100 MB/s", write = "100 MB/s", latency = "1 ms" }
mount."/data" = { disk = "ssd" }
"""


@pytest.fixture
def simulate(tmp_path):
    file = tmp_path / "machine.toml"
    file.write_text(MACHINE)
    machine = pc.load_machine(file)

    def run(program, model="kernel", seed=0):
        files = {"/data/f": 1e9}
        return pc.simulate(
            pc.Scenario(machine, processes={"p": program}, files=files), model=model, seed=seed
        )

    return run


def test_a_program_knows_the_time_of_its_process(simulate):
    times = []

    def program():
        times.append(pc.now())
        # A list has no `send`: nothing is sent to it.
        yield from [pc.sleep(1.0), pc.sleep(0.5)]
        while pc.now() < 3:
            times.append(pc.now())
            yield pc.sleep(1.0)
        times.append(pc.now())

    simulate(program)
    assert times == [0, 1.5, 2.5, 3.5]


def test_asynchronous_operations_are_under_way_at_once(simulate):
    def program():
        for at in range(4):
            yield pc.read("/data/f", offset_bytes=at * 1e6, size_bytes=1e6).asynchronous(depth=4)
        yield pc.drain()

    table = simulate(program, model="no-cache").operations
    assert table["start_s"].tolist() == [0, 0, 0, 0, 0]
    assert table["end_s"].tolist() == [0.04] * 5


def test_an_operation_waits_for_its_time(simulate):
    table = simulate([pc.sleep(0.5).not_before(2), pc.sleep(1).not_before(2)]).operations
    assert table["start_s"].tolist() == [2, 2.5]


def test_a_pattern_is_one_operation_with_many_calls(simulate):
    def random(depth):
        yield pc.open("/data/f", flags=["O_DIRECT"])
        pattern = pc.Pattern("uniform", depth=depth, by="libaio")
        yield pc.read("/data/f", size_bytes=4096 * 800, call_bytes=4096, pattern=pattern)

    one, eight = (simulate(lambda depth=depth: random(depth)) for depth in (1, 8))
    assert one.operations["operation"] == ["open", "read"]
    # A millisecond and 41 us of the disk each; eight at once hide all but the latter.
    assert one.end_s == pytest.approx(800 * 1.041e-3, rel=0.01)
    assert eight.end_s == pytest.approx(one.end_s / 8, rel=0.35)
    for result in (one, eight):
        parts = sum(result.parts[name][1] for name in result.parts if name.endswith("_s"))
        assert parts == pytest.approx(result.operations["duration_s"][1])


def test_a_pattern_ends_after_its_time_at_its_rate(simulate):
    pattern = pc.Pattern("zipf:1.2", writes=0.5, rate_iops=100, for_s=2)
    table = simulate([pc.read("/data/f", call_bytes=4096, pattern=pattern)]).operations
    assert (table["operation"], table["bytes"].tolist()) == (["readwrite"], [200 * 4096])
    assert table["end_s"][0] == 2


def test_random_orders_differ_by_seed_and_are_repeated(simulate):
    def program():
        for _ in range(2):
            yield pc.read("/data/f", size_bytes=4e7, call_bytes=1e5, pattern=pc.Pattern("uniform"))

    def misses(seed):
        return simulate(program, model="endless-cache", seed=seed).operations["from_device_bytes"].tolist()

    assert misses(1) == misses(1)
    assert len({tuple(misses(seed)) for seed in range(5)}) == 5


def test_all_calls_of_a_permutation_are_of_different_places(simulate):
    pattern = pc.Pattern("uniform", once=True)
    operation = pc.read("/data/f", size_bytes=1e9, call_bytes=1e6, pattern=pattern)
    table = simulate([operation, operation], model="endless-cache").operations
    assert np.array_equal(table["from_device_bytes"], [1e9, 0])
