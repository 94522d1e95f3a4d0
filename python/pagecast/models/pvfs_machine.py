"""Keys of a cluster as values of the nets of PVFS: hosts, striped mounts, network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pagecast.models.machine import mount_of, quantity, read_values, write_values
from pagecast.models.programs import Operation
from pagecast.models.refusal import Refusal

__all__ = ["Cluster", "cluster_of"]

STRIP_BYTES: Final = 65_536
"""The default of `layout.strip_size`."""

GIGABIT: Final = "1gbe"
GIGABIT_BYTES_PER_S: Final = 125e6
MTU_BYTES: Final = 1500
HEADER_INSIDE_BYTES: Final = 52
HEADER_BESIDE_BYTES: Final = 38
"""As `transport = "1gbe"` has them (docs/concepts/network.md)."""

LINKS: Final = 2
"""A message of a star crosses so many links, each with its latency."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Clients and servers that are alike.

    Attributes
    ----------
    clients, servers : tuple of str
        Names of hosts.
    client, server, disk, mount : mapping
        Tables of the first client, of the first server, and of the disk and mount of that.
    strip_bytes, memory_bytes : int
        The memory of a server.
    wire : mapping of str to int
        Values of the network.
    """

    clients: tuple[str, ...]
    servers: tuple[str, ...]
    client: Mapping[str, Any]
    server: Mapping[str, Any]
    disk: Mapping[str, Any]
    mount: Mapping[str, Any]
    strip_bytes: int
    memory_bytes: int
    wire: Mapping[str, int]

    def values(self, kind: str) -> dict[str, Any]:
        """Give the values of a net. No key of a machine has the times of the clients' stacks: they are 0.

        Parameters
        ----------
        kind : {"read", "write"}

        Returns
        -------
        dict of str to int or str
        """
        of_server = (
            read_values(self.server, self.disk)
            if kind == "read"
            else write_values(self.server, self.disk, self.mount)
        )
        prefetch = {"window_pages": of_server["prefetch_pages"]} if kind == "read" else {}
        return {
            **of_server,
            **prefetch,
            **self.wire,
            "strip_bytes": self.strip_bytes,
            "start_ns": 0,
            "build_ns": round(1e9 * quantity(self.client["memory"].get("cost", {}), "call")),
            "gather_ns": 0,
            "segment_ns": 0,
            "search_ns": round(1e9 * quantity(self.server.get("nfsd", {}), "search")),
        }


def cluster_of(
    operations: Sequence[Operation],
    hosts: Mapping[str, Any],
    network: Mapping[str, Any],
    refusal: Refusal,
) -> Cluster:
    """Give the clients and servers of some reads and writes.

    Parameters
    ----------
    operations : sequence of Operation
    hosts, network : mapping
        Tables of the machine.
    refusal : Refusal
        Takes what the nets have not.

    Returns
    -------
    Cluster

    Raises
    ------
    ScenarioError
        There is nothing to play.
    """
    mounts = []
    for operation in operations:
        found = mount_of(hosts[operation.host], operation.path)
        if found is None or "striped" not in found[1]:
            refusal.add(f"{operation.path} of {operation.host} is not striped as the files of the others are")
        else:
            mounts.append(found[1])
    if not mounts:
        refusal.add("no process reads or writes a striped file")
        refusal.check()
    _check_mounts(mounts, refusal)
    refusal.check()
    clients = tuple(dict.fromkeys(operation.host for operation in operations))
    places = [text.partition(":") for text in mounts[0]["striped"]]
    servers = tuple(name for name, _, _ in places)
    _check_hosts(clients, servers, hosts, refusal)
    first, _, path = places[0]
    found = mount_of(hosts[first], path)
    mount = {} if found is None else found[1]
    if mount.get("type", "ext4") != "ext3":
        refusal.add(f'{first}:{path} is of type "{mount.get("type", "ext4")}"; the nets are of "ext3"')
    wire = _wire(network, refusal)
    refusal.check()
    return Cluster(
        clients,
        servers,
        hosts[clients[0]],
        hosts[first],
        hosts[first]["disk"][mount["disk"]],
        mount,
        int(quantity(mounts[0].get("layout", {}), "strip_size", STRIP_BYTES)),
        int(quantity(hosts[first]["memory"], "size")),
        wire,
    )


def _check_mounts(mounts: Sequence[Mapping[str, Any]], refusal: Refusal) -> None:
    layout = mounts[0].get("layout", {})
    if any(mount != mounts[0] for mount in mounts):
        refusal.add("the striped mounts of clients differ; those of the nets are alike")
    if layout.get("protocol") != "request":
        refusal.add('a striped mount has flows; the nets have `layout = { protocol = "request" }`')
    if "stripe_count" in layout and layout["stripe_count"] != len(mounts[0]["striped"]):
        refusal.add("a striped mount has a stripe_count; the nets deal each file to all servers")
    for key in ("write_cache", "file_buffer"):
        if key in layout:
            refusal.add(f"a striped mount has a layout.{key}; the nets have none")
    if mounts[0].get("write_mode") == "through":
        refusal.add('a striped mount has write_mode = "through"; the nets of PVFS have no durable writes')


def _check_hosts(
    clients: Sequence[str], servers: Sequence[str], hosts: Mapping[str, Any], refusal: Refusal
) -> None:
    if len({*servers}) < len(servers):
        refusal.add("a server has several parts of a striped mount; each server of the nets has one")
    if {*clients} & {*servers}:
        refusal.add("a host is client and server; the nets have hosts of their own for both")
    for names, what in ((clients, "clients"), (servers, "servers")):
        own = [{key: value for key, value in hosts[name].items() if key != "mount"} for name in names]
        if any(each != own[0] for each in own):
            refusal.add(f"the {what} differ; those of the nets are alike")
    if any("nic" in hosts[name] for name in (*clients, *servers)):
        refusal.add("a host has a `nic` of its own; the nets have one rate for all ports")


def _wire(network: Mapping[str, Any], refusal: Refusal) -> dict[str, int]:
    """Give the values of a star: a rate for each port, headers, and the delay of two links."""
    parameters = str(network.get("topo_parameters", "")).split(";")
    if network.get("topology") != "fat-tree" or parameters[:1] != ["1"]:
        refusal.add('the network is no star; the nets have `network = { topology = "star", ... }`')
    transport = network.get("transport")
    if transport not in (None, GIGABIT):
        refusal.add(f'transport = "{transport}"; the nets have whole nanoseconds for a byte, as "{GIGABIT}"')
    rate = quantity(network, "rate", GIGABIT_BYTES_PER_S if transport == GIGABIT else 0.0)
    byte_ns = round(1e9 / rate) if rate else 0
    if not byte_ns or abs(byte_ns * rate / 1e9 - 1) > 0.01:
        refusal.add("the rate of the network is no whole number of nanoseconds for a byte; 125 MB/s has 8")
    mtu_bytes = int(quantity(network, "mtu", MTU_BYTES))
    inside = HEADER_INSIDE_BYTES if transport else 0
    return {
        "mtu_bytes": mtu_bytes,
        "mss_bytes": mtu_bytes - inside,
        "header_bytes": inside + HEADER_BESIDE_BYTES if transport else 0,
        "byte_ns": byte_ns,
        "wire_ns": LINKS * round(1e9 * quantity(network, "latency")),
    }
