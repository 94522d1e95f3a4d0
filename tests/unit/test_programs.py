"""Python programs inside the core: how deep they may go, and who frees them."""

import gc
import threading
import weakref

import pytest

import pagecast as pc


@pytest.fixture
def machine():
    return pc.load_machine("wrench-cluster")


def simulates_itself(machine, depth):
    """Give a scenario whose program simulates it, so many levels deep, and a list that grows by level."""
    levels = []

    def app():
        levels.append(len(levels))
        if len(levels) < depth:
            pc.simulate(scenario, model="no-cache")
        yield pc.compute(1)

    scenario = pc.Scenario(machine, processes={"app": app})
    return scenario, levels


def test_a_program_that_simulates_its_own_scenario(machine):
    """A generator simulated its own scenario: at a depth of some hundred the interpreter crashed."""
    scenario, levels = simulates_itself(machine, 1000)
    with pytest.raises(RecursionError, match="50 deep; does a program simulate its own scenario"):
        pc.simulate(scenario, model="no-cache")
    assert len(levels) == 50
    levels.clear()
    with pytest.raises(RecursionError):
        pc.simulate(scenario, model="no-cache")
    assert len(levels) == 50, "the first time has left nothing behind"


def test_some_levels_are_fine(machine):
    scenario, levels = simulates_itself(machine, 40)
    assert pc.simulate(scenario, model="no-cache").end_s == 1
    assert len(levels) == 40


def test_the_same_in_a_thread_with_a_small_stack(machine):
    before = threading.stack_size(2 * 2**20)
    try:
        failures = []
        scenario, _ = simulates_itself(machine, 1000)

        def run():
            try:
                pc.simulate(scenario, model="kernel")
            except RecursionError as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(failures) == 1


def test_a_function_that_gives_operations_counts_as_well(machine):
    def app():
        pc.simulate(scenario, model="no-cache")
        return [pc.compute(1)]

    scenario = pc.Scenario(machine, processes={"app": app})
    with pytest.raises(RecursionError):
        pc.simulate(scenario, model="no-cache")


class Canary:
    """Something whose end can be seen."""


def knows_its_scenario(machine, make=lambda scenario: scenario):
    """Give a scenario whose program refers to it, and what is gone when both are."""
    canary = Canary()

    def app():
        assert canary is not None
        assert known[0] is not None
        yield pc.compute(1)

    known = []
    known.append(make(pc.Scenario(machine, processes={"app": app})))
    return known[0], weakref.ref(canary)


@pytest.mark.parametrize(
    "make",
    [
        lambda scenario: scenario,
        lambda scenario: scenario.with_memory(10**10),
        lambda scenario: scenario.in_cgroup(10**9),
    ],
)
def test_a_program_that_refers_to_its_scenario_is_collected(make, machine):
    """Thousands of scenarios of a sweep, each with a generator that used it, were never freed."""
    scenario, canary = knows_its_scenario(machine, make)
    pc.simulate(scenario, model="kernel")
    del scenario
    gc.collect()
    assert canary() is None


def test_a_program_that_failed_is_collected(machine):
    canary = Canary()
    gone = weakref.ref(canary)

    known = [canary]

    def app(known=known):
        yield pc.compute(1)
        raise ValueError("an invented mistake", known)

    known.append(pc.Scenario(machine, processes={"app": app}))
    with pytest.raises(pc.errors.ProgramError):
        pc.simulate(known[1], model="no-cache")
    del known, app, canary
    gc.collect()
    assert gone() is None


def test_scenarios_that_share_a_program_outlive_each_other(machine):
    first, canary = knows_its_scenario(machine)
    second = first.with_memory(10**10)
    del first
    gc.collect()
    assert pc.simulate(second, model="no-cache").end_s == 1
    del second
    gc.collect()
    assert canary() is None


def test_a_scenario_is_not_collected_while_it_is_simulated(machine):
    def app():
        gc.collect()
        yield pc.compute(1)
        gc.collect()
        yield pc.compute(1)

    assert pc.simulate(pc.Scenario(machine, processes={"app": app}), model="no-cache").end_s == 2
