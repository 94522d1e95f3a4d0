"""The plain-Python `kernel` keeps the kernel's rules: one small case for each."""

import pytest

from oracle import ImpossibleError, run
from oracle.engine import Engine, Sleep
from oracle.kernel.clock import Clock
from oracle.kernel.flusher import chunk_pages
from oracle.kernel.fractions import Fractions
from oracle.kernel.limits import HardLimit, Limits, dirtyable, limits
from oracle.kernel.policy import Kernel
from oracle.kernel.readahead import Stream, first_size, most_pages, next_size, on_mark, on_miss
from oracle.kernel.reclaim import inactive_is_low
from oracle.kernel.settings import Bdi, Cost, MountCost, Options, Vm, Wbt
from oracle.kernel.throttle import cubic, max_pause, min_pause, position_ratio, strict_ratio
from oracle.kernel.wb import Wb
from oracle.kernel.wbt import BACKGROUND, OTHER, SYNC, Throttling
from oracle.kernel.zones import Watermarks
from oracle.machine import Device, Host, Mount
from oracle.scenario import File, Op, Process, Result, Scenario
from oracle.to_toml import to_toml

MB, MIB, GIB = 10**6, 2**20, 2**30
PAGE = 4096
A16 = 16 * GIB // PAGE  # 16 GiB of dirtyable memory
DISK = Device(200 * MB, 200 * MB, "separate")
MEMORY = Device(2000 * MB, 2000 * MB, "separate")


def simulate(
    *programs: list[Op],
    memory: int = GIB,
    files: dict[str, int] | None = None,
    disk: Device = DISK,
    ram: Device = MEMORY,
    cost: Cost | None = None,
    vm: Vm | None = None,
    mount: MountCost | None = None,
    on_operation=None,
    **options,
) -> tuple[Result, Kernel]:
    host = Host(memory, ram, {"d": disk}, cores=4, vm=vm or Vm(), cost=cost or Cost())
    processes = tuple(Process(f"p{i}", tuple(ops)) for i, ops in enumerate(programs))
    scenario = Scenario(
        {"machine": host},
        {"/d": Mount("machine", "d", cost=mount or MountCost())},
        {path: File(size) for path, size in (files or {}).items()},
        processes,
    )
    result = run(scenario, "kernel", on_operation, **options)
    assert isinstance(result.policy, Kernel)
    return result, result.policy


def dirty_at(kernel: Kernel, time_s: float) -> tuple[int, int]:
    """(dirty, under writeback) in bytes."""
    sample = next(s for s in kernel.samples["machine"] if s.time_s >= time_s)
    return sample.dirty, sample.writeback


def levels(kernel: Kernel) -> list[float]:
    """What is dirty or under writeback, as a part of the limit."""
    return [(sample.dirty + sample.writeback) / sample.limit for sample in kernel.samples["machine"]]


def lists(kernel: Kernel) -> tuple[int, int]:
    """(inactive, active) in MiB."""
    found = kernel.hosts["machine"].memory.lists
    return found.inactive_pages * PAGE // MIB, found.active_pages * PAGE // MIB


def seconds(*program: Op, **settings) -> list[float]:
    """How long the operations of a single process take."""
    return [done.duration_s for done in simulate(list(program), **settings)[0].operations]


