"""Random scenarios for `kernel`: one host, memory that fills, limits that bind.

A process owns its files. So sizes are known when a program is drawn, and no program fails. Sizes are parts
of the memory, so that levels cross thresholds. Which kinds of scenarios are left out says `agreement`.
"""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from oracle.kernel.settings import PAGE, Bdi, Cost, MountCost, Vm, Wbt
from oracle.kernel.zones import Watermarks
from oracle.machine import Device, Host, Mount
from oracle.scenario import File, Op, Process, Scenario

MB = 10**6
KIB = 1 << 10
MOST_MOVED = 4000 * MB  # by all processes: bounds the time of the oracle

WRITES = ["write", "append", "write", "overwrite"]
READS = ["read", "read part"]
THINKS = ["compute", "sleep"]
CLASSES = {
    "writes": [*WRITES, *THINKS],
    "cuts": [*WRITES, "unlink", "truncate", "open", *THINKS],
    "frees": [*WRITES, "fsync", "unlink", "truncate", "open", *THINKS],
    "commits": [*WRITES, "fsync", "fsync", *THINKS],
    "reported": [*WRITES, *READS, "unlink", "alloc", "free", *THINKS],
    "fsyncs": [*WRITES, "fsync", "fsync", *THINKS],
    "crowds": [*WRITES, *THINKS],
    "few cores": [*WRITES, *READS, "sleep"],
    "disks": [*WRITES, *READS, "fsync", *THINKS],
    "strict": [*WRITES, *THINKS],
    "wbt": [*WRITES, "fsync", "unlink", "truncate", *THINKS],
    "evictions": ["append", "append", *THINKS],
    "small": [*WRITES, *THINKS],
    "small crowds": [*WRITES, *THINKS],
    "shared": ["overwrite", *READS, "fsync", *THINKS],
    "shared cuts": ["append", "append", "fsync", "fsync", "truncate", "open", *THINKS],
    "timers": [*WRITES, *THINKS],
    "squeezed": [*WRITES, "fsync", "alloc", "alloc", "free", *THINKS],
    "reads": [*READS, *THINKS],
    "drops": [*READS, "drop_caches", *THINKS],
    "memory": [*READS, "read fresh", "alloc", "free", *THINKS],
}
RETURNS = {"returns": [*WRITES, *READS, *READS, *THINKS]}
"""Here writes evict, and processes come back to what was evicted, or just is."""
WRITING = (
    "writes",
    "cuts",
    "frees",
    "commits",
    "reported",
    "fsyncs",
    "crowds",
    "few cores",
    "disks",
    "strict",
    "wbt",
    "small",
    "small crowds",
    "shared",
    "shared cuts",
    "timers",
    "squeezed",
)
ALONE = ("writes", "cuts", "frees", "fsyncs", "wbt", "small")
"""There files stay in memory, and here there is a single process: `agreement` says why."""
SHARED = ("shared", "shared cuts")
"""Here processes use the same files."""

rates = st.one_of(st.sampled_from([50, 100, 200, 400, 500]), st.integers(50, 500)).map(lambda rate: rate * MB)
memory_sizes = st.one_of(st.sampled_from([1000, 2000, 4000, 8000]), st.integers(1000, 8000)).map(
    lambda size: size * MB
)
parts = st.one_of(st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5]), st.floats(0.002, 0.5))
calls = st.sampled_from([None, 4 * KIB, 64 * KIB, 1000 * KIB, 10 * MB])
seconds = st.one_of(st.sampled_from([0.5, 1.0, 3.0]), st.integers(1, 3_000).map(lambda ms: ms / 1000))


@st.composite
def disks(draw: st.DrawFn, bdi: Bdi, has_wbt: bool) -> Device:
    read = draw(rates)
    write = draw(st.one_of(st.just(read), rates))
    wbt = Wbt(draw(st.sampled_from([32, 64, 128, 256]))) if has_wbt else None
    return Device(read, write, draw(st.sampled_from(["total", "separate", "time"])), bdi=bdi, wbt=wbt)


