"""CAWL by itself, as a user of the package has it. What it computes the core's own tests say."""

import inspect

import numpy as np
import pytest

import pagecast as pc
from pagecast.cawl import DirectCost, LibraryCost, SyncCost, SyscallCost

CACHE = {"bw_ramdisk": 1e9, "bw_reduced": 5e8, "bw_dev": 1e8, "limit_bg": 4e8, "limit_hard": 8e8}
MB = 10**6


def appended(count, size=100 * MB):
    return np.arange(count) * size, np.full(count, size)


def test_it_is_a_module_of_the_package():
    assert pc.cawl.SyscallCost is SyscallCost
    assert "cawl" in pc.MODELS


def test_equations():
    assert DirectCost(bw_dev=1e8, sc_sw=1e-3, c_sk=5e-3).write(0, 10 * MB) == pytest.approx(0.101)
    cost = SyncCost(bw_ramdisk=1e9, bw_dev=1e8, bw_rdev=2e8, sc_sw=1e-3)
    assert cost.write(0, 512) == pytest.approx(1e-3 + 512e-9 + 5.12e-6)
    assert cost.write(512, 100) == pytest.approx(1e-3 + 100e-9 + 2.56e-6 + 5.12e-6)


def test_a_write_elsewhere_seeks():
    cost = DirectCost(bw_dev=1e8, sc_sw=0, c_sk=5e-3)
    assert [cost.write(offset, 512) > 5e-3 for offset in (4096, 4608, 0, 512)] == [False, False, True, False]


def test_all_at_once_is_one_after_the_other():
    one, all_ = SyscallCost(**CACHE), SyscallCost(**CACHE)
    singly = [(one.write(offset, 100 * MB, pause_s=0.1), one.dirty_bytes) for offset in appended(12)[0]]
    seconds, dirty = all_.write_all(*appended(12), pause_s=0.1)
    assert list(zip(seconds.tolist(), dirty.tolist(), strict=True)) == singly
    assert (seconds.dtype, dirty.dtype) == (np.float64, np.uint64)
    assert all_.time_s == pytest.approx(seconds.sum() + 1.2)
    assert all_.cleaned_bytes + all_.dirty_bytes == 1200 * MB


def test_arrays_of_synchronous_writes():
    direct = DirectCost(bw_dev=1e8, sc_sw=1e-3)
    assert direct.write_all([0, 100, 200], [100, 100, 100]) == pytest.approx([1e-3 + 1e-6] * 3)
    sync = SyncCost(bw_ramdisk=1e9, bw_dev=1e8, bw_rdev=2e8, sc_sw=1e-3, partial="page")
    assert sync.write_all([0], [1024]) == pytest.approx([1e-3 + 1.024e-6 + 7.68e-6])


def test_when_a_chunk_is_written():
    cost = SyscallCost(**CACHE)
    cost.write(0, 100 * MB, at_s=2.0)
    assert cost.time_s == pytest.approx(2.1)
    cost.write(100 * MB, 100 * MB, at_s=1.0)
    assert cost.time_s == pytest.approx(2.2), "at once, as the one before ends later"
    cost.write_all([0, 0], [0, 0], at_s=[3.0, 4.0])
    assert cost.time_s == 4.0
    cost.write_all([0, 0], [0, 0], pause_s=[1.0, 2.0])
    cost.pause(1.0)
    assert cost.time_s == 8.0


def test_levels():
    cost = SyscallCost(**CACHE)
    cost.write(0, 100 * MB)
    cost.write(50 * MB, 100 * MB)
    assert (cost.dirty_bytes, cost.active_bytes, cost.setpoint_bytes) == (150 * MB, 50 * MB, 600 * MB)
    cost.write(0, 100 * MB, file=1)
    assert cost.dirty_bytes == 250 * MB


def test_a_stream():
    stream = LibraryCost(SyscallCost(**CACHE), bw_mem=1e10)
    seconds, dirty = stream.write_all([512] * 9, pause_s=1.0)
    assert dirty.tolist() == [0] * 7 + [4096] * 2
    assert seconds[7] == pytest.approx(51.2e-9 + 4.096e-6)
    assert (stream.pending_bytes, stream.dirty_bytes) == (512, 4096)
    assert stream.flush() == pytest.approx(512e-9)
    assert (stream.pending_bytes, stream.dirty_bytes) == (0, 4608)
    waiting = LibraryCost(SyscallCost(**CACHE), bw_mem=1e10, when_full="next")
    assert waiting.write_all([512] * 9)[1].tolist() == [0] * 8 + [4096]
    assert waiting.write(512, at_s=1.0) == pytest.approx(51.2e-9)


