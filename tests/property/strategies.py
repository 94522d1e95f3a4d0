"""Random scenarios, small and slow enough that memory fills, blocks expire and flows meet.

A process owns files of its own, which a process that starts after it takes over; besides, all share files
that are never removed. So sizes are known when a program is drawn, and no program fails.
"""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from oracle.flows import Points
from oracle.kernel.settings import PAGE
from oracle.kernel.zones import Watermarks
from oracle.machine import Device, Host, Link, Mount
from oracle.scenario import File, Op, Process, Scenario

MB = 10**6
MOST_MB = 2000  # of a file
LEAST_ROOM = 25 * MB
KINDS = ["read", "write", "read", "write", "read", "write", "append", "fsync", "truncate", "unlink", "open"]
KINDS += ["fadvise", "drop_caches", "compute", "sleep", "alloc", "free"]
KINDS += ["read shared", "write shared", "cut shared"]
BUSY_KINDS = [
    "read",
    "write",
    "read shared",
    "read",
    "append",
    "read shared",
]  # memory fills and is used again
SHARINGS = st.sampled_from(["total", "separate", "time"])

round_rates = st.sampled_from([50, 100, 200, 400, 500])
odd_rates = st.integers(50 * MB, 500 * MB).map(lambda rate: rate / MB)
sizes = st.one_of(
    st.integers(1, 40).map(lambda n: 25 * MB * n),
    st.integers(1, 1000 * MB),
    st.sampled_from([1, 4096, 2_000 * MB]),
)
seconds = st.one_of(
    st.sampled_from([0.5, 1.0, 5.0, 30.0]), st.integers(0, 40 * 10**9).map(lambda ns: ns / 10**9)
)
options = st.fixed_dictionaries(
    {
        "chunk_bytes": st.sampled_from([25 * MB, 50 * MB, 100 * MB, 33_333_333]),
        "vintage": st.sampled_from(["camera_ready", "v1"]),
        "dirty_ratio": st.sampled_from([0.1, 0.2, 0.4, 0.8]),
        "flush_period_s": st.sampled_from([1, 5, 7.5]),
        "dirty_expiry_s": st.sampled_from([0, 2, 10, 30]),
        "remote_memory": st.sampled_from(["client", "server"]),
    }
)
"""Of `wrench`."""


def points(draw: st.DrawFn, rate: float) -> Points:
    """Draw rates by number of streams, or none."""
    counts = draw(st.lists(st.integers(1, 6), unique=True, max_size=3).map(sorted))
    return tuple((n, rate * draw(st.sampled_from([0.5, 0.75, 1.0, 1.5]))) for n in counts)


@st.composite
def disks(draw: st.DrawFn) -> Device:
    """Draw a disk."""
    rates = st.one_of(round_rates, odd_rates)
    read = draw(rates) * MB
    write = draw(st.one_of(st.just(read), rates.map(lambda rate: rate * MB)))
    varies = draw(st.integers(0, 3)) == 3
    at = (points(draw, read), points(draw, write)) if varies else ((), ())
    return Device(read, write, draw(SHARINGS), *at)


@st.composite
def memories(draw: st.DrawFn) -> Device:
    """Draw how fast memory is."""
    rates = st.sampled_from([500 * MB, 1000 * MB, 1234.5 * MB, 4812 * MB])
    read = draw(rates)
    write = draw(st.one_of(st.just(read), rates))
    most = draw(st.one_of(st.none(), st.sampled_from([400 * MB, 900 * MB])))
    return Device(read, write, draw(SHARINGS), per_thread_bytes_per_s=most)


@st.composite
def hosts(draw: st.DrawFn, disk_names: list[str]) -> Host:
    """Draw a host."""
    memory_mb = draw(st.one_of(st.integers(2, 16).map(lambda n: 250 * n), st.integers(500, 4000)))
    cores = draw(st.integers(1, 3))
    return Host(memory_mb * MB, draw(memories()), {name: draw(disks()) for name in disk_names}, cores)


