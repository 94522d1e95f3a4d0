"""Names the keys that a forecast or a run ignores, and the assumptions of a forecast."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from pagecast import procfs
from pagecast._core import Machine
from pagecast.api import Scenario
from pagecast.cli import dead_keys
from pagecast.cli.dead_keys import Host, covering_mount, host_tables, table_name
from pagecast.distinct import combined, numbered
from pagecast.quantities import parse_quantity
from pagecast.result import Result

__all__ = ["implied_lines", "of_forecasts", "of_machine", "of_overrides", "of_sources"]

KERNEL: Final = "kernel"
"""The model that knows latencies, dirty limits and free page reporting."""

SMALL_BYTES: Final = 64 << 10
"""A read or an fsync of more is mostly transfer, even where a request waits."""

_READS: Final = ("read", "fread", "mmap_read")

_FSYNCS: Final = ("fsync", "fdatasync")

FEW: Final = 10
"""So few small reads or fsyncs say nothing of a pattern."""

_MOST_LINES: Final = 4


def of_sources(scenario: Scenario) -> Iterator[str]:
    """Give what the readers of other formats have to say: sizes that were inferred, options without effect.

    Parameters
    ----------
    scenario : Scenario

    Yields
    ------
    str
    """
    for _, _, notes in scenario.sources:
        yield from _few(f"{place}: {text}" for place, text in notes)


def of_machine(scenario: Scenario) -> Iterator[str]:
    """Name the keys of the machine that change nothing.

    Parameters
    ----------
    scenario : Scenario

    Yields
    ------
    str
    """
    yield from _few(dead_keys.of_scenario(scenario, host_tables(scenario)))


def of_forecasts(scenario: Scenario, results: Sequence[Result]) -> Iterator[str]:
    """Name the assumptions of forecasts that a key of the machine file would set.

    Parameters
    ----------
    scenario : Scenario
    results : sequence of Result

    Yields
    ------
    str
    """
    yield from of_sources(scenario)
    hosts = host_tables(scenario)
    yield from _few(dead_keys.of_scenario(scenario, hosts))
    for result in results:
        if result.left_out:
            yield f"The nets of {result.model} leave out: {', '.join(result.left_out)}."
        if result.model == KERNEL:
            yield from _few(dead_keys.of_result(scenario, hosts, result))
            yield from _few(_instant_reads(hosts, result))
            yield from _few(_instant_fsyncs(hosts, result))
            yield from _few(_taken_back(hosts, result))


def of_overrides(overrides: Sequence[str], proc: Path = procfs.PROC) -> Iterator[str]:
    """Say which overrides describe a machine, of which a real run has its own.

    Parameters
    ----------
    overrides : sequence of str
        ``key=value``.
    proc : Path, optional

    Yields
    ------
    str
    """
    for text in overrides:
        key, _, value = (part.strip() for part in text.partition("="))
        parts = key.split(".")
        if parts[0] not in ("machine", "host"):
            continue
        setting = parts[-1] if "vm" in parts[1:-1] else None
        path = proc / "sys" / "vm" / (setting or "")
        own = path.read_text(encoding="ascii").strip() if setting and path.is_file() else None
        if own == value:
            continue
        this = f"this one has {own}" if own is not None else "this one is as it is"
        how = f"; sysctl vm.{setting}={value} sets it, as root" if own is not None else ""
        yield f"--set {key} is of the machine that is forecast, and no run changes one: {this}{how}."


def implied_lines(machine: Machine) -> Iterator[str]:
    """Say which values of disks follow from their kind.

    Parameters
    ----------
    machine : Machine

    Yields
    ------
    str
        ``disk ssd: nr_requests = 64 by its kind (source)``.
    """
    several = len(machine.hosts) > 1
    for host, disk, key, value, source in machine.implied():
        yield f"disk {disk}{f' of {host}' if several else ''}: {key} = {value} by its kind ({source})"


def _instant_reads(hosts: Mapping[str, Host], result: Result) -> Iterator[str]:
    """Name the disks without any latency from which many small pieces were read here and there."""
    counts: dict[tuple[str, str], int] = {}
    for (host, path), count in _small_random_reads(result).items():
        mount = _mount_of(hosts, host, path)
        if mount is not None:
            place = mount[0], hosts[mount[0]]["mount"][mount[1]]["disk"]
            counts[place] = counts.get(place, 0) + count
    for (host, disk), count in counts.items():
        described = hosts[host]["disk"][disk]
        if count < FEW or described["latency"] != "0 ns" or "seek" in described:
            continue
        many = f"{count:,} small" if result.has_all_operations else "Small"
        yield (
            f"{many} reads here and there on disk {disk} waited for nothing but their bytes: "
            f"it has no latency. Set {table_name(hosts, host)}.disk.{disk}.latency, or its kind (nvme, "
            "sata-ssd, hdd), which gives one."
        )


def _small_random_reads(result: Result) -> dict[tuple[str, str], int]:
    """Count, by host and path, small reads from a device that do not begin where the one before ended."""
    table = result.operations
    kinds, kind = numbered(table["operation"])
    reads = np.isin(kind, [number for number, name in enumerate(kinds) if name in _READS])
    rows = np.flatnonzero(reads & (table["bytes"] <= SMALL_BYTES) & (table["from_device_bytes"] > 0))
    if len(rows) < FEW:
        return {}
    names = [table[name] for name in ("process", "host", "path")]
    who, first = combined(*(numbered(column)[1][rows] for column in names))
    firsts = rows[first]
    order = np.lexsort((table["index"][rows], who))
    rows, of_whom = rows[order], who[order]
    ends = table["offset_bytes"][rows] + table["bytes"][rows]
    jumps = (of_whom[1:] == of_whom[:-1]) & (table["offset_bytes"][rows][1:] != ends[:-1])
    jumps_of = np.bincount(of_whom[1:][jumps], minlength=len(first))
    counts: dict[tuple[str, str], int] = {}
    for number in np.flatnonzero(jumps_of).tolist():
        row = int(firsts[number])
        place = (table["host"][row], table["path"][row])
        counts[place] = counts.get(place, 0) + int(jumps_of[number])
    return counts


def _instant_fsyncs(hosts: Mapping[str, Host], result: Result) -> Iterator[str]:
    """Name the mounts whose small fsyncs waited neither for a flush of the disk nor for a journal."""
    counts: dict[tuple[str, str], int] = {}
    for (host, path), count in _short_fsyncs(hosts, result).items():
        place = _mount_of(hosts, host, path)
        if place is not None:
            counts[place] = counts.get(place, 0) + count
    for (host, path), count in counts.items():
        if count < FEW:
            continue
        disk = hosts[host]["mount"][path]["disk"]
        many = f"{count:,} small" if result.has_all_operations else "Small"
        table = table_name(hosts, host)
        yield (
            f"{many} fsyncs on disk {disk} waited for nothing but their bytes: it has no flush, and {path} "
            f'has no journal. Set {table}.disk.{disk}.flush or {table}.mount."{path}".journal.'
        )


def _short_fsyncs(hosts: Mapping[str, Host], result: Result) -> dict[tuple[str, str], int]:
    """Count, by host and path, fsyncs without a flush and a journal that took no longer than small writes."""
    table = result.operations
    kinds, kind = numbered(table["operation"])
    fsyncs = np.isin(kind, [number for number, name in enumerate(kinds) if name in _FSYNCS])
    rows = np.flatnonzero(fsyncs & (table["duration_s"] > 0))
    if len(rows) < FEW:
        return {}
    which, first = combined(*(numbered(table[name])[1][rows] for name in ("host", "path")))
    places = [(table["host"][row], table["path"][row]) for row in rows[first].tolist()]
    most_s = np.array([_time_without_flush(hosts, *place) for place in places])
    counts = np.bincount(which[table["duration_s"][rows] <= most_s[which]], minlength=len(places))
    return {place: int(count) for place, count in zip(places, counts, strict=True) if count}


def _time_without_flush(hosts: Mapping[str, Host], host: str, path: str) -> float:
    """Give the time of a small write to the disk of a file; 0 if an fsync waits for more."""
    place = _mount_of(hosts, host, path)
    if place is None:
        return 0.0
    mount = hosts[place[0]]["mount"][place[1]]
    disk = hosts[place[0]]["disk"][mount["disk"]]
    rate = parse_quantity(disk["write"])
    has_wait = "flush" in disk or "journal" in mount or "commit" in mount
    return 0.0 if has_wait or rate is None else SMALL_BYTES / rate.value


def _taken_back(hosts: Mapping[str, Host], result: Result) -> Iterator[str]:
    """Say with how much of the free memory a forecast began where the host takes it back."""
    if "backed" in result.options:
        return
    for name, host in hosts.items():
        if "page_reported" in host["memory"].get("cost", {}):
            yield (
                f"At time 0 the host of {name} has taken all its free memory back (page_reported), as it has "
                "some minutes after it was used. `pagecast validate` looks how much is left before each run, "
                'and says so; [model.kernel] backed = "4 GB" tells a forecast.'
            )


def _few(lines: Iterator[str]) -> Iterator[str]:
    """Give the first lines, and how many more there are: a scenario may have thousands of hosts."""
    yield from islice(lines, _MOST_LINES)
    if more := sum(1 for _ in lines):
        yield f"… and {more:,} more such {'note' if more == 1 else 'notes'}."


def _mount_of(hosts: Mapping[str, Host], host: str, path: str) -> tuple[str, str] | None:
    """Find the host and the mount of a disk that keep a file; None where no single disk has it."""
    mounted = covering_mount(hosts[host], path)
    if mounted is None:
        return None
    nfs = hosts[host]["mount"][mounted].get("nfs")
    if nfs is not None:
        host, _, mounted = nfs.partition(":")
    return (host, mounted) if "disk" in hosts[host]["mount"][mounted] else None
