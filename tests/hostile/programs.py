"""Arguments of the Python interface that nobody expects."""

__all__ = ["CALLS", "NOT_THERE", "PREPARED", "VALUES"]

PREPARED = """\
import os, math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
import numpy as np
import pagecast as pc
from pagecast import cache, cawl, plot
MACHINE = pc.load_machine("wrench-cluster-published")
def app():
    yield pc.write("/data/out", size_bytes=1e6)
def scenario(**more):
    return pc.Scenario(MACHINE, processes={"app": app}, **more)
def done(operation):
    prepared = pc.Scenario(MACHINE, processes={"app": [operation]}, files={"/data/in": 10e6})
    return pc.simulate(prepared, model="no-cache")
SYSCALL = dict(bw_ramdisk=2e9, bw_reduced=1e9, bw_dev=500e6, limit_bg=4e9, limit_hard=8e9)
"""
"""What each call may use."""

VALUES = [
    "10**400",
    "-1",
    "1.5",
    'float("nan")',
    '""',
    'b"x"',
    "object()",
    'float("inf")',
    '"\\udce9"',
    "[]",
    "-10**400",
    '"a\\0b"',
    "2**63",
    "10**5000",
    "1j",
    "(lambda: 0)",
    "{}",
    'Decimal("NaN")',
    "np.array([1, 2])",
    "Fraction(10**400, 3)",
    "range(3)",
    '"x" * 1_000_000',
    "Ellipsis",
    '["/data/in"]',
    "2**64",
    "-0.5",
    "1e308",
    "int",
    '" \\n"',
    "-float('inf')",
]
"""What is given instead of an argument, one after the other."""

