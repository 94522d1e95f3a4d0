from collections import Counter
from hypothesis import given, settings
from tests.property.running import *
from tests.property.strategies import options, scenarios
C = Counter()
@settings(max_examples=300)
@given(scenario=scenarios(), options=options)
def test_stats(scenario, options):
    ours = simulate(scenario, "wrench", options)
    C["n"] += 1
    C["ops"] += len(ours.operations["index"])
    ev = Counter(ours.events["event"])
    for k, v in ev.items():
        C["ex "+k] += 1; C[k] += v
    C["two hosts"] += len(scenario.hosts) == 2
    C["end"] += ours.end_s
    p = ours.parts
    for k in ("throttled_s","reclaim_s","network_s","server_s","device_write_s", "device_read_s"):
        C["ex "+k] += bool((p[k] > 0).any())
def test_z():
    print(C); assert 0
