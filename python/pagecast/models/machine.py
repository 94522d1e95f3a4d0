"""Keys of a machine as values of the nets: times in nanoseconds, sizes in pages.

What a key has no place for in the nets is named by `left_out`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pagecast._core import Machine, journal_blocks
from pagecast.quantities import parse_quantity

__all__ = [
    "PAGE_BYTES",
    "hosts_of",
    "left_out",
    "mount_of",
    "network_of",
    "quantity",
    "read_values",
    "write_values",
]

PAGE_BYTES: Final = 4096

RANDOM_PREFETCH_PAGES: Final = 4
"""The minimum for random patterns: the default of the net."""

NO_L2_BYTES: Final = 1 << 40
"""Copies of every size fit into an eighth of it."""

KEPT: Final = {"raid": " but for its rate", "rotation": " but for its average positioning"}
"""What the nets take over of a table."""

MODES: Final = {"ordered": "ordered", "writeback": "writeback", "journal": "data"}
"""The net's word for a mount option ``data=``."""


def hosts_of(machine: Machine) -> dict[str, dict[str, Any]]:
    """Give the tables of all hosts, with all their defaults."""
    described = tomllib.loads(machine.to_toml())
    return described.get("host") or {machine.hosts[0]: described["machine"]}


def network_of(machine: Machine) -> dict[str, Any]:
    """Give the table of the network; empty without one."""
    network: dict[str, Any] = tomllib.loads(machine.to_toml()).get("network", {})
    return network


def mount_of(host: Mapping[str, Any], path: str) -> tuple[str, dict[str, Any]] | None:
    """Give the mount of a path with its own path; None without one."""
    mounts: dict[str, dict[str, Any]] = host.get("mount", {})
    covering = [each for each in mounts if path == each or path.startswith(each.rstrip("/") + "/")]
    return (longest, mounts[longest]) if (longest := max(covering, key=len, default=None)) else None


def quantity(table: Mapping[str, Any], key: str, default: float = 0.0) -> float:
    """Read a key of a machine in its base unit: bytes, seconds or bytes/s."""
    if key not in table:
        return default
    value = table[key]
    found = parse_quantity(value) if isinstance(value, str) else None
    return float(value) if found is None else float(found.value)


def read_values(host: Mapping[str, Any], disk: Mapping[str, Any]) -> dict[str, int]:
    """Give the values of the net of reads.

    Parameters
    ----------
    host, disk : mapping
        Tables of a machine.

    Returns
    -------
    dict of str to int
    """
    cost = host["memory"].get("cost", {})
    return {
        **_copies(host, "read"),
        "cache_pages": int(quantity(host["memory"], "size")) // PAGE_BYTES,
        "prefetch_pages": max(1, int(quantity(disk, "read_ahead_kb")) * 1024 // PAGE_BYTES),
        "random_prefetch_pages": RANDOM_PREFETCH_PAGES,
        "fread_ns": _ns(cost, "call"),
        "look_up_ns": _ns(cost, "page_lookup"),
        "disk_position_ns": _ns(disk, "latency") + _position_ns(disk),
        "disk_page_ns": round(1e9 * PAGE_BYTES / (quantity(disk, "read") * _disks(disk))),
    }


def write_values(
    host: Mapping[str, Any], disk: Mapping[str, Any], mount: Mapping[str, Any]
) -> dict[str, Any]:
    """Give the values of the net of writes.

    Parameters
    ----------
    host, disk, mount : mapping
        Tables of a machine.

    Returns
    -------
    dict of str to int or str
    """
    cost, vm = host["memory"].get("cost", {}), host["vm"]
    memory_pages = int(quantity(host["memory"], "size")) // PAGE_BYTES
    limit_bytes = int(quantity(vm, "dirty_bytes"))
    by_ratio = memory_pages * int(vm.get("dirty_ratio", 20)) // 100
    journal = mount.get("journal", {})
    return {
        **_copies(host, "write"),
        "memory_pages": memory_pages,
        "dirty_limit_pages": limit_bytes // PAGE_BYTES if limit_bytes else by_ratio,
        "flush_ns": max(1, int(vm.get("dirty_writeback_centisecs", 500))) * 10_000_000,
        "journal_mode": MODES[journal.get("data", "ordered")],
        "journal_pages": _journal_pages(journal, disk),
        "fwrite_ns": _ns(cost, "call"),
        "begin_ns": _ns(mount, "page_insert") if "page_insert" in mount else _ns(cost, "page_insert"),
        "commit_write_ns": 0,
        "queue_requests": int(disk.get("nr_requests", 128)),
        "disk_position_ns": _ns(disk, "write_latency") or _ns(disk, "latency") + _position_ns(disk),
        "disk_page_ns": round(1e9 * PAGE_BYTES / (quantity(disk, "write") * _disks(disk))),
    }


def left_out(
    host: Mapping[str, Any], disk: Mapping[str, Any], mount: Mapping[str, Any], *, writes: bool
) -> Iterator[str]:
    """Name the keys of a machine that a net has no place for.

    Parameters
    ----------
    host, disk, mount : mapping
        Tables of a machine.
    writes : bool
        Something is written.

    Yields
    ------
    str
    """
    cost = host["memory"].get("cost", {})
    if writes and "write_cache" in disk:
        yield "write_cache of the disk"
    if writes and mount.get("journal", {}).get("barrier", "journal" in mount):
        yield "flushes of the disk's cache (journal.barrier)"
    if quantity(cost, "page_insert") and not writes:
        yield "memory.cost.page_insert of reads"
    for key in ("rotation", "raid", "service", "service_read", "service_write", "iops", "san", "iocost"):
        if disk.get(key) not in (None, 0, "0 ns"):
            yield f"{key} of the disk{KEPT.get(key, '')}"


def _copies(host: Mapping[str, Any], way: str) -> dict[str, int]:
    """Give the L2 formula: a page within an eighth of L2, and one beyond."""
    memory = host["memory"]
    cost = memory.get("cost", {})
    rate = quantity(cost, f"copy_{way}") or quantity(memory, "per_thread") or quantity(memory, way)
    within_ns = round(1e9 * PAGE_BYTES / rate)
    return {
        "l2_bytes": int(quantity(memory, "l2", NO_L2_BYTES)),
        "copy_l2_ns": within_ns,
        "copy_memory_ns": within_ns + _ns(cost, "page_l2_miss"),
    }


def _journal_pages(journal: Mapping[str, Any], disk: Mapping[str, Any]) -> int:
    if "size" in journal:
        return int(quantity(journal, "size")) // PAGE_BYTES
    return journal_blocks(int(quantity(disk, "size")))


def _disks(disk: Mapping[str, Any]) -> int:
    """Give the disks of an array that serve a long stream (docs/concepts/devices.md)."""
    raid = disk.get("raid")
    if raid is None:
        return 1
    disks = int(raid["disks"])
    less = {"0": 0, "1": 0, "5": 1, "6": 2}
    match str(raid["level"]):
        case "10":
            return disks // 2
        case level if level in less:
            return disks - less[level]
    return 1


def _position_ns(disk: Mapping[str, Any]) -> int:
    """Give the seek of a disk, or of one that turns the average one and half a turn."""
    if "rotation" not in disk:
        return _ns(disk, "seek")
    rotation = disk["rotation"]
    return _ns(rotation, "average_seek") + round(0.5e9 * 60 / float(rotation["rpm"]))


def _ns(table: Mapping[str, Any], key: str) -> int:
    return round(1e9 * quantity(table, key))
