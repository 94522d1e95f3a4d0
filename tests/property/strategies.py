"""Random scenarios, small and slow enough that memory fills, blocks expire and flows meet.

A process owns files of its own, which a process that starts after it takes over; besides, all share files that
are never removed. So sizes are known when a program is drawn, and no program fails.
"""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from oracle.machine import Device, Host, Link, Mount
from oracle.scenario import File, Op, Process, Scenario

MB = 10**6
MOST_MB = 2000  # of a file
SHARINGS = st.sampled_from(["total", "separate", "time"])

round_rates = st.sampled_from([50, 100, 200, 400, 500])
odd_rates = st.integers(50 * MB, 500 * MB).map(lambda rate: rate / MB)
sizes = st.one_of(
    st.integers(1, 40).map(lambda n: 25 * MB * n), st.integers(1, 1000 * MB), st.sampled_from([1, 4096, 2_000 * MB])
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
    }
)
"""Of `wrench`."""


def points(draw, rate):
    """Draw rates by number of streams, or none."""
    counts = draw(st.lists(st.integers(1, 6), unique=True, max_size=3).map(sorted))
    return tuple((n, rate * draw(st.sampled_from([0.5, 0.75, 1.0, 1.5]))) for n in counts)


@st.composite
def disks(draw):
    """Draw a disk."""
    rates = st.one_of(round_rates, odd_rates)
    read = draw(rates) * MB
    write = draw(st.one_of(st.just(read), rates.map(lambda rate: rate * MB)))
    varies = draw(st.integers(0, 3)) == 0
    at = (points(draw, read), points(draw, write)) if varies else ((), ())
    return Device(read, write, draw(SHARINGS), *at)


@st.composite
def memories(draw):
    """Draw how fast memory is."""
    rates = st.sampled_from([500 * MB, 1000 * MB, 1234.5 * MB, 4812 * MB])
    read = draw(rates)
    write = draw(st.one_of(st.just(read), rates))
    most = draw(st.one_of(st.none(), st.sampled_from([400 * MB, 900 * MB])))
    return Device(read, write, draw(SHARINGS), per_thread_bytes_per_s=most)


@st.composite
def hosts(draw, disk_names):
    """Draw a host."""
    memory_mb = draw(st.one_of(st.integers(2, 16).map(lambda n: 250 * n), st.integers(500, 4000)))
    cores = draw(st.integers(1, 3))
    return Host(memory_mb * MB, draw(memories()), {name: draw(disks()) for name in disk_names}, cores)


@dataclass
class Owned:
    """What programs know of their files while they are drawn: sizes by path, None if there is no such file."""

    sizes: dict[str, int | None]
    shared: list[str]
    memory_left: list[int] = field(default_factory=list)  # one number for all processes of a host

    def existing(self):
        """Give own files that exist."""
        return [path for path, size in self.sizes.items() if size is not None]


@st.composite
def operations(draw, owned):
    """Draw one operation and note what it does to the files."""
    kinds = ["read", "read", "read", "write", "write", "write", "append", "fsync", "truncate", "unlink", "open"]
    kinds += ["fadvise", "drop_caches", "compute", "sleep", "alloc", "free", "read shared", "write shared", "cut shared"]
    kind = draw(st.sampled_from(kinds))
    if not owned.existing() and kind in ("read", "fsync", "truncate", "unlink", "fadvise"):
        kind = "write"
    if kind in ("compute", "sleep"):
        return Op(kind, seconds=draw(seconds))
    if kind == "drop_caches":
        return Op(kind)
    if kind == "alloc":
        size = min(draw(sizes), owned.memory_left[0])
        owned.memory_left[0] -= size
        return Op(kind, size=size) if size else Op("free")
    if kind == "free":
        return Op(kind, size=draw(st.one_of(st.none(), sizes)))
    if kind.endswith("shared"):
        return draw(on_shared(kind.split()[0], draw(st.sampled_from(owned.shared))))
    path = draw(st.sampled_from(list(owned.sizes) if kind in ("write", "append", "open") else owned.existing()))
    return draw(on_own(kind, path, owned))