strict_bdis = st.tuples(st.sampled_from([0, 5, 20]), st.sampled_from([20, 50, 100])).map(
    lambda ratios: Bdi(min_ratio=ratios[0], max_ratio=ratios[1], strict_limit=True)
)


@st.composite
def costs(draw: st.DrawFn) -> Cost:
    if draw(st.booleans()):
        return Cost()
    return Cost(
        call_s=draw(st.sampled_from([0.0, 1e-6])),
        page_insert_s=draw(st.sampled_from([0.0, 0.4e-6, 1e-6])),
        page_lookup_s=draw(st.sampled_from([0.0, 0.1e-6])),
        fault_s=draw(st.sampled_from([0.0, 0.2e-6])),
        copy_read_bytes_per_s=draw(st.sampled_from([2e9, 5e9])),
        copy_write_bytes_per_s=draw(st.sampled_from([2e9, 5e9])),
        flushing_factor=draw(st.sampled_from([1.0, 1.0, 0.5, 0.8])),
    )


@st.composite
def mount_costs(draw: st.DrawFn, name: str) -> MountCost:
    """Draw what is long beside what times may differ by."""
    if name == "commits":
        return MountCost(commit_s=draw(st.sampled_from([0.5, 2.0])))
    if name == "frees":
        return MountCost(
            block_free_s=draw(st.sampled_from([5e-6, 50e-6])),
            file_free_s=draw(st.sampled_from([0.0, 1.0])),
        )
    return MountCost()