CALLS = [
    'done(pc.read(«"/data/in"», offset_bytes=«0», size_bytes=«1e6», call_bytes=«4096», vector=«1», '
    'buffer=«"reused"»))',
    'done(pc.write(«"/data/x"», size_bytes=«1e6», offset_bytes=«0», append=«False», '
    "call_bytes=«4096», vector=«1»))",
    'done(pc.copy(«"/data/in"», «"/data/x"», by=«"sendfile"», offset_bytes=«0», size_bytes=«1e6», '
    "call_bytes=«4096»))",
    'done(pc.open(«"/data/in"», create=«True», truncate=«True», flags=«["O_SYNC"]»))',
    'done(pc.fadvise(«"/data/in"», advice=«"dontneed"», offset_bytes=«0», size_bytes=«1e6»))',
    'done(pc.sync_file_range(«"/data/in"», flags=«["WRITE"]», offset_bytes=«0», size_bytes=«1e6»))',
    'done(pc.readahead(«"/data/in"», offset_bytes=«0», size_bytes=«1e6»))',
    'done(pc.truncate(«"/data/in"», size_bytes=«1e6»))',
    "done(pc.fsync(«'/data/in'»))",
    "done(pc.syncfs(«'/data'»))",
    "done(pc.unlink(«'/data/in'»))",
    "done(pc.compute(«1.0»))",
    "done(pc.sleep(«1.0»))",
    "done(pc.alloc(«1e6»))",
    "done(pc.free(«1e6»))",
    "done(pc.signal(«'done'»))",
    "pc.wait(«'done'»)",
    "pc.mmap_read(«'/data/in'», offset_bytes=«0», size_bytes=«1e6», advice=«'random'»)",
    "pc.msync(«'/data/in'», offset_bytes=«0», size_bytes=«1e6», is_async=«True»)",
    "pc.fopen(«'/data/in'», mode=«'r'», stream=«'c'», buffer_bytes=«4096»)",
    "pc.fwrite(«'/data/x'», size_bytes=«1e6», offset_bytes=«0», call_bytes=«4096»)",
    "pc.setvbuf(«'/data/x'», size_bytes=«4096»)",
    "pc.File(size_bytes=«1e6», cached_bytes=«1e5», dirty_bytes=«1e4», host=«None»); 0",
    "scenario(files={«'/data/in'»: «1e6»})",
    "scenario(files={'/data/in': pc.File(size_bytes=«1e6», cached_bytes=«1e5», dirty_bytes=«1e4», "
    "host=«None»)})",
    "scenario(files=«None»)",
    "pc.Scenario(«MACHINE», processes=«{'app': app}»)",
    "pc.Scenario(MACHINE, processes={«'app'»: «app»})",
    "pc.Scenario(MACHINE, processes={'a': app, 'b': pc.Process(app, after=«['a']», start_s=«1.0», "
    "host=«None», cgroup=«None»)})",
    "pc.Scenario(MACHINE, processes={'a': pc.Process(app, slots=«1», hosts=«()», priority=«0»)})",
    "pc.simulate(pc.Scenario(MACHINE, processes={'a': lambda: «[]»}))",
    "pc.simulate(pc.Scenario(MACHINE, processes={'a': lambda: iter([«pc.compute(1)»])}))",
    "pc.simulate(«scenario()», model=«'no-cache'», seed=«0», residency=«'end'», threads=«1», "
    "progress=«None»)",
    "pc.simulate(scenario(), model='no-cache', uncertain=«2»)",
    "pc.simulate(scenario(), model='wrench', options=«{}»)",
    "pc.simulate(scenario(), model='wrench', options={«'chunk'»: «'100 MB'»})",
    "pc.Scenario.from_toml(«'x = 1'», origin=«'here'», base_dir=«'.'», set=«[]»)",
    "pc.Scenario.load(«'x.toml'», set=«[]»)",
    "scenario().with_memory(«10**9»)",
    "pc.simulate(scenario().in_cgroup(«10**9», version=«2», name=«'own'»))",
    "pc.load_machine(«'wrench-cluster'»)",
    "pc.simulate(scenario(), model='no-cache').table(«'operations'»)",
    "pc.simulate(scenario(), model='no-cache').save(«'results'»)",
    "plot.timeline(pc.simulate(scenario(), model='no-cache'), host=«None»)",
    "plot.gantt(pc.simulate(scenario(), model='no-cache'), by=«'process'»)",
    "pc.run(«scenario()», dir=«'nowhere'», keep=«False», sample_hz=«20», trace=«False», "
    "residency=«'end'», per_call=«1», record=«'all'»)",
    "pc.validate(«scenario()», dir=«'nowhere'», runs=«1», models=«['kernel']», sample_hz=«20»)",
    "pc.bench(«'nowhere'», calls=«[4096]», threads=«[1]», modes=«['direct']», accesses=«['read-cold']», "
    "size_bytes=«4096», "
    "repetitions=«1», limit_s=«1.0»)",
    "pc.bench('nowhere', settings=«{}», device=«None»)",
    "pc.calibrate(«'nowhere'», effort=«'quick'», ftrace=«False»)",
    "cache.find(«['nowhere']», follow=«False», one_file_system=«False»)",
    "cache.status(«['/proc/version']», method=«'mincore'», cells=«1»)",
    "cache.evict(«'nowhere'», sync=«True», method=«None»)",
    "cache.warm(«'nowhere'», method=«None»)",
    "cache.cold(«'nowhere'», «['true']», runs=«1», memory_bytes=«None», show_output=«False»)",
    "cawl.DirectCost(bw_dev=«500e6», sc_sw=«1e-6», c_sk=«0.0»).write(«0», «1e6»)",
    "cawl.DirectCost(bw_dev=500e6, sc_sw=1e-6).write_all(«[0]», «[1e6]»)",
    "cawl.SyncCost(bw_ramdisk=«2e9», bw_dev=«5e8», bw_rdev=«1e9», sc_sw=«1e-6», bs=«512», partial=«'block'»)",
    "cawl.SyscallCost(**SYSCALL).write(«0», «1e6», pause_s=«0.1», file=«0»)",
    "cawl.SyscallCost(**{**SYSCALL, 'dirty_expire': «30.0», 'throttling': «'minimum'», 'limit_bg': «4e9»})",
    "cawl.SyscallCost(**SYSCALL).write_all([0], [1e6], pause_s=«0.1», file=«0»)",
    "cawl.LibraryCost(cawl.SyscallCost(**SYSCALL), bw_mem=«8e9», bf=«4096», "
    "when_full=«'now'»).write(«512», at_s=«1.0»)",
    'done(pc.read("/data/in", size_bytes=1e6, call_bytes=«4096», pattern=«pc.Pattern()»))',
    'done(pc.write("/data/x", size_bytes=1e6, call_bytes=4096, pattern=pc.Pattern(«"uniform"», once=«True», '
    "backwards=«False», stride_bytes=«None», within_bytes=«1e6», writes=«0», depth=«4», by=«'libaio'», "
    "rate_bytes_per_s=«None», rate_iops=«1000», for_s=«0.1», seed=«3»)))",
    "done(pc.read('/data/in').asynchronous(depth=«4», by=«'io_uring'»).not_before(«1.0»))",
]
"""Valid calls, whose arguments are replaced one by one."""

NOT_THERE = ("nowhere", "'x.toml'", "'x = 1'", "/proc/version")
"""Calls that name one of these are refused also as they are: nothing real is measured."""