@dataclass
class Owned:
    """What a program knows of its files while it is drawn: sizes by path, None if there is no such file."""

    sizes: dict[str, int | None]
    shared: list[str]
    kinds: list[str]
    memory_left: list[int] = field(default_factory=list)  # one number for all processes of a host

    def existing(self) -> list[str]:
        """Give own files that exist."""
        return [path for path, size in self.sizes.items() if size is not None]

    def take_memory(self, size: int, must: bool = False) -> int:
        """Take anonymous memory; all there is if `must`. Leaves none rather than a little.

        With room for a few bytes a large write takes as many flushes as it has bytes.
        """
        [left] = self.memory_left
        if left - size < LEAST_ROOM:
            size = left if must else 0
        self.memory_left[0] -= size
        return size

    def take_over(self, other: "Owned", mounts: list[str]) -> None:
        """Become the owner of another program's files, where they can be seen."""
        for path in [path for path in other.sizes if path.startswith(tuple(f"{mount}/" for mount in mounts))]:
            self.sizes[path] = other.sizes.pop(path)


@st.composite
def operations(draw: st.DrawFn, owned: Owned) -> Op:
    """Draw one operation and note what it does to the files."""
    kind = draw(st.sampled_from(owned.kinds))
    if not owned.existing() and kind in ("read", "fsync", "truncate", "unlink", "fadvise"):
        kind = "write"
    if kind in ("compute", "sleep"):
        return Op(kind, seconds=draw(seconds))
    if kind == "drop_caches":
        return Op(kind)
    if kind == "alloc":
        size = owned.take_memory(draw(sizes), must=True)
        return Op(kind, size=size) if size else Op("free")
    if kind == "free":
        return Op(kind, size=draw(st.one_of(st.none(), sizes)))
    if kind.endswith("shared"):
        return draw(on_shared(kind.split()[0], draw(st.sampled_from(owned.shared))))
    makes_it = kind in ("write", "append", "open")
    path = draw(st.sampled_from(list(owned.sizes) if makes_it else owned.existing()))
    return draw(on_own(kind, path, owned))


@st.composite
def on_shared(draw: st.DrawFn, kind: str, path: str) -> Op:
    """Draw an operation on a file that others may read and write, but not remove."""
    if kind == "read":
        return Op("read", path)  # all of it, whatever that is now
    if kind == "cut":
        return Op("truncate", path, size=draw(sizes))
    size = draw(sizes)
    return Op("write", path, size, offset=draw(st.integers(0, MOST_MB * MB - size)))


@st.composite
def on_own(draw: st.DrawFn, kind: str, path: str, owned: Owned) -> Op:
    """Draw an operation on a file that nobody else uses at the time."""
    old = owned.sizes[path] or 0
    if kind == "read":
        offset = draw(st.one_of(st.just(0), st.integers(0, old)))
        size = draw(st.one_of(st.none(), st.integers(1, old - offset))) if offset < old else None
        read = Op("read", path, size, offset)
        bytes_read = old - offset if size is None else size
        return replace(read, is_fresh=draw(st.booleans()) and owned.take_memory(bytes_read) == bytes_read)
    if kind in ("write", "append"):
        size = draw(sizes)
        offset = None if kind == "append" else draw(st.one_of(st.just(0), st.integers(0, old)))
        owned.sizes[path] = max(old, (old if offset is None else offset) + size)
        return Op("write", path, size, offset)
    if kind == "open":
        truncates = draw(st.booleans())
        owned.sizes[path] = 0 if truncates else old
        return Op("open", path, truncates=truncates)
    if kind == "truncate":
        owned.sizes[path] = draw(st.one_of(st.just(0), st.integers(0, old + 100 * MB)))
        return Op(kind, path, size=owned.sizes[path])
    if kind == "unlink":
        owned.sizes[path] = None
    return Op(kind, path)


