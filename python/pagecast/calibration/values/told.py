"""The keys of a machine file that the machine itself tells."""

from collections.abc import Iterator
from typing import Final

from pagecast.calibration.facts import SECTOR_BYTES, Device, Facts
from pagecast.calibration.values.value import Value, show_kib

__all__ = ["facts_of"]

UNBOUNDED: Final = 100_000
"""Requests that nothing bounds; more than ever wait."""
LARGEST_SECTORS_KB: Final = 1 << 20


def facts_of(facts: Facts) -> Iterator[Value]:
    """Give the keys that the machine itself tells.

    Parameters
    ----------
    facts : Facts

    Yields
    ------
    Value
        In the order of the file.
    """
    yield Value("cores", str(facts.cores), "read: processors that this process may use")
    yield Value("kernel.version", f'"{facts.kernel_version}"', f"read: {facts.kernel_release}")
    yield Value("kernel.lru", f'"{facts.lru}"', "read: /sys/kernel/mm/lru_gen/enabled")
    yield Value("kernel.hz", str(facts.hz), "read: resolution of CLOCK_MONOTONIC_COARSE")
    for name, number in facts.vm.items():
        if name.endswith("_bytes"):
            if number:
                yield Value(f"vm.{name}", f'"{number} B"', f"read: sysctl vm.{name}")
        elif not (name.endswith("_ratio") and facts.vm.get(name.replace("_ratio", "_bytes"))):
            yield Value(f"vm.{name}", str(number), f"read: sysctl vm.{name}")
    memory = facts.memory
    total = f"of {show_kib(memory.total_bytes)} (MemTotal)"
    yield Value("memory.size", f'"{show_kib(memory.usable_bytes)}"', f"read: free or holding files, {total}")
    if memory.reserve_bytes is not None:
        how = "read: difference to the dirty limit of the same moment (nr_dirty_threshold)"
        yield Value("memory.reserve", f'"{show_kib(memory.reserve_bytes)}"', how)
    if len(facts.nodes) > 1:
        sizes = ", ".join(map(show_kib, facts.nodes))
        yield Value("memory.nodes", str(len(facts.nodes)), f"read: nodes of {sizes}")
    yield Value(
        "disk.size", f'"{show_kib(facts.mount.size_bytes)}"', "read: file system, without what root keeps"
    )
    if facts.device is not None:
        yield from _device_facts(facts.device)


def _device_facts(device: Device) -> Iterator[Value]:
    if device.is_throttled:
        yield Value("disk.nr_requests", str(UNBOUNDED), "read: a cgroup limits writing, before the queue")
    elif device.nr_requests is None:
        yield Value("disk.nr_requests", str(UNBOUNDED), "read: it has no queue of requests")
    else:
        yield Value("disk.nr_requests", str(device.nr_requests), "read: queue/nr_requests")
    # BFQ turns it off, which `wbt_lat_usec` tells since Linux 6.2.
    if device.wbt_lat_usec and device.scheduler != "bfq":
        yield Value("disk.wbt_lat_usec", str(device.wbt_lat_usec), "read: queue/wbt_lat_usec")
        if device.queue_depth:
            yield Value("disk.queue_depth", str(device.queue_depth), "read: device/queue_depth")
    if device.max_sectors_kb:
        largest = min(max(device.max_sectors_kb, 4), LARGEST_SECTORS_KB)
        yield Value("disk.max_sectors_kb", str(largest), "read: queue/max_sectors_kb")
    if device.read_ahead_kb is not None:
        yield Value(
            "disk.read_ahead_kb",
            str(min(device.read_ahead_kb, LARGEST_SECTORS_KB)),
            "read: queue/read_ahead_kb",
        )
    if device.logical_block_bytes not in (None, SECTOR_BYTES):
        size = f'"{device.logical_block_bytes} B"'
        yield Value("disk.logical_block_size", size, "read: queue/logical_block_size")
    if device.min_ratio:
        yield Value("disk.min_ratio", f"{device.min_ratio:g}", "read: bdi/min_ratio")
    if device.max_ratio is not None and device.max_ratio != 100:
        yield Value("disk.max_ratio", f"{device.max_ratio:g}", "read: bdi/max_ratio")
    if device.strict_limit:
        yield Value("disk.strict_limit", "true", "read: bdi/strict_limit")
    if device.stable_writes:
        yield Value("disk.stable_writes", "true", "read: queue/stable_writes")
