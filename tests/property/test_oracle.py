"""The fast core equals the oracle: each operation to the nanosecond, and what is in memory at the end."""

from typing import Any

import pytest
from hypothesis import given

import oracle
from oracle.scenario import Scenario
from tests.property.running import oracle_blocks, oracle_times, our_blocks, our_times, simulate
from tests.property.strategies import options, scenarios


@pytest.mark.parametrize("model", ["no-cache", "endless-cache"])
@given(scenario=scenarios())
def test_rivals_take_the_same_time(model: str, scenario: Scenario) -> None:
    theirs = oracle.run(scenario, model)
    ours = simulate(scenario, model)
    assert our_times(ours) == oracle_times(theirs)


@given(scenario=scenarios(), options=options)
def test_wrench_takes_the_same_time_and_leaves_the_same_blocks(
    scenario: Scenario, options: dict[str, Any]
) -> None:
    theirs = oracle.run(scenario, "wrench", **options)
    ours = simulate(scenario, "wrench", **options)
    assert our_times(ours) == oracle_times(theirs)
    assert our_blocks(ours) == oracle_blocks(theirs.policy)
