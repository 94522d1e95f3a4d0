"""Devices, hosts, links and mounts, and the resources they become.

What it models: a device (disk or memory) with a read and a write rate and a way in which the two sides share:
  total     reads and writes together at most max(read, write), as SimGrid's disks do it
  separate  each side for itself
  time      one head: a byte written costs read/write as much as a byte read
Rates of a disk may depend on the number of streams. A link is one resource for both directions. Processors
are one resource of a nanosecond (a "byte") per nanosecond and core.
Source: SimGrid's disk model (resource layout), README.md of this folder.
Leaves out: latency and requests of disks, seeks, queue depth. A link's latency is used by `wrench` only.
"""

from dataclasses import dataclass, field

from .engine import NS
from .flows import Flow, Network, Points, Resource, capacity_at
from .kernel.settings import Bdi, Cost, MountCost, Vm, Wbt


@dataclass(frozen=True)
class Device:
    read_bytes_per_s: float
    write_bytes_per_s: float
    sharing: str = "total"
    read_at: Points = ()  # (streams, rate), ascending; none: the rate above
    write_at: Points = ()
    per_thread_bytes_per_s: float | None = None  # memory only
    bdi: Bdi = field(default_factory=Bdi)  # these two: disks only, `kernel` only
    wbt: Wbt | None = None


@dataclass(frozen=True)
class Link:
    bytes_per_s: float
    latency_s: float = 0.0


@dataclass(frozen=True)
class Host:
    memory_bytes: int
    memory: Device
    disks: dict[str, Device] = field(default_factory=dict)
    cores: int = 32
    vm: Vm = field(default_factory=Vm)  # these two: `kernel` only
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True)
class Mount:
    """Where the files below a path are: on a disk of a host; seen from another host they come over a link."""

    host: str
    disk: str
    link: str | None = None
    write_through: bool = False
    file_system: str = "ext4"  # these two: `kernel` only
    cost: MountCost = field(default_factory=MountCost)


class Sides:
    """The resources of a device: what a read uses and what a write uses, as [(resource, cost), ...]."""

    def __init__(self, network: Network, name: str, device: Device):
        read = device.read_at or ((1, float(device.read_bytes_per_s)),)
        write = device.write_at or ((1, float(device.write_bytes_per_s)),)
        most = device.per_thread_bytes_per_s

        def add(side: str, points: Points, per_flow_max: float | None = most) -> Resource:
            return network.add(Resource(f"{name}.{side}", points, per_flow_max))

        if device.sharing == "time":
            both = add("time", read)
            self.read = [(both, 1.0)]
            self.write = [(both, capacity_at(read, 1) / capacity_at(write, 1))]
        elif device.sharing == "separate":
            self.read = [(add("read", read), 1.0)]
            self.write = [(add("write", write), 1.0)]
        elif read == write:
            both = add("total", read)
            self.read = self.write = [(both, 1.0)]
        else:
            counts = sorted({n for n, _ in (*read, *write)})
            faster = tuple((n, max(capacity_at(read, n), capacity_at(write, n))) for n in counts)
            total = add("total", faster, per_flow_max=None)
            self.read = [(total, 1.0), (add("read", read), 1.0)]
            self.write = [(total, 1.0), (add("write", write), 1.0)]


class Machine:
    """Hosts, links and mounts as resources: all memory, then all disks, the links, the processors."""

    def __init__(
        self, network: Network, hosts: dict[str, Host], mounts: dict[str, Mount], links: dict[str, Link]
    ):
        self.hosts, self.mounts, self.links = hosts, mounts, links
        self.memory = {name: Sides(network, f"{name}.memory", host.memory) for name, host in hosts.items()}
        self.disk = {
            (name, disk): Sides(network, f"{name}.{disk}", device)
            for name, host in hosts.items()
            for disk, device in host.disks.items()
        }
        self.link = {
            name: network.add(Resource(name, ((1, link.bytes_per_s),))) for name, link in links.items()
        }
        self.processors = {
            name: network.add(
                Resource(f"{name}.cores", ((1, float(host.cores * NS)),), per_flow_max=float(NS))
            )
            for name, host in hosts.items()
        }

    def mount_of(self, path: str) -> Mount:
        """The mount with the longest prefix of the path."""
        return self.mounts[max((m for m in self.mounts if path.startswith(m + "/")), key=len)]

    def is_remote(self, host: str, path: str) -> bool:
        return self.mount_of(path).host != host

    def reading(self, host: str, path: str, size: int) -> Flow:
        """One flow from the disk of a file to a host, over the link where the file is remote."""
        mount = self.mount_of(path)
        return Flow(size, self.disk[mount.host, mount.disk].read + self._way(host, mount))

    def writing(self, host: str, path: str, size: int) -> Flow:
        mount = self.mount_of(path)
        return Flow(size, self.disk[mount.host, mount.disk].write + self._way(host, mount))

    def _way(self, host: str, mount: Mount) -> list[tuple[Resource, float]]:
        return [] if mount.host == host else [(self.link[str(mount.link)], 1.0)]

    def from_memory(self, host: str, size: int) -> Flow:
        return Flow(size, self.memory[host].read)

    def to_memory(self, host: str, size: int) -> Flow:
        return Flow(size, self.memory[host].write)

    def on_link(self, link: str | None, size: int) -> Flow:
        return Flow(size, [(self.link[str(link)], 1.0)])

    def computing(self, host: str, duration_ns: int) -> Flow:
        return Flow(duration_ns, [(self.processors[host], 1.0)])