def test_a_stream_has_a_page_cache_of_its_own():
    calls = SyscallCost(**CACHE)
    LibraryCost(calls, bw_mem=1e10).write(MB)
    assert calls.dirty_bytes == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: SyscallCost(**CACHE | {"limit_bg": 8e8}),
            "limit_bg=800000000: must be less than limit_hard=800000000",
        ),
        (
            lambda: SyscallCost(**CACHE | {"bw_dev": 0}),
            "bw_dev=0: must be more than zero bytes per second, and finite",
        ),
        (lambda: SyscallCost(**CACHE | {"limit_bg": -1}), "limit_bg=-1: a size cannot be negative"),
        (
            lambda: SyscallCost(**CACHE, throttling="min"),
            'throttling="min" is not known; choose one of minimum, harmonic',
        ),
        (lambda: DirectCost(bw_dev=1e8, sc_sw=-1), "sc_sw=-1: must be zero seconds or more, and finite"),
        (
            lambda: SyncCost(bw_ramdisk=1, bw_dev=1, bw_rdev=1, sc_sw=0, bs=0),
            "bs=0: must be at least one byte",
        ),
        (lambda: LibraryCost(SyscallCost(**CACHE), bw_mem=1e9, bf=0), "bf=0: must be at least one byte"),
        (lambda: SyscallCost(**CACHE).write(0, -5), "size_bytes=-5: a size cannot be negative"),
        (
            lambda: SyscallCost(**CACHE).write(0, 5, pause_s=-1),
            "pause_s=-1: must be zero seconds or more, and finite",
        ),
        (
            lambda: SyscallCost(**CACHE).write(0, 5, pause_s=1, at_s=1),
            "pause_s and at_s say both when a chunk is",
        ),
        (
            lambda: SyscallCost(**CACHE).write_all([0, 1], [5]),
            "offset_bytes has 2 values, and size_bytes has 1; give as",
        ),
        (
            lambda: SyscallCost(**CACHE).write_all([0], [np.nan]),
            r"size_bytes\[0\]=NaN: a size must be a finite number",
        ),
        (
            lambda: SyscallCost(**CACHE).write_all([0], [1], pause_s=[-1]),
            r"pause_s\[0\]=-1: must be zero seconds",
        ),
        (
            lambda: SyscallCost(**CACHE).write_all([0], [1], at_s=[1, 2]),
            "at_s has 2 values, and size_bytes has 1",
        ),
    ],
)
def test_what_cannot_be_is_one_clear_error(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
    with pytest.raises(pc.ScenarioError):
        wrong()


@pytest.mark.parametrize("kind", [DirectCost, SyncCost, SyscallCost, LibraryCost])
def test_every_class_says_what_its_parameters_are(kind):
    documented = inspect.getdoc(kind)
    for name in inspect.signature(kind).parameters:
        assert name in documented
    assert "Parameters\n----------" in documented


def test_a_million_chunks():
    cost = SyscallCost(**CACHE)
    seconds, dirty = cost.write_all(*appended(10**6, 4096))
    assert seconds.sum() == pytest.approx(cost.time_s)
    assert dirty.max() <= 8e8


def test_a_million_chunks_that_overlap():
    cost, random = SyscallCost(**CACHE), np.random.default_rng(1)
    offsets = random.integers(0, 2**18, 10**6) * 4096
    seconds, dirty = cost.write_all(offsets, random.integers(1, 257, 10**6) * 4096)
    assert seconds.sum() == pytest.approx(cost.time_s)
    assert dirty.max() <= 8e8
    assert 0 < cost.active_bytes <= cost.dirty_bytes
    assert cost.cleaned_bytes <= CACHE["bw_dev"] * cost.time_s


def test_what_it_does_not_know_is_an_error_of_the_simulation():
    machine = pc.load_machine("wrench-cluster")
    (mount,) = {"/data"}
    scenario = pc.Scenario(machine, processes={"p": [pc.read(f"{mount}/f")]}, files={f"{mount}/f": 1e9})
    with pytest.raises(
        pc.SimulationError, match="process `p` does a read at the start, and model `cawl` knows writes only"
    ):
        pc.simulate(scenario, model="cawl")
    assert "cawl" not in scenario.models
