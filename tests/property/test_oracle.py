"""The fast core equals the oracle, to the nanosecond."""

import pytest
from hypothesis import given

import oracle
from tests.property.running import oracle_blocks, oracle_times, our_blocks, our_times, simulate
from tests.property.strategies import options, scenarios


@pytest.mark.parametrize("model", ["no-cache", "endless-cache"])
@given(scenario=scenarios())
def test_rivals_take_the_same_time(model, scenario):
    theirs = oracle.run(scenario, model)
    ours = simulate(scenario, model, {})
    assert our_times(ours) == oracle_times(theirs)


@given(scenario=scenarios(), options=options)
def test_wrench_takes_the_same_time_and_leaves_the_same_blocks(scenario, options):
    theirs = oracle.run(scenario, "wrench", **options)
    ours = simulate(scenario, "wrench", options)
    assert our_times(ours) == oracle_times(theirs)
    assert our_blocks(ours) == oracle_blocks(theirs.policy)