@st.composite
def files(draw: st.DrawFn, paths: list[str], cache_left: list[int], host: str) -> dict[str, File]:
    """Draw files at time 0, some of them partly cached; not all are there."""
    drawn = {}
    for path in paths:
        if path.endswith("new"):
            continue
        size = draw(sizes)
        cached = draw(st.one_of(st.just(0), st.integers(0, size)))
        cached = min(cached, cache_left[0])
        cache_left[0] -= cached
        drawn[path] = File(size, cached, host)
    return drawn


def most_anonymous(host: Host, fills_memory: bool) -> int:
    """How much memory programs may take."""
    if fills_memory:
        return host.memory_bytes
    return host.memory_bytes - Watermarks.of(host.memory_bytes, host.vm).min * PAGE - LEAST_ROOM


@st.composite
def scenarios(
    draw: st.DrawFn,
    most_hosts: int = 2,
    most_processes: int = 3,
    most_operations: int = 12,
    *,
    fills_memory: bool = True,
) -> Scenario:
    """Draw a scenario; `most_processes` is per host.

    Programs may take all memory unless `fills_memory` is false: under `kernel` they would run out of it.
    """
    names = ["client", "server"] if most_hosts > 1 and draw(st.booleans()) else ["machine"]
    disk_names = draw(st.sampled_from([["ssd"], ["ssd", "hdd"]]))
    all_hosts = {name: draw(hosts(disk_names)) for name in names}
    mounts, links = draw(places(names, disk_names))
    memory = {name: [most_anonymous(host, fills_memory)] for name, host in all_hosts.items()}
    caches = {name: [host.memory_bytes] for name, host in all_hosts.items()}
    shared = [f"{mount}/shared" for mount, at in mounts.items() if at.link or len(names) == 1]
    at_start: dict[str, File] = {}
    for path in shared:
        home = draw(st.sampled_from(names))
        at_start |= draw(files([path], caches[home], home))
    kinds = draw(st.sampled_from([KINDS, BUSY_KINDS]))
    processes: list[Process] = []
    owned: dict[str, Owned] = {}
    for number in range(draw(st.integers(1, most_processes * len(names)))):
        name, host = f"p{number}", draw(st.sampled_from(names))
        visible = [mount for mount, at in mounts.items() if at.host == host or at.link]
        paths = [f"{draw(st.sampled_from(visible))}/{name}.{kind}" for kind in ("a", "b", "new")]
        own = draw(files(paths, caches[host], host))
        at_start |= own
        owned[name] = Owned(
            {p: own[p].size if p in own else None for p in paths}, shared, kinds, memory[host]
        )
        earlier = [process.name for process in processes]
        after = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2)) if earlier else []
        for before in after:
            owned[name].take_over(owned[before], visible)
        program = tuple(draw(operations(owned[name])) for _ in range(draw(st.integers(1, most_operations))))
        start_s = draw(st.sampled_from([0, 0, 0, 2, 12.5]))
        processes.append(Process(name, program, host, tuple(after), start_s))
    return Scenario(all_hosts, mounts, at_start, tuple(processes), links)


@st.composite
def places(
    draw: st.DrawFn, names: list[str], disk_names: list[str]
) -> tuple[dict[str, Mount], dict[str, Link]]:
    """Draw mounts, and with two hosts a link; "/remote" is seen by both."""
    if len(names) == 1:
        mount = Mount(names[0], disk_names[0], write_through=draw(st.integers(0, 4)) == 4)
        return {"/data": mount, "/other": Mount(names[0], disk_names[-1])}, {}
    link = Link(draw(round_rates) * MB, draw(st.sampled_from([0, 20e-6, 0.001])))
    mounts = {
        "/remote": Mount("server", disk_names[-1], "lan", write_through=draw(st.booleans())),
        "/local": Mount("client", disk_names[0]),
        "/store": Mount("server", disk_names[0]),
    }
    return mounts, {"lan": link}