# -- limits ----------------------------------------------------------------------------------
def test_limits_are_4096ths_of_dirtyable_memory():
    found = limits(Vm(), A16)
    assert (found.limit, found.background) == (A16 * 819 // 4096, A16 * 409 // 4096)
    assert found.freerun / A16 == pytest.approx(0.15, abs=0.001)
    assert found.poll_interval(found.freerun) == 256  # 1 MiB
    assert found.poll_interval(found.limit) == 1


def test_limits_in_bytes_rule_and_background_is_below():
    assert limits(Vm(dirty_bytes=10 * MIB, dirty_background_bytes=MIB), A16) == Limits(2560, 256)
    assert limits(Vm(dirty_ratio=5), A16).background == limits(Vm(dirty_ratio=5), A16).limit // 2


def test_anonymous_memory_is_not_dirtyable():
    assert dirtyable(free=1000, reserve=100, file=50) == 951
    assert dirtyable(free=80, reserve=100, file=50) == 51


def test_hard_limit_jumps_up_and_follows_down_slowly():
    hard = HardLimit(1000, interval=50)
    hard.update(50, limit=3200, dirty=0)
    assert hard.value == 3200
    hard.update(99, limit=1000, dirty=1600)  # too soon
    hard.update(100, limit=1000, dirty=1600)
    assert hard.value == 3200 - 1600 // 32


# -- the throttle's law ----------------------------------------------------------------------
def test_cubic():
    assert [cubic(1750, dirty, 2000) for dirty in (1500, 1750, 2000, 3000)] == [2033, 1024, 14, 0]
    assert cubic(175000, 150000, 200000) == pytest.approx(2048, abs=4)


def test_position_ratio_at_the_start_of_throttling_and_with_a_slow_disk():
    found = limits(Vm(), A16)
    fast, slow = 100 * MIB // PAGE, 10 * MIB // PAGE
    ratio = position_ratio(found, found.limit, found.freerun, found.limit, found.freerun, fast)
    assert ratio / 1024 == pytest.approx(3.02, abs=0.01)
    setpoint = (found.freerun + found.limit) // 2
    below = setpoint - 100 * MIB // PAGE
    ratio = position_ratio(found, found.limit, below, found.limit, below, slow)
    assert ratio / cubic(setpoint, below, found.limit) == pytest.approx(2.25, abs=0.01)
    assert position_ratio(found, found.limit, found.limit, found.limit, found.limit, fast) == 0


def test_a_disk_with_little_dirt_is_not_starved():
    found = limits(Vm(), A16)
    setpoint = (found.freerun + found.limit) // 2
    ratio = position_ratio(found, found.limit, setpoint, found.limit // 2, found.limit // 100, 50000)
    assert ratio > 8 * 1024


def test_pauses():
    assert max_pause(10**6, 50000, hz=250) == 50  # 200 ms
    assert max_pause(1000, 50000, hz=250) == 1000 // (1 + 50000 // 32) + 1
    assert min_pause(50, 50000, 50000, 50000, hz=250) == (2, 50000 * 2 // 256)  # 8 ms
    assert min_pause(50, 12500, 12500, 50000, hz=250) == (4, 12500 * 6 // 256)  # four writers: longer
    assert min_pause(50, 1000, 1000, 1000, hz=250) == (1 + 8 // 2, 32)  # slow: 32 pages at a time
    assert min_pause(50, 50, 1000, 1000, hz=250) == (50, 50 * 50 // 256)


def some_wb() -> Wb:
    clock = Clock(Engine(), 250)
    return Wb(0, clock, Fractions(250, 1), Options(), Bdi(), 0)


def pass_time(wb: Wb, jiffies: int) -> None:
    wb.clock.engine.network.now_ns += jiffies * 4_000_000


def test_base_rate_moves_an_eighth_of_the_error_and_only_if_position_agrees():
    wb, found = some_wb(), limits(Vm(), A16)
    assert wb.ratelimit == 25600
    wb.bandwidth = wb.average = 100_000
    wb.balanced = 80_000
    for dirty, moves in ((found.limit, False), (found.freerun, True)):  # above, below the setpoint
        pass_time(wb, 50)
        wb.dirtied += 25600 // 5  # as fast as the base rate
        before = wb.ratelimit
        wb.update_throttled(found, HardLimit(found.limit, 50), dirty, position=2048)
        assert (wb.ratelimit > before) is moves
    assert wb.ratelimit == 25600 + (25601 + 7) // 8  # to position x rate, 51201


def test_the_part_of_a_disk_is_within_its_ratios():
    wb = Wb(0, Clock(Engine(), 250), Fractions(250, 1), Options(), Bdi(5, 20, strict_limit=True), 200_000)
    assert wb.part_of(1000, 1000) == 50
    assert wb.part_of(100_000, 0) == 5000  # more than a hundredth of what is free
    wb.fractions.add(wb.share, 96, 0)
    assert wb.part_of(1000, 1000) == 200  # at most; 80 % of 96 of 97 and 5 % are 841
    assert wb.limits_of(Limits(1000, 400), 1000) == Limits(200, 80)
    wb.fractions.add(wb.share, 96, 0, wb.most)
    assert wb.share.events.sum == 96  # beyond its largest part nothing more counts


def test_a_strict_disk_is_held_by_its_own_cubic():
    host, own = Limits(1000, 500), Limits(400, 200)  # its writers are free up to 300
    assert strict_ratio(host, 1000, 600, own, 300) == 1024
    assert strict_ratio(host, 1000, 600, own, 350) == 1024 - 124  # (512 / 1024)^3, less what is rounded
    assert strict_ratio(host, 1000, 600, own, 400) == 0
    assert strict_ratio(host, 1000, 1000, own, 300) == 0


def test_a_strict_disk_holds_its_part_and_no_more():
    disk = Device(100 * MB, 100 * MB, "separate", bdi=Bdi(max_ratio=10, strict_limit=True))
    result, kernel = simulate([Op("write", "/d/a", 300 * MB)], memory=GIB, disk=disk)
    (done,) = result.operations
    limit = kernel.hosts["machine"].memory.limits().limit * PAGE
    assert max(s.dirty + s.writeback for s in kernel.samples["machine"]) < 0.11 * limit
    assert (done.end_ns - done.start_ns) / 1e9 == pytest.approx(3.0 - 0.075 * limit / (100 * MB), rel=0.03)


def test_bandwidth_takes_seconds_to_follow():
    wb = some_wb()
    seen = []
    for _ in range(75):  # 15 s
        pass_time(wb, 50)
        wb.written += 10_000  # 50,000 pages/s
        wb.update()
        seen.append(wb.average)
    assert seen[24] < 45_000
    assert seen[-1] == pytest.approx(50_000, rel=0.03)
    pass_time(wb, 2000)
    wb.update()
    assert wb.average == 1  # 8 s without anything


def test_fractions_halve_every_3_s_and_stop():
    fractions = Fractions(250, 1)
    one, two = fractions.share(), fractions.share()
    fractions.add(one, 4096, now=0)
    assert fractions.of(one, 0) == (4096, 4097)
    fractions.add(two, 1024, now=749)
    assert fractions.of(one, 750) == (2048, 2560)
    assert fractions.of(two, 750) == (512, 2560)
    assert fractions.of(one, 100_000)[0] <= 1
    assert fractions.period_ends is None


def test_the_last_pages_go_in_batches():
    """After 1057 pages a kernel showed 0.99905, then 1, 0.48485 after 18 s and 0.24242 after 21 s.

    Source: own recording, Linux 6.12.
    """
    fractions = Fractions(250, 1)
    disk = fractions.share()
    fractions.add(disk, 1057, now=0)
    found = [fractions.of(disk, 750 * period) for period in range(11)]
    assert found[:3] == [(1056, 1057), (529, 529), (264, 264)]
    assert found[5:] == [(33, 33), (16, 33), (8, 33), (8, 33), (0, 33), (0, 1)]


def test_timers_of_5_s_ring_after_5_12_s_and_none_is_early():
    clock = Clock(Engine(), 250)
    assert clock.fires_ns(1250) == 5_120_000_000
    assert clock.fires_ns(2) == 12_000_000
    assert clock.fires_ns(62) == 63 * 4_000_000
    assert clock.fires_ns(63) == 64 * 4_000_000


# -- writers ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("gib", "seconds"), [(4, 9.1), (8, 29.4), (16, 71.1)])
def test_one_writer_on_16_gib(gib: int, seconds: float):
    """200 MB/s disk, 2 GB/s memory. "Block at dirty_ratio" would give 5.8, 26.7, 68.7 s."""
    write = Op("write", "/d/f", gib * GIB, call_bytes=MIB)
    result, kernel = simulate([write], memory=16 * GIB, reserve_bytes=0)
    assert result.end_ns / 1e9 == pytest.approx(seconds, rel=0.06 if gib == 4 else 0.03)
    if gib == 16:
        assert all(level < 0.9 for level in levels(kernel))  # checks every 1 MiB are a bit coarse


def test_a_writer_settles_below_the_setpoint():
    """Its rate, once learnt, stays some per cent below that of the disk."""
    write = Op("write", "/d/f", 2 * GIB, call_bytes=MIB)
    learnt = {"bandwidth_bytes_per_s": 100 * MB, "ratelimit_bytes_per_s": 94 * MB}
    disk = Device(100 * MB, 100 * MB)
    _, kernel = simulate([write], memory=4 * GIB, disk=disk, reserve_bytes=0, unit_bytes=MIB // 8, **learnt)
    assert all(0.84 < level < 0.88 for level in levels(kernel)[30:])


def test_throttling_begins_at_15_percent():
    ops = [Op("write", "/d/f", 4 * MIB, offset=None) for _ in range(100)]
    result, _ = simulate(ops, memory=2 * GIB, disk=Device(MB, MB), reserve_bytes=0)
    slow = next(i for i, done in enumerate(result.operations) if done.duration_s > 4 * 4 * MIB / 2e9)
    assert (slow + 1) * 4 * MIB / (2 * GIB) == pytest.approx(0.15, abs=0.006)


def test_background_writeback_stops_at_the_background_limit():
    ops = [Op("write", "/d/f", 1200 * MIB), Op("sleep", seconds=20)]
    _, kernel = simulate(ops, memory=10 * GIB, reserve_bytes=0)
    [*_, last] = kernel.samples["machine"]
    assert last.writeback == 0
    assert last.background - 100 * MIB < last.dirty <= last.background


def test_what_is_30_s_old_is_written_at_the_next_wake_up():
    ops = [Op("write", "/d/f", 20 * MIB), Op("sleep", seconds=40)]
    _, kernel = simulate(ops, memory=4 * GIB)
    assert dirty_at(kernel, 30) == (20 * MIB, 0)
    assert dirty_at(kernel, 36) == (0, 0)


def test_an_idle_disk_writes_one_chunk_at_the_first_wake_up():
    """As seen on 6.18: 64 MB stay, of 700 MB one chunk of 52 MiB is written (10 % are 2.36 GB)."""
    for size, written in ((64 * MB, 0), (700 * MB, 52 * MIB)):
        ops = [Op("write", "/d/f", size), Op("sleep", seconds=8)]
        _, kernel = simulate(ops, memory=23600 * MB, reserve_bytes=0)
        assert kernel.written("machine", "d") == written


def test_a_temporary_file_costs_the_disk_nothing():
    ops = [Op("write", "/d/f", 50 * MIB), Op("unlink", "/d/f"), Op("sleep", seconds=60)]
    _, kernel = simulate(ops)
    assert kernel.written("machine", "d") == 0
    assert kernel.samples["machine"][-1].cached == 0


def test_rewriting_dirty_bytes_costs_the_disk_nothing():
    ops = [Op("write", "/d/f", 20 * MIB) for _ in range(5)] + [Op("fsync", "/d/f")]
    _, kernel = simulate(ops)
    assert kernel.written("machine", "d") == 20 * MIB


def test_fsync_takes_as_long_as_the_disk():
    result, kernel = simulate([Op("write", "/d/f", 50 * MB), Op("fsync", "/d/f")])
    assert result.operations[1].duration_s == pytest.approx(0.25, rel=0.01)
    assert kernel.dirty("machine", "/d/f") == 0


def test_who_waits_for_room_in_the_queue_gets_it_in_turn():
    programs = [[Op("write", f"/d/{name}", 40 * MB), Op("fsync", f"/d/{name}")] for name in "ab"]
    result, _ = simulate(*programs)
    assert [done.end_ns / 1e9 for done in result.operations[2:]] == pytest.approx([0.34, 0.44], abs=0.03)


def test_a_flusher_and_an_fsync_share_the_disk_also_in_one_file():
    grow = [Op("write", "/d/f", 110 * MB), Op("write", "/d/g", 100 * MB), Op("fsync", "/d/f")]
    result, kernel = simulate(grow)
    left = kernel.dirty("machine", "/d/g")
    assert left < 100 * MB, "the flusher gets its part"
    assert result.operations[2].end_ns / 1e9 == pytest.approx((210 * MB - left) / (200 * MB), abs=0.1)


def test_a_writer_who_begins_while_others_are_held_back_has_no_credit():
    grow = [Op("write", "/d/f", 400 * MB, call_bytes=MIB)]
    late = [Op("sleep", seconds=0.5), Op("write", "/d/g", 20 * MB, call_bytes=MIB)]
    result, _ = simulate(grow, late, unit_bytes=64 * 1024)
    written = next(done for done in result.operations if done.process == "p1" and done.op.kind == "write")
    assert written.duration_s > 0.1


def test_files_are_written_in_the_order_of_their_first_dirtying():
    ops = [
        Op("write", "/d/old", 10 * MIB),
        Op("sleep", seconds=4),
        Op("write", "/d/young", 10 * MIB),
        Op("write", "/d/old", 10 * MIB, offset=10 * MIB),
        Op("sleep", seconds=27),
    ]
    _, kernel = simulate(ops, memory=4 * GIB)
    assert kernel.dirty("machine", "/d/old") == 0
    assert kernel.dirty("machine", "/d/young") == 10 * MIB


def test_chunks():
    assert chunk_pages(100 * MB // PAGE, 10**9, 10**9) * PAGE == 48 * MIB
    assert chunk_pages(25600, 10**9, 10**9) * PAGE == 52 * MIB
    assert chunk_pages(10**6, 0, 10**9) * PAGE == 4 * MIB


def test_two_writers_share_the_disk():
    ops = [[Op("write", f"/d/{name}", 800 * MIB, call_bytes=MIB)] for name in "ab"]
    result, _ = simulate(*ops, memory=2 * GIB)
    first, second = result.operations
    assert first.end_ns == pytest.approx(second.end_ns, rel=0.1)


def test_two_disks_get_limits_by_what_they_write():
    host = Host(4 * GIB, MEMORY, {"fast": DISK, "slow": Device(20 * MB, 20 * MB)}, cores=4)
    mounts = {f"/{name}": Mount("machine", name) for name in host.disks}
    writers = tuple(
        Process(name, (Op("write", f"/{name}/f", size * MB, call_bytes=MIB),))
        for name, size in (("fast", 4000), ("slow", 700))
    )
    result = run(Scenario({"machine": host}, mounts, {}, writers), "kernel")
    assert isinstance(result.policy, Kernel)
    fast, slow = result.policy.hosts["machine"].wbs.values()
    limit = 10_000
    assert slow.part_of(limit, limit) / fast.part_of(limit, limit) == pytest.approx(0.1, rel=0.1)
    assert slow.average < 27 * MIB // PAGE
    assert fast.average > 170 * MIB // PAGE


def test_limits_fall_with_anonymous_memory():
    """Anonymous memory takes three quarters of memory, and of what may be dirty."""
    writer = [Op("write", "/d/f", 600 * MIB, call_bytes=MIB)]
    _, kernel = simulate(writer, [Op("alloc", size=1500 * MIB), Op("sleep", seconds=5)], memory=2 * GIB)
    sample = kernel.samples["machine"][40]
    assert sample.anonymous == 1500 * MIB
    assert sample.limit < 0.2 * 0.27 * 2 * GIB
    assert sample.dirty + sample.writeback < 1.05 * sample.limit


# -- readers ---------------------------------------------------------------------------------
def test_cold_read_takes_as_long_as_the_disk_and_the_second_activates():
    reads = [Op("read", "/d/f", call_bytes=MIB)] * 2
    seen = []
    result, kernel = simulate(
        reads, files={"/d/f": 200 * MIB}, on_operation=lambda _, kernel: seen.append(lists(kernel))
    )
    cold, warm = (done.duration_s for done in result.operations)
    assert cold == pytest.approx(200 * MIB / 200e6, rel=0.01)
    assert warm == pytest.approx(200 * MIB / 2000e6, rel=0.01)
    assert seen == [(200, 0), (0, 200)]
    assert kernel.cached("machine", "/d/f") == 200 * MIB


def test_writing_never_activates():
    _, kernel = simulate([Op("write", "/d/f", 20 * MIB), *[Op("write", "/d/f", 20 * MIB)] * 3])
    assert lists(kernel) == (20, 0)


def test_read_with_a_faster_disk_is_bound_by_copying():
    reads = [Op("read", "/d/f", call_bytes=MIB)]
    result, _ = simulate(reads, files={"/d/f": 200 * MIB}, disk=Device(8e9, 8e9))
    assert result.end_ns / 1e9 == pytest.approx(200 * MIB / 2000e6, rel=0.02)


def test_a_little_more_than_memory_is_read_from_the_disk_each_time():
    reads = [Op("read", "/d/f") for _ in range(3)]
    result, _ = simulate(reads, files={"/d/f": 1200 * MIB})
    assert all(done.duration_s == pytest.approx(1200 * MIB / 200e6, rel=0.01) for done in result.operations)


def test_refaults_take_the_place_of_an_old_working_set():
    """The first file is active and holds its memory, until pages of the second come back soon enough."""
    ops = [Op("read", "/d/old")] * 2 + [Op("read", "/d/new")] * 4
    result, kernel = simulate(ops, files={"/d/old": 500 * MIB, "/d/new": 700 * MIB})
    shares = [done.duration_s / (700 * MIB / 200e6) for done in result.operations[2:]]
    assert shares[:2] == pytest.approx([1, 1], rel=0.01)
    assert shares[3] < 0.12
    assert kernel.cached("machine", "/d/new") == 700 * MIB


def test_reading_once_does_not_evict_what_is_active():
    ops = [Op("read", "/d/hot")] * 2 + [Op("read", "/d/stream")]
    _, kernel = simulate(ops, files={"/d/hot": 300 * MIB, "/d/stream": 3 * GIB})
    assert kernel.cached("machine", "/d/hot") == 300 * MIB


def test_read_ahead_windows():
    assert [first_size(pages, 32) for pages in (1, 2, 3, 5, 9)] == [4, 4, 8, 16, 32]
    assert [next_size(size, 32) for size in (1, 4, 8, 16, 32)] == [4, 8, 16, 32, 32]
    assert [most_pages(pages, 32, 320) for pages in (1, 32, 33, 256, 4096)] == [32, 32, 33, 256, 320]
    window = on_miss(0, 256, -1, 0, 256)
    assert (window.size, window.later) == (256, 128)
    assert on_miss(1000, 1, 10, 0, 32).size == 1  # random
    assert on_mark(Stream(size=8, end=12), 32).start == 12


def test_calls_that_end_within_a_page_are_a_stream_too():
    """Copying 40 MB at 2 GB/s beside the disk's 465 MB/s, and not after it: 0.086 s, not 0.106 s."""
    cost = Cost(copy_read_bytes_per_s=2e9, copy_write_bytes_per_s=2e9)
    host = Host(4000 * MB, Device(40e9, 40e9), {"ssd": Device(465 * MB, 465 * MB)}, cores=4, cost=cost)
    read = Op("read", "/d/f", 40 * MB, 1_181_765, call_bytes=1_024_000)
    scenario = Scenario(
        {"machine": host}, {"/d": Mount("machine", "ssd")}, {"/d/f": File(80 * MB)}, (Process("p", (read,)),)
    )
    for unit_bytes in (PAGE, 64 * PAGE):
        [done] = run(scenario, "kernel", unit_bytes=unit_bytes).operations
        assert (done.end_ns - done.start_ns) / 1e9 == pytest.approx(40 / 465, rel=0.05)


def test_random_reads_take_what_is_asked_for():
    reads = [Op("read", "/d/f", PAGE, offset=index * 40 * PAGE) for index in (5, 90, 41)]
    _, kernel = simulate(reads, files={"/d/f": 16 * MIB}, unit_bytes=PAGE)
    assert kernel.cached("machine", "/d/f") == 3 * PAGE


# -- memory ----------------------------------------------------------------------------------
def test_watermarks():
    for gib, expected in ((16, (66, 82.5, 99)), (64, (66, 131.5, 197)), (256, (66, 328, 590))):
        marks = Watermarks.of(gib * GIB, Vm())
        protected = (gib - 4) * 1024 / 256  # of what is above 4 GiB
        found = [mark * PAGE / MIB - protected for mark in (marks.min, marks.low, marks.high)]
        assert found == pytest.approx(expected, rel=0.01)


def test_free_memory_stays_between_low_and_high():
    _, kernel = simulate([Op("read", "/d/f")], files={"/d/f": 4 * GIB})
    marks = kernel.hosts["machine"].memory.marks
    for sample in kernel.samples["machine"][60:]:
        assert marks.low - 256 <= sample.free // PAGE <= 1.07 * marks.high


def test_how_many_active_pages_are_too_many():
    gigabyte = GIB // PAGE
    for total, share in ((0.5, 0.5), (1, 0.75), (8, 8 / 9), (64, 25 / 26)):
        for more, is_low in ((0.99, False), (1.01, True)):
            active = int(total * gigabyte * share * more)
            assert inactive_is_low(int(total * gigabyte) - active, active) is is_low


def test_dirty_pages_whose_turn_has_come_are_written_and_then_go_first():
    ops = [Op("write", "/d/dirty", 50 * MIB), Op("read", "/d/clean"), Op("sleep", seconds=1)]
    ops += [Op("read", "/d/more")]
    result, kernel = simulate(ops, files={"/d/clean": 950 * MIB, "/d/more": 100 * MIB})
    assert result.end_ns < 10e9
    assert kernel.written("machine", "d") == 50 * MIB
    assert kernel.cached("machine", "/d/dirty") == 0


def test_fresh_buffers_push_out_the_cache_and_cost_faults():
    ops = [Op("read", "/d/f"), Op("read", "/d/f", is_fresh=True), Op("free")]
    seen = []
    result, kernel = simulate(
        ops,
        files={"/d/f": 600 * MIB},
        cost=Cost(fault_s=1e-6),
        on_operation=lambda done, kernel: seen.append(kernel.hosts["machine"].sample().anonymous),
    )
    assert seen == [0, 600 * MIB, 0]
    assert kernel.cached("machine", "/d/f") < 424 * MIB
    assert result.operations[1].duration_s > 600 * MIB / PAGE * 1e-6


def test_costs_of_calls_and_pages():
    cost = Cost(
        call_s=2e-6,
        page_insert_s=3e-6,
        page_lookup_s=1e-6,
        copy_read_bytes_per_s=1e9,
        copy_write_bytes_per_s=500e6,
    )
    pages = 16 * MIB // PAGE
    ops = [
        Op("write", "/d/f", 16 * MIB, call_bytes=PAGE),
        Op("write", "/d/f", 16 * MIB, call_bytes=64 * 1024),
        Op("read", "/d/f", call_bytes=PAGE),
    ]
    result, _ = simulate(ops, cost=cost)
    new, again, read = (done.duration_s for done in result.operations)
    assert new == pytest.approx(pages * 5e-6 + 16 * MIB / 500e6)
    assert again == pytest.approx(pages * (1e-6 + 2e-6 / 16) + 16 * MIB / 500e6)
    assert read == pytest.approx(pages * 3e-6 + 16 * MIB / 1e9)


def test_writing_new_pages_is_slower_while_the_flusher_writes():
    write = [Op("write", "/d/f", 140 * MIB)]
    [plain, slow] = [
        simulate(write, cost=Cost(flushing_factor=factor), reserve_bytes=0)[0].end_ns for factor in (1, 0.5)
    ]
    extra = (140 - 104) * MIB / 2000e6 * 1e9  # beyond the background limit of 102 MiB: once more
    assert slow - plain == pytest.approx(extra, rel=0.15)


def test_threads_share_the_memory():
    programs = [[Op("write", f"/d/{i}", 40 * MIB)] for i in range(2)]
    result, _ = simulate(*programs, memory=4 * GIB)
    assert result.end_ns / 1e9 == pytest.approx(2 * 40 * MIB / 2000e6, rel=0.02)


def test_drop_caches_and_fadvise_leave_what_is_dirty():
    ops = [Op("write", "/d/dirty", 10 * MIB), Op("read", "/d/clean"), Op("drop_caches")]
    _, kernel = simulate(ops, files={"/d/clean": 10 * MIB})
    assert (kernel.cached("machine", "/d/dirty"), kernel.cached("machine", "/d/clean")) == (10 * MIB, 0)
    ops = [Op("write", "/d/f", 10 * MIB), Op("fadvise", "/d/f"), Op("sleep", seconds=1)]
    _, kernel = simulate(ops)
    assert kernel.cached("machine", "/d/f") == kernel.written("machine", "d") == 10 * MIB


def test_truncate_cuts_a_unit():
    ops = [Op("write", "/d/f", 3 * MIB), Op("truncate", "/d/f", MIB + 5000), Op("fsync", "/d/f")]
    _, kernel = simulate(ops)
    assert kernel.cached("machine", "/d/f") == kernel.written("machine", "d") == MIB + 2 * PAGE


def test_what_does_not_fit_is_impossible():
    with pytest.raises(ImpossibleError, match="out of memory"):
        simulate([Op("alloc", size=1020 * MIB)])


def test_reading_goes_on_where_there_is_room_for_one_unit():
    """Read-ahead once took the memory of the unit that was about to be copied, and that again, for ever."""
    ops = [Op("alloc", size=60 * MIB + 700 * 1024), Op("read", "/d/f", call_bytes=8 * MIB)]
    vm = Vm(min_free_kbytes=2048)
    result, kernel = simulate(ops, memory=64 * MIB, files={"/d/f": 16 * MIB}, vm=vm)
    assert result.operations[1].duration_s < 2 * 16 * MIB / 200e6
    assert kernel.cached("machine", "/d/f") <= 2 * MIB


def test_units_of_a_page_and_of_a_mebibyte_agree():
    ops = [Op("write", "/d/f", 40 * MIB, call_bytes=MIB), Op("fsync", "/d/f"), Op("read", "/d/f")]
    ends = [
        simulate(ops, memory=128 * MIB, unit_bytes=size, vm=Vm(min_free_kbytes=1024))[0].end_ns
        for size in (PAGE, 64 * 1024, MIB)
    ]
    assert ends == pytest.approx([ends[0]] * 3, rel=0.05)


def test_the_same_twice():
    programs = [
        [Op("write", f"/d/{i}", 300 * MIB, call_bytes=MIB), Op("read", f"/d/{i}"), Op("unlink", f"/d/{i}")]
        for i in range(3)
    ]
    first, second = (simulate(*programs)[0].operations for _ in range(2))
    assert first == second


def test_accounts_add_up():
    def check(_: object, kernel: Kernel) -> None:
        host = kernel.hosts["machine"]
        memory, units = host.memory, [u for f in host.files.values() for u in f.units.values()]
        leaving = [u for u in memory.lists.units() if not u.is_cached]
        assert all(u.in_flight > 0 and u.dirty == 0 for u in leaving)
        assert sum(u.pages for u in (*units, *leaving)) == memory.lists.pages
        assert sum(u.pages for u in memory.lists.active) == memory.lists.active_pages
        assert sum(u.dirty for u in units) == memory.dirty == sum(w.reclaimable for w in host.wbs.values())
        assert memory.in_flight == sum(w.in_flight for w in host.wbs.values())
        assert memory.free >= 0

    programs = [
        [
            Op("write", f"/d/{i}", 170 * MIB + i * 4097, call_bytes=1_000_003),
            Op("read", "/d/common", is_fresh=i == 2),
            Op("truncate", f"/d/{i}", 50 * MIB),
            Op("write", f"/d/{i}", 90 * MIB, offset=None),
            Op("fadvise", f"/d/{i}"),
            Op("sleep", seconds=7.0 * i),
            Op("unlink", f"/d/{i}"),
        ]
        for i in range(3)
    ]
    simulate(*programs, files={"/d/common": 250 * MIB + 123}, memory=GIB, on_operation=check)


def test_settings_and_costs_are_in_the_scenario_file():
    host = Host(
        GIB, MEMORY, {"d": DISK}, vm=Vm(dirty_ratio=40, dirty_background_bytes=MIB), cost=Cost(call_s=1e-6)
    )
    process = Process("p", (Op("write", "/d/f", MIB, call_bytes=PAGE),))
    text = to_toml(Scenario({"machine": host}, {"/d": Mount("machine", "d")}, {}, (process,)))
    assert '[machine.vm]\ndirty_ratio = 40\ndirty_background_bytes = "1048576 B"\n' in text
    assert '[machine.memory.cost]\ncall = "1000 ns"\n' in text
    assert 'call = "4096 B"' in text


def test_unlink_waits_for_what_is_under_writeback():
    # Above the background limit the flusher has filled the queue: 20 MiB at 200 MB/s.
    ops = [Op("write", "/d/f", 130 * MIB), Op("unlink", "/d/f")]
    result, _ = simulate(ops, memory=GIB)
    assert result.operations[-1].duration_s == pytest.approx(20 * MIB / (200 * MB), rel=0.1)


# -- write-back throttling -------------------------------------------------------------------
def requests_at(queue_depth: int, times_s: list[float], marks_background: bool = True) -> list[list[int]]:
    """How many requests each may have at these times, if the disk writes from 0 s to 0.31 s."""
    engine, found = Engine(), []
    throttling = Throttling(engine, Wbt(queue_depth), marks_background, wake=lambda: None)

    def script():
        throttling.saw_write(True)
        for time_s in sorted([*times_s, 0.31]):
            yield Sleep(round(time_s * 1e9))
            if time_s == 0.31:
                throttling.saw_write(False)
            else:
                found.append([throttling.requests(why) for why in (SYNC, OTHER, BACKGROUND)])
        engine.alive = 0

    engine.alive = 1
    engine.start(script())
    engine.run()
    return found


def test_the_depth_of_write_back_doubles_with_each_window_of_writes_and_falls_back_in_half_seconds():
    depths = [[16, 8, 4], [31, 16, 8], [61, 31, 16], [96, 48, 24]]
    assert requests_at(128, [0.05, 0.15, 0.25, 0.35]) == depths
    # In the window to 0.4 s it has written; then five without.
    falling = requests_at(128, [0.85, 0.95, 1.35, 1.45, 1.85, 1.95], marks_background=False)
    assert falling == [[96, 48, 48], [61, 31, 31], [61, 31, 31], [31, 16, 16], [31, 16, 16], [16, 8, 8]]
    assert requests_at(32, [0.15])[0][0] == 24


@pytest.mark.parametrize(("pause_s", "requests"), [(0.0, 96), (0.5, 96), (1.7, 48)])
def test_unlink_waits_for_what_write_back_throttling_lets_through(pause_s, requests):
    # A writer who is held back, by the limit, and then calls it, a second later or not.
    disk = Device(200 * MB, 200 * MB, "separate", wbt=Wbt(128))
    ops = [Op("write", "/d/f", 1500 * MB), Op("sleep", seconds=pause_s), Op("unlink", "/d/f")]
    result, _ = simulate(ops, memory=8 * GIB, disk=disk)
    assert result.operations[-1].duration_s == pytest.approx(requests * 1.25 * MIB / (200 * MB), abs=0.02)


def test_the_inode_that_the_flusher_visits_is_still_listed():
    # Another inode that became dirty meanwhile once armed a timer, so that another pass began at once.
    options = {"vm": Vm(dirty_expire_centisecs=100), "disk": Device(50 * MB, 50 * MB, "separate")}
    writer = [Op("write", "/d/f", 500 * MIB, call_bytes=MIB), Op("sleep", seconds=3)]
    other = [Op("sleep", seconds=0.5), Op("write", "/d/g", MIB)]
    _, kernel = simulate(writer, other, memory=GIB, **options)
    dirty, writeback = dirty_at(kernel, kernel.samples["machine"][-1].time_s)
    assert writeback == 0
    assert dirty > 40 * MIB, "background writeback has stopped at its limit, and nothing else has begun"


# -- file systems and hosts of virtual machines ----------------------------------------------
WRITE = Op("write", "/d/a", 10 * MIB)
FSYNC = Op("fsync", "/d/a")


def test_a_file_that_is_longer_or_has_new_times_is_committed_once():
    times = seconds(WRITE, FSYNC, FSYNC, WRITE, FSYNC, mount=MountCost(commit_s=1.0))
    assert [int(times[at]) for at in (1, 2, 4)] == [1, 0, 1]


def test_a_commit_is_of_all_files_of_a_disk():
    other = [Op("write", "/d/b", 10 * MIB), WRITE, Op("fsync", "/d/b"), FSYNC]
    times = seconds(*other, mount=MountCost(commit_s=1.0))
    assert [int(time) for time in times[2:]] == [1, 0]


def test_blocks_are_given_back_where_they_were_written_lately():
    mount = MountCost(block_free_s=1e-3, block_free_within_s=5.0, file_free_s=1.0)
    cut, wait = Op("truncate", "/d/a", 8 * MIB), Op("sleep", seconds=6.0)
    assert seconds(WRITE, FSYNC, cut, mount=mount)[-1] == pytest.approx(1.512)
    assert seconds(WRITE, FSYNC, wait, cut, mount=mount)[-1] == 0.0
    assert seconds(WRITE, cut, mount=mount)[-1] == 0.0, "dirty pages have no blocks yet"
    assert seconds(WRITE, FSYNC, WRITE, cut, mount=mount)[-1] == pytest.approx(1.512), "they have now"
    begin = Op("write", "/d/a", 8 * MIB, 0)
    assert seconds(begin, FSYNC, cut, files={"/d/a": 10 * MIB}, mount=mount)[-1] == 0.0, "elsewhere"


def test_pages_that_the_host_took_back_cost_more_until_they_are_in_use():
    cost, unlink = Cost(page_reported_s=1e-3), Op("unlink", "/d/a")
    pages, copying = 10 * MIB // PAGE * 1e-3, 10 * MIB / 2e9
    again = seconds(WRITE, unlink, WRITE, unlink, Op("sleep", seconds=100.0), WRITE, cost=cost)
    assert again[::2] == pytest.approx([pages + copying, copying, 100.0])
    assert again[-1] == pytest.approx(pages + copying), "it is reported again"


def test_a_sixteenth_of_what_is_free_is_reported_every_two_seconds():
    cost, gib = Cost(page_reported_s=1e-6), GIB // PAGE * 1e-6
    after = {
        wait: seconds(
            Op("sleep", seconds=wait), Op("alloc", size=2 * GIB), memory=16 * GIB, cost=cost, **backed
        )
        for wait, backed in ((1.9, {"backed_bytes": GIB}), (2.1, {"backed_bytes": 2 * GIB}))
    }
    assert after[1.9][1] == pytest.approx(gib)
    assert after[2.1][1] == pytest.approx(gib, rel=0.01)
    small = {"free_blocks": (GIB // PAGE,), "memory": 16 * GIB, "cost": cost}
    kept = seconds(Op("sleep", seconds=100.0), Op("alloc", size=2 * GIB), **small)
    assert kept[1] == pytest.approx(gib), "blocks that small stay"
