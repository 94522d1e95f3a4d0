"""Read-ahead of `kernel` in closed form against the oracle's windows, requests and pages one by one.

A process reads files from a disk with latency, page by page or in large calls, in a row or here and there,
and thinks in between. It takes the same time within 2 %, or within a millisecond; what is cached in the end
differs by the rest of a request at most.

What the fast one leaves out on purpose, and how the comparison allows for it:

- A mark belongs to an open file, not to a page: who comes to it by a detour does not find it. Reads go
  forward, a jump goes beyond all that was read ahead, and no two processes read a file.
- A window is read up to the first page of it that is cached.
- The disk serves all that is on its way at once, and not in turn: who reads elsewhere waits first until
  nothing is.
"""

from hypothesis import given, note
from hypothesis import strategies as st

import oracle
import pagecast
from oracle.kernel.policy import Kernel
from oracle.kernel.settings import PAGE, Cost
from oracle.machine import Device, Host, Mount
from oracle.scenario import File, Op, Process, Scenario
from oracle.to_toml import to_toml
from tests.property.running import oracle_times, our_times

KIB, MB = 1 << 10, 10**6
FILE_PAGES = 8192
REQUEST_BYTES = 1280 * KIB
ALL_ARRIVES_S = 0.1


@st.composite
def programs(draw: st.DrawFn) -> tuple[Op, ...]:
    """Reads that go forward through a file, and thinking."""
    ops: list[Op] = []
    page = draw(st.sampled_from([0, 0, 0, 100]))
    calls = draw(st.sampled_from([[1], [4], [16], [256], [1, 3, 16, 100, 256]]))
    skips = draw(st.sampled_from([[0], [0, 0, 0, 700], [700, 1000]]))
    thinks = draw(st.sampled_from([[0.0], [0.0, 0.002], [0.005]]))
    for _ in range(draw(st.integers(1, 24))):
        call = draw(st.sampled_from(calls))
        size = call * draw(st.sampled_from([1, 1, 2, 16]))
        if page + size > FILE_PAGES:
            break
        ops.append(Op("read", "/d/f", size * PAGE, page * PAGE, call_bytes=call * PAGE))
        think = draw(st.sampled_from(thinks))
        if think:
            ops.append(Op("sleep", seconds=think))
        page += size
        skip = draw(st.sampled_from(skips))
        if skip:
            ops.append(Op("sleep", seconds=ALL_ARRIVES_S))
            page += skip
    return (*ops, Op("sleep", seconds=1.0))


@given(
    program=programs(),
    latency_s=st.sampled_from([0.1e-3, 1e-3, 5e-3]),
    read_ahead_kb=st.sampled_from([64, 128, 128, 512]),
    rate=st.sampled_from([50 * MB, 200 * MB, 1000 * MB]),
)
def test_read_ahead_agrees_with_windows_one_by_one(
    program: tuple[Op, ...], latency_s: float, read_ahead_kb: int, rate: int
) -> None:
    disk = Device(rate, rate, "separate")
    cost = Cost(copy_read_bytes_per_s=1e9, copy_write_bytes_per_s=1e9)
    host = Host(1000 * MB, Device(40e9, 40e9), {"d": disk}, cores=4, cost=cost)
    scenario = Scenario(
        {"machine": host},
        {"/d": Mount("machine", "d")},
        {"/d/f": File(FILE_PAGES * PAGE)},
        (Process("p", program),),
    )
    theirs = oracle.run(
        scenario,
        "kernel",
        unit_bytes=PAGE,
        read_ahead_bytes=read_ahead_kb * KIB,
        request_bytes=REQUEST_BYTES,
        read_latency_s=latency_s,
    )
    text = to_toml(scenario)
    latency, read_ahead = f"latency={latency_s * 1e9:.0f} ns", f"read_ahead_kb={read_ahead_kb}"
    sets = [f"machine.disk.d.{key}" for key in (latency, read_ahead)]
    note(f"# {sets}\n{text}")
    ours = pagecast.simulate(pagecast.Scenario.from_toml(text, set=sets), model="kernel")

    last = len(program) - 1
    (_, _, our_end), (_, _, their_end) = our_times(ours)["p", last], oracle_times(theirs)["p", last]
    off, time = abs(our_end - their_end) / 1e9, their_end / 1e9 - 1.0
    assert off <= max(0.02 * time, 1e-3), f"{our_end / 1e9 - 1.0:.6f} s, {time:.6f} s in the oracle"

    assert isinstance(theirs.policy, Kernel)
    cached = int(ours.files["cached_bytes"][-1])
    their_cached = theirs.policy.cached("machine", "/d/f")
    assert abs(cached - their_cached) <= REQUEST_BYTES, f"{cached} bytes, {their_cached} in the oracle"
