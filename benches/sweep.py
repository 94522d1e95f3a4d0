"""Speed of `pagecast sweep`: 1,000 points of Exp 2 with 32 applications that start together, `kernel`.

Beside it the same simulations without a sweep, one after the other, so that what a sweep adds is seen.
"""

import argparse
import os
import time

import pagecast as pc
from benches.workload import scenario

VARY = {
    "host.g0h1.vm.dirty_ratio": "20.0..60.0:lin:{}",
    "host.g0h1.vm.dirty_background_ratio": "1.0..10.0:lin:10",
}
MEASURES = ("p99(* write)", "makespan", "peak(dirty)", "share(throttled, * write)")
ALONE = 20
LIMIT_S = 15.0
"""For 1,000 points on two processors."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000, help="how many, a multiple of ten (1000)")
    parser.add_argument("--workers", type=int, help="processes (one per processor)")
    options = parser.parse_args()
    found = pc.Scenario.from_toml(scenario(32, spread_s=0))
    vary = {key: values.format(options.points // 10) for key, values in VARY.items()}
    begun, begun_cpu_s = time.perf_counter(), _cpu_s()
    swept = pc.sweep(found, vary=vary, measure=MEASURES, workers=options.workers)
    took_s, cpu_s = time.perf_counter() - begun, _cpu_s() - begun_cpu_s
    assert not swept.failed, "every point can be simulated"
    points = len(swept.rows)
    begun_cpu_s = _cpu_s()
    for _ in range(ALONE):
        pc.simulate(found, record="histogram", threads=1)
    alone_s = (_cpu_s() - begun_cpu_s) / ALONE
    print(f"{points} points in {took_s:.1f} s (limit for 1,000 on two processors: {LIMIT_S:.0f} s)")
    point_ms, alone_ms = cpu_s / points * 1e3, alone_s * 1e3
    print(f"processor time of a point: {point_ms:.1f} ms, of a simulation alone: {alone_ms:.1f} ms")


def _cpu_s() -> float:
    """Give the processor time of this process and of those that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main()