@st.composite
def on_shared(draw, kind, path):
    """Draw an operation on a file that others may read and write, but not remove."""
    if kind == "read":
        return Op("read", path)  # all of it, whatever that is now
    if kind == "cut":
        return Op("truncate", path, size=draw(sizes))
    size = draw(sizes)
    return Op("write", path, size, offset=draw(st.integers(0, MOST_MB * MB - size)))


@st.composite
def on_own(draw, kind, path, owned):
    """Draw an operation on a file that nobody else uses at the time."""
    old = owned.sizes[path] or 0
    if kind == "read":
        offset = draw(st.one_of(st.just(0), st.integers(0, old)))
        size = draw(st.one_of(st.none(), st.integers(1, old - offset))) if offset < old else None
        read = Op("read", path, size, offset)
        bytes_read = old - offset if size is None else size
        if bytes_read <= owned.memory_left[0] and draw(st.booleans()):
            owned.memory_left[0] -= bytes_read
            return replace(read, is_fresh=True)
        return read
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
def files(draw, paths, cache_left, host):
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


@st.composite
def scenarios(draw, most_operations=12):
    """Draw a scenario: one or two hosts, one to three processes each."""
    has_two = draw(st.booleans())
    names = ["client", "server"] if has_two else ["machine"]
    disk_names = draw(st.sampled_from([["ssd"], ["ssd", "hdd"]]))
    all_hosts = {name: draw(hosts(disk_names)) for name in names}
    mounts, links = draw(places(names, disk_names))
    shared = [f"{mount}/shared" for mount in mounts if mounts[mount].link or not has_two]
    caches = {name: [all_hosts[name].memory_bytes] for name in names}
    home = {path: draw(st.sampled_from(names)) for path in shared}
    at_start = {path: file for p in shared for path, file in draw(files([p], caches[home[p]], home[p])).items()}
    memory = {name: [all_hosts[name].memory_bytes] for name in names}
    processes, owned = [], {}
    for number in range(draw(st.integers(1, 3 * len(names)))):
        name, host = f"p{number}", draw(st.sampled_from(names))
        mine = [mount for mount, at in mounts.items() if at.host == host or at.link]
        paths = [f"{draw(st.sampled_from(mine))}/{name}.{kind}" for kind in ("a", "b", "new")]
        own = draw(files(paths, caches[host], host))
        at_start |= own
        owned[name] = Owned({p: own[p].size if p in own else None for p in paths}, shared, memory[host])
        after = draw(st.lists(st.sampled_from([p.name for p in processes]), unique=True, max_size=2)) if processes else []
        for before in after:
            for path in [p for p in owned[before].sizes if any(p.startswith(m + "/") for m in mine)]:
                owned[name].sizes[path] = owned[before].sizes.pop(path)
        count = draw(st.integers(0, most_operations))
        program = tuple(draw(operations(owned[name])) for _ in range(count))
        start_s = draw(st.sampled_from([0, 0, 0, 2, 12.5]))
        processes.append(Process(name, program, host, tuple(after), start_s))
    return Scenario(all_hosts, mounts, at_start, tuple(processes), links)


@st.composite
def places(draw, names, disk_names):
    """Draw mounts, and with two hosts a link; "/remote" is seen by both."""
    if len(names) == 1:
        mount = Mount(names[0], disk_names[0], write_through=draw(st.integers(0, 4)) == 0)
        return {"/data": mount, "/other": Mount(names[0], disk_names[-1])}, {}
    link = Link(draw(round_rates) * MB, draw(st.sampled_from([0, 20e-6, 0.001])))
    mounts = {
        "/remote": Mount("server", disk_names[-1], "lan", write_through=draw(st.booleans())),
        "/local": Mount("client", disk_names[0]),
        "/store": Mount("server", disk_names[0]),
    }
    return mounts, {"lan": link}
