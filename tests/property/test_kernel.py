"""`kernel` against the oracle: `agreement` says what agrees, and what each leaves out on purpose.

The same cases are drawn each time. `fuzz/run.py --class agreement` draws others, and counts those that part.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.policy import ImpossibleError
from oracle.scenario import Scenario
from pagecast.errors import OutOfMemoryError
from tests.property.agreement import by_process, compare, most_apart_s
from tests.property.kernel_cases import DRAWN, Case
from tests.property.kernel_strategies import hoards, scenarios
from tests.property.running import oracle_times, our_times


@pytest.mark.agreement
@given(case=DRAWN["any"])
def test_kernel_agrees_within_a_few_per_cent(case: Case) -> None:
    compare(case)


@pytest.mark.agreement
@settings(max_examples=20)
@given(case=DRAWN["hard limit of before"])
def test_a_hard_limit_from_before_that_nobody_has_moved_yet(case: Case) -> None:
    compare(case)


@pytest.mark.agreement
@settings(max_examples=20)
@given(case=DRAWN["reported"])
def test_memory_that_the_host_of_a_machine_has_not_taken_back(case: Case) -> None:
    compare(case)


@pytest.mark.agreement
@settings(max_examples=60)
@given(case=DRAWN["generations"])
def test_generations_agree_within_a_few_per_cent(case: Case) -> None:
    compare(case)


@pytest.mark.agreement
@settings(max_examples=20)
@given(case=DRAWN["generations read again"])
def test_generations_evict_the_same(case: Case) -> None:
    compare(case)


@pytest.mark.agreement
@settings(max_examples=30)
@given(case=DRAWN["comes back"])
def test_what_was_evicted_comes_back_at_the_same_cost(case: Case) -> None:
    compare(case)


@pytest.mark.agreement
@settings(max_examples=20)
@given(case=DRAWN["barely fits"])
def test_a_file_that_barely_fits_is_between_one_that_does_and_one_that_does_not(case: Case) -> None:
    compare(case)


@settings(max_examples=20)
@given(scenario=scenarios("frees"), within_s=st.sampled_from([2.0, 5.0, 20.0]))
def test_blocks_count_while_they_are_young(scenario: Scenario, within_s: float) -> None:
    """As in the oracle, with a second more or less: what was written within one counts as one."""
    around = [Case(counting_blocks(scenario, within_s + more)).run_oracle() for more in (-1.0, 0.0, 1.0)]
    ours = Case(counting_blocks(scenario, within_s)).run_ours()
    for process, (start, end) in by_process(our_times(ours)).items():
        most = most_apart_s(process, scenario, around[1:2], ours)
        durations = [
            span[1] - span[0] for span in (by_process(oracle_times(each))[process] for each in around)
        ]
        assert min(durations) - most <= end - start <= max(durations) + most


def counting_blocks(scenario: Scenario, within_s: float) -> Scenario:
    """The same scenario where only blocks that were written back within so long take time."""
    mounts = {
        path: replace(mount, cost=replace(mount.cost, block_free_within_s=within_s))
        for path, mount in scenario.mounts.items()
    }
    return replace(scenario, mounts=mounts)


@settings(max_examples=20)
@given(scenario=hoards())
def test_memory_runs_out_at_the_same_byte(scenario: Scenario) -> None:
    case = Case(scenario)
    assert runs_out(case.run_oracle, ImpossibleError) == runs_out(case.run_ours, OutOfMemoryError)


def runs_out(simulate: Callable[[], object], error: type[Exception]) -> bool:
    try:
        simulate()
    except error:
        return True
    return False
