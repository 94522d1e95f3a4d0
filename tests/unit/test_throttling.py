"""What held-back writers meet: the kernel's trace read, and where it settles."""

import mmap
from dataclasses import dataclass

import numpy as np
import pytest

import pagecast as pc
from pagecast.result import Columns
from pagecast.spans import throttled_spans
from pagecast.throttling import CHECK, limit_before_bytes, of_checks, plateau, throttling

PAGE = mmap.PAGESIZE


@dataclass
class Traced:
    """A real run of which only the trace is known."""

    trace: Columns
    is_measured: bool = True

    def table(self, name):
        return getattr(self, name)


def check(*, dirty, pause=40, rate=100, device="254:0", dirtied=32):
    """The text of an event, as Linux 6.18 prints it."""
    return (
        f"bdi {device}: limit=1000 setpoint=875 dirty={dirty} wb_setpoint=870 wb_dirty={dirty} "
        f"dirty_ratelimit={2 * rate} task_ratelimit={rate} dirtied={dirtied} dirtied_pause=32 paused=0 "
        f"pause={pause} period=44 think=4 cgroup_ino=1"
    )


def traced(*checks):
    """A run with these checks: (time, text)."""
    times, texts = zip(*checks, strict=True) if checks else ((), ())
    events = ["balance_dirty_pages"] * len(times)
    return Traced(Columns({"time_s": np.array(times), "event": events, "text": list(texts)}))


def every(seconds, start_s, end_s, **of):
    return [(float(time_s), check(**of)) for time_s in np.arange(start_s, end_s, seconds)]


def held_s(met):
    return np.diff(met.time_s)[met.is_held].sum()


def test_a_plateau_is_where_levels_are_for_more_than_half_of_the_time():
    # Settling until 2 s. Then a second at 500 pages with many checks, three at 800 with few: time counts.
    checks = (
        every(0.1, 0, 2, dirty=300, rate=900),
        every(0.01, 2, 3, dirty=500, rate=300),
        every(0.1, 3, 6.05, dirty=800, rate=100),
    )
    settled = plateau(throttling(traced(*(check for part in checks for check in part))))
    assert settled.settled_s == pytest.approx(4.0)
    assert settled.dirty_bytes == 800 * PAGE
    assert settled.position == 800 / 875
    assert (settled.setpoint_bytes, settled.limit_bytes) == (875 * PAGE, 1000 * PAGE)
    assert (settled.task_rate_bytes_per_s, settled.base_rate_bytes_per_s) == (100 * 1024, 200 * 1024)
    assert settled.throughput_bytes_per_s == pytest.approx(130 * 32 * PAGE / 4.0, rel=0.01)


def test_each_time_that_writers_are_held_back_begins_with_settling():
    twice = throttling(traced(*every(0.1, 0, 3.05, dirty=800), *every(0.1, 9, 12.05, dirty=700)))
    assert held_s(twice) == pytest.approx(6.0)
    assert plateau(twice).settled_s == pytest.approx(2.0, abs=0.11)
    short = throttling(traced(*every(0.1, 0, 2.95, dirty=800)))
    assert plateau(short) is None


def test_a_writer_that_rests_or_is_not_paused_is_not_held_back():
    rests = traced(*every(0.1, 0, 1.05, dirty=800), *every(0.1, 9, 10.05, dirty=800))
    assert held_s(throttling(rests)) == pytest.approx(2.0)
    passes = traced(*every(0.1, 0, 2.95, dirty=400, pause=-3), *every(0.1, 3, 6.05, dirty=800))
    assert held_s(throttling(passes)) == pytest.approx(3.0)
    assert plateau(throttling(passes)).dirty_bytes == 800 * PAGE


def test_checks_without_a_pause_among_others_are_part_of_being_held_back():
    # A writer that slept too long may go on at once (`min_pause`): it is held back all the same.
    mixed = [(k / 10, check(dirty=800, pause=40 if k % 3 == 0 else 0)) for k in range(31)]
    assert held_s(throttling(traced(*mixed))) == pytest.approx(3.0)


def test_what_others_write_elsewhere_is_left_out():
    ours = every(0.1, 0, 2, dirty=800)
    others = every(0.01, 0, 2, dirty=100, device="8:0", dirtied=1)
    assert set(throttling(traced(*ours, *others)).dirty_bytes) == {800 * PAGE}


def test_nothing_is_known_without_a_trace_or_where_nobody_is_held_back():
    assert throttling(traced()) is None
    assert throttling(traced(*every(0.1, 0, 1, dirty=400, pause=0))) is None


def test_other_events_are_no_checks():
    run = traced((0.0, check(dirty=1)), *every(0.1, 0.1, 1, dirty=2))
    run.trace["event"][0] = "global_dirty_state"
    assert throttling(run).time_s[0] == pytest.approx(0.1)


@pytest.mark.parametrize("call_bytes", [65536, 2 << 20])
def test_a_forecast_settles_below_the_set_point_at_the_rate_of_the_disk(machine, call_bytes):
    app = [pc.write("/data/out", size_bytes=3e9, call_bytes=call_bytes), pc.sleep(10.0)]
    app += [pc.write("/data/more", size_bytes=2e9, call_bytes=call_bytes)]
    found = pc.simulate(pc.Scenario(machine, processes={"app": app}), model="kernel")
    settled = plateau(throttling(found))
    assert settled.setpoint_bytes < settled.limit_bytes
    # From the end of free run on, but for the folio that is written last.
    assert 0.75 * settled.limit_bytes - (2 << 20) < settled.dirty_bytes < settled.limit_bytes
    assert settled.throughput_bytes_per_s == pytest.approx(400e6, rel=0.1)
    # A large folio is paused for by whole ticks: what a writer may do is now more than that, now less.
    allowed = pytest.approx(400e6, rel=0.1 if call_bytes < 1 << 20 else 0.5)
    assert settled.task_rate_bytes_per_s == allowed


def test_a_forecast_is_held_back_as_long_as_its_events_say(throttled):
    spans = throttled_spans(throttled, "machine")
    told_s = sum(end_s - begin_s for begin_s, end_s in spans)
    assert held_s(throttling(throttled)) == pytest.approx(told_s, rel=0.1)


@pytest.mark.parametrize("model", ["wrench", "no-cache", "endless-cache"])
def test_other_models_know_nothing_of_it(scenario, model):
    assert throttling(pc.simulate(scenario, model=model)) is None


def test_a_write_that_fits_is_not_held_back(machine):
    app = [pc.write("/data/out", size_bytes=1e8)]
    assert throttling(pc.simulate(pc.Scenario(machine, processes={"app": app}), model="kernel")) is None


def test_the_limit_before_a_run_is_that_of_the_first_event():
    texts = [
        check(dirty=1),
        *(f"dirty=3 writeback=2 bg_thresh=5 thresh=7 limit={limit}" for limit in (90, 80)),
    ]
    events = ["balance_dirty_pages", "global_dirty_state", "global_dirty_state"]
    run = Traced(Columns({"time_s": np.arange(3.0), "event": events, "text": texts}))
    assert limit_before_bytes(run) == 90 * PAGE
    assert limit_before_bytes(traced()) is None


def test_a_check_of_which_something_is_not_known_holds_nobody_back():
    checks = [[40.0] * len(CHECK), [40.0] * len(CHECK)]
    assert of_checks([0.0, 0.1], checks).is_held.all()
    checks[1][CHECK.index("dirty")] = np.nan
    assert not of_checks([0.0, 0.1], checks).is_held.any()