def small_limits(*megabytes: int) -> st.SearchStrategy[Vm]:
    return st.tuples(st.sampled_from(megabytes), st.sampled_from([2, 3])).map(
        lambda drawn: Vm(dirty_bytes=drawn[0] * MB, dirty_background_bytes=drawn[0] * MB // drawn[1])
    )


timers = st.tuples(st.sampled_from([100, 200, 1000]), st.sampled_from([300, 1000])).map(
    lambda drawn: Vm(dirty_writeback_centisecs=drawn[0], dirty_expire_centisecs=drawn[1])
)


@st.composite
def settings(draw: st.DrawFn, name: str) -> Vm:
    if name == "small":
        return draw(small_limits(20, 40, 100))
    if name == "small crowds":
        return draw(small_limits(40, 100))
    if name == "timers":
        return draw(timers)
    if draw(st.booleans()):
        return Vm()
    ratio = draw(st.sampled_from([20, 40]))
    in_bytes = draw(st.booleans()) and name not in ("strict", *RETURNS)
    return Vm(
        dirty_ratio=ratio,
        dirty_background_ratio=draw(st.sampled_from([ratio // 4 + 1, ratio // 2, ratio])),
        dirty_bytes=draw(st.sampled_from([200 * MB, 600 * MB])) if in_bytes else 0,
        dirty_background_bytes=draw(st.sampled_from([50 * MB, 150 * MB])) if in_bytes else 0,
        watermark_scale_factor=draw(st.sampled_from([10, 10, 100])),
    )


@dataclass
class Owned:
    """What is known while programs are drawn: sizes by path (None: no such file), and the budgets."""

    sizes: dict[str, int | None]
    budget: "Budget"
    kinds: list[str]

    def existing(self) -> list[str]:
        return [path for path, size in self.sizes.items() if size]


@dataclass
class Budget:
    memory: int
    anonymous: int = field(default=0)
    room: int | None = field(default=None)  # for new pages, if they must not be evicted
    moved: int = field(default=0)

    def move(self, size: int) -> bool:
        """Whether so much may still be read or written."""
        if self.moved + size > MOST_MOVED or (self.room is not None and self.room < size):
            return False
        if self.room is not None:
            self.room -= size
        self.moved += size
        return True

    def take(self, size: int) -> bool:
        """Whether so much anonymous memory may be taken: half of the memory is left to the cache."""
        if self.anonymous + size > self.memory // 2:
            return False
        self.anonymous += size
        return True


OF_FILES_THERE = ("overwrite", "read", "read part", "read fresh", "truncate", "unlink", "fsync")


@st.composite
def operations(draw: st.DrawFn, owned: Owned) -> Op:
    kind, budget = draw(st.sampled_from(owned.kinds)), owned.budget
    if kind in OF_FILES_THERE and not owned.existing():
        kind = "write"
    size = int(draw(parts) * budget.memory) + draw(st.sampled_from([0, 0, 1]))
    rest = Op("compute" if "compute" in owned.kinds else "sleep", seconds=draw(seconds))
    if kind in ("compute", "sleep"):
        return Op(kind, seconds=draw(seconds))
    if kind == "drop_caches":
        return Op(kind)
    if kind == "alloc":
        return Op(kind, size=size) if budget.take(size) else rest
    if kind == "free":
        return Op(kind, size=draw(st.one_of(st.none(), st.just(size))))
    call = draw(calls)
    path = draw(
        st.sampled_from(list(owned.sizes) if kind in ("write", "append", "open") else owned.existing())
    )
    old = owned.sizes[path] or 0
    if kind in ("write", "append"):
        if not budget.move(size):
            return rest
        offset = old if kind == "append" else 0
        owned.sizes[path] = max(old, offset + size)
        return Op("write", path, size, None if kind == "append" else 0, call_bytes=call)
    if kind == "overwrite":
        size = min(size, old)
        # Who begins within a page has each page that his calls share read first: the oracle does not.
        offset = draw(st.integers(0, old - size)) // PAGE * PAGE
        return Op("write", path, size, offset, call_bytes=call) if budget.move(size) else rest
    if kind == "read part":
        size = min(size, old)
        offset = draw(st.integers(0, old - size))
        return Op("read", path, size, offset, call_bytes=call) if budget.move(size) else rest
    if kind == "read":
        return Op("read", path, call_bytes=call) if budget.move(old) else rest
    if kind == "read fresh":
        if budget.take(old):
            return Op("read", path, is_fresh=True, call_bytes=call) if budget.move(old) else rest
        return Op("free")
    if kind == "open":
        owned.sizes[path] = 0
        return Op("open", path, truncates=True)
    if kind == "truncate":
        owned.sizes[path] = draw(st.integers(0, old))
        return Op(kind, path, size=owned.sizes[path])
    if kind == "unlink":
        owned.sizes[path] = None
    return Op(kind, path)


@st.composite
def scenarios(draw: st.DrawFn, name: str) -> Scenario:
    """Draw a scenario of a class."""
    kinds, is_writing = {**CLASSES, **RETURNS}[name], name in WRITING
    memory = draw(memory_sizes)
    bdis = {"ssd": Bdi()}
    if name in ("disks", "strict"):
        bdis["hdd"] = draw(strict_bdis) if name == "strict" else Bdi()
    disk_names = list(bdis)
    cost = draw(costs().filter(lambda cost: name != "few cores" or cost != Cost()))
    if name == "reported":
        cost = replace(cost, page_reported_s=draw(st.sampled_from([1e-6, 4e-6])))
    rate = draw(st.sampled_from([2e9, 4e9, 8e9])) if cost == Cost() else 40e9
    host = Host(
        memory,
        Device(rate, rate),
        {disk: draw(disks(bdi, has_wbt=name == "wbt")) for disk, bdi in bdis.items()},
        cores=draw(st.sampled_from([1, 2] if name == "few cores" else [4, 16])),
        vm=draw(settings(name)),
        cost=cost,
    )
    file_system = draw(st.sampled_from(["ext4", "xfs"])) if name == "wbt" else "ext4"
    mount_cost = draw(mount_costs(name))
    mounts = {
        "/data": Mount("machine", disk_names[0], file_system=file_system, cost=mount_cost),
        "/other": Mount("machine", disk_names[-1], file_system=file_system, cost=mount_cost),
    }
    files: dict[str, File] = {}
    cache_left = memory // 2
    budget = Budget(memory, room=int(0.4 * memory) if is_writing else None)
    processes = []
    for number in range(draw(st.just(1) if name in ALONE else st.integers(1, 3))):
        process = f"p{number}"
        owner = "all" if name in SHARED else process
        names = (f"{owner}.a", f"{owner}.b", f"{process}.new")
        paths = [f"{draw(st.sampled_from(list(mounts)))}/{each}" for each in names]
        sizes: dict[str, int | None] = dict.fromkeys(paths)
        for path in paths[:2]:
            if path in files:
                sizes[path] = files[path].size
                continue
            size = int(draw(parts) * memory)
            cached = min(draw(st.sampled_from([0, size // 2, size])), cache_left)
            cache_left -= cached
            files[path], sizes[path] = File(size, cached), size
        owned = Owned(sizes, budget, kinds)
        program = tuple(draw(operations(owned)) for _ in range(draw(st.integers(1, 6))))
        # Of two who append at the same nanosecond, who is first is chance; or who come to the end of a small
        # free run: the oracle gives 0.73 s for 20 MB then, and 0.02 s if the other begins 1 ms later.
        later_s = 0.013 * number if name in (*SHARED, "strict") else 0
        start_s = draw(st.sampled_from([0, 0, 0, 2, 12.5])) + later_s
        processes.append(Process(process, program, start_s=start_s))
    return Scenario({"machine": host}, mounts, files, tuple(processes))


@st.composite
def rereads(draw: st.DrawFn) -> Scenario:
    """Draw files that are read again and again, most of them together larger than the memory."""
    shares = draw(st.lists(st.floats(0.1, 0.9), min_size=2, max_size=4))
    return reading_again(shares, draw(st.lists(st.integers(0, len(shares) - 1), min_size=2, max_size=12)))


@st.composite
def barely_fitting(draw: st.DrawFn) -> Scenario:
    """Draw two files that are read in turn, together as large as what the cache can hold, or nearly."""
    first, both = draw(st.floats(0.01, 0.9)), draw(st.floats(0.9, 0.98))
    return reading_again([first, both - first], [0, 1] * draw(st.integers(1, 4)))


def reading_again(shares: list[float], order: list[int]) -> Scenario:
    """Give a process that reads files of these parts of the memory in this order."""
    memory = 1000 * MB
    disk = Device(500 * MB, 500 * MB)
    host = Host(memory, Device(8e9, 8e9), {"ssd": disk}, cores=4)
    paths = [f"/data/p0.{number}" for number in range(len(shares))]
    files = {path: File(int(share * memory)) for path, share in zip(paths, shares, strict=True)}
    program = tuple(Op("read", paths[number]) for number in order)
    return Scenario({"machine": host}, {"/data": Mount("machine", "ssd")}, files, (Process("p0", program),))


@st.composite
def hoards(draw: st.DrawFn) -> Scenario:
    """Draw a process that takes all memory down to the min mark beside files, or a little more or less."""
    memory = draw(st.sampled_from([128, 200, 512])) * MB
    vm = Vm(min_free_kbytes=draw(st.sampled_from([None, 4096, 16384])))
    host = Host(memory, Device(8e9, 8e9), {"ssd": Device(500 * MB, 500 * MB)}, cores=4, vm=vm)
    files = {"/data/p0.a": File(memory // 4, draw(st.sampled_from([0, memory // 4])))}
    before = draw(st.lists(st.sampled_from(["read", "write"]), max_size=2))
    program = [Op(kind, "/data/p0.a", memory // 4) for kind in before]
    wanted = memory - Watermarks.of(memory, vm).min * PAGE + draw(st.sampled_from([-20, -1, 1, 20])) * MB
    first = int(draw(st.sampled_from([0.0, 0.3, 0.9])) * wanted)
    program += [Op("alloc", size=size) for size in (first, wanted - first) if size]
    return Scenario(
        {"machine": host}, {"/data": Mount("machine", "ssd")}, files, (Process("p0", tuple(program)),)
    )
