"""What a run has of this machine, and that its forecast has the same."""

from types import SimpleNamespace

import pytest

import pagecast as pc
from pagecast.calibration.facts import Group
from pagecast.comparison.machines import memory_of
from pagecast.validation.room import ALL, Room
from tests.unit.validation.stand_ins import MIB


@pytest.mark.parametrize(("version", "key"), [(2, "max"), (1, "limit_in_bytes")])
def test_a_forecast_is_in_the_cgroup_of_the_runs(machine, version, key):
    steps = [pc.write("/data/f", size_bytes=4e9), pc.read("/data/f")]
    scenario = pc.Scenario(machine, processes={"a": steps, "b": steps[:0]})
    room = Room(memory_bytes=2e9, cgroup_version=version, cgroup_bytes=1_900_000_000)
    inside = room.of(scenario, "kernel")
    assert key in inside.machine.to_toml()
    (group,) = pc.simulate(inside).cgroups["memory_peak_bytes"]
    assert 1_800_000_000 < group <= 1_900_000_000
    assert room.of(scenario, "endless-cache") is scenario, "it knows none"
    assert ALL.of(scenario, "kernel") is scenario
    assert room.of(inside, "kernel") is inside, "that of the scenario stays"
    assert room.caution.startswith(f"this is a memory cgroup of 2 GB (version {version}), of which the runs ")
    assert ALL.caution is None


def test_the_least_cgroup_counts_and_what_is_held_in_it_is_taken(monkeypatch):
    groups = (Group("/a/b", 1, 900 * MIB), Group("/a", 2, 600 * MIB))
    facts = SimpleNamespace(groups=groups, memory=SimpleNamespace(usable_bytes=1200 * MIB))
    monkeypatch.setattr("pagecast.calibration.facts.read_facts", lambda directory: facts)
    monkeypatch.setattr("pagecast.validation.room.cache_available", lambda: 550 * MIB)
    assert Room.here("there") == Room(600 * MIB, 0.5, 1200 * MIB, 2, 550 * MIB)
    facts.groups = ()
    assert Room.here("there") == Room(usable_bytes=1200 * MIB)


def test_a_place_that_tells_nothing_is_in_no_cgroup():
    assert Room.here("/no such place") == Room()


def test_a_forecast_has_the_memory_that_is_left_now_if_it_is_of_this_machine(machine):
    size = memory_of(machine)
    scenario = pc.Scenario(machine, processes={"a": []})
    left = Room(usable_bytes=round(0.95 * size)).of(scenario, "kernel")
    assert memory_of(left.machine) == round(0.95 * size)
    assert memory_of(scenario.machine) == size
    assert Room(usable_bytes=size // 2).of(scenario, "kernel") is scenario, "that is another machine"
