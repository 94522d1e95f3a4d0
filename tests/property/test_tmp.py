import pytest
from hypothesis import given, settings
import oracle
from tests.property.running import *
from tests.property.strategies import options, scenarios
@given(scenario=scenarios(), options=options)
def test_w(scenario, options):
    theirs = oracle.run(scenario, "wrench", **options)
    ours = simulate(scenario, "wrench", options)
    assert our_times(ours) == oracle_times(theirs)
