"""What a result must be in itself: nothing is lost, and levels are within each other."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fuzz.laws.document import Table, hosts_of
from fuzz.laws.simulating import MODELS, Case, Simulator
from pagecast.result import Columns, Result

MOVES = ("read", "write", "readwrite", "copy")


def law(case: Case, simulator: Simulator) -> Iterator[str]:
    """Say what is broken in the results of all models."""
    for model in MODELS:
        result = simulator.ask(case.document, model).result
        if result is not None:
            for check in CHECKS:
                yield from (f"{model}: {what}" for what in check(case.document, result))


def served(document: Table, result: Result) -> Iterator[str]:
    """Bytes asked for came from the cache or a device."""
    table = result.operations
    moved = np.isin(table["operation"], MOVES)
    both = table["from_cache_bytes"] + table["from_device_bytes"]
    # Bytes that a copy shares with its source come from neither.
    may_share = (np.array(table["operation"]) == "copy") & (both == 0)
    differs = (table["bytes"] != both) & ~may_share
    for row in np.flatnonzero(moved & differs)[:1]:
        yield f"served: {row_of(table, row)}"


def parts(document: Table, result: Result) -> Iterator[str]:
    """Parts add up to the duration, and none is negative."""
    columns = [np.rint(result.parts[name] * 1e9) for name in result.parts if name.endswith("_s")]
    durations = np.rint(result.operations["duration_s"] * 1e9)
    for row in np.flatnonzero(sum(columns) != durations)[:1]:
        yield f"parts: {row_of(result.operations, row)} has {[int(column[row]) for column in columns]}"
    if any((column < 0).any() for column in columns):
        yield "parts: one is negative"


def order(document: Table, result: Result) -> Iterator[str]:
    """Time never runs back, and a process goes on at once."""
    for name, times in (
        ("operations", result.operations["end_s"]),
        ("timeline", result.timeline["time_s"]),
        ("events", result.events["time_s"]),
        ("bdi", result.bdi["time_s"]),
        ("devices", result.devices["time_s"]),
    ):
        if (np.diff(times) < 0).any():
            yield f"order: time runs back in {name}"
    table = result.operations
    for process in dict.fromkeys(table["process"]):
        rows = np.flatnonzero(np.array(table["process"]) == process)
        if sorted(table["index"][rows]) != list(range(len(rows))):
            yield f"order: the operations of {process} are {sorted(table['index'][rows])}"
            continue
        rows = rows[np.argsort(table["index"][rows])]
        for one, other in pairwise(rows):
            if table["end_s"][one] != table["start_s"][other]:
                yield f"order: {process} pauses between {table['index'][one]} and {table['index'][other]}"
                break


def levels(document: Table, result: Result) -> Iterator[str]:
    """Levels are within each other at all times."""
    timeline = result.timeline
    for name in timeline:
        if name.endswith("_bytes") and (timeline[name] < 0).any():
            yield f"levels: {name} is negative"
    sizes = {name: int(machine["memory"]["size"]) for name, machine in hosts_of(document).items()}
    memory = np.array([sizes[host] for host in timeline["host"]])
    if result.model in ("wrench", "endless-cache"):
        return  # the one holds a file that is being read however large it is, the other everything
    held = timeline["free_bytes"] + timeline["anonymous_bytes"] + timeline["cached_bytes"]
    yield from always("levels: free, anonymous and cached bytes are the memory", held == memory, timeline)
    used = timeline["used_bytes"] == memory - timeline["free_bytes"]
    yield from always("levels: used bytes are those not free", used, timeline)
    yield from always(
        "levels: dirty bytes are cached", timeline["dirty_bytes"] <= timeline["cached_bytes"], timeline
    )
    if result.model == "kernel":
        on_lists = timeline["inactive_bytes"] + timeline["active_bytes"] == timeline["cached_bytes"]
        yield from always("levels: both lists are the cache", on_lists, timeline)
        under = timeline["writeback_bytes"] <= timeline["dirty_bytes"]
        yield from always("levels: bytes under writeback are dirty", under, timeline)
        devices = result.bdi
        under = devices["writeback_bytes"] <= devices["dirty_bytes"]
        yield from always("levels: bytes under writeback are dirty, of a device", under, devices)


def disks(document: Table, result: Result) -> Iterator[str]:
    """Disks are busy no longer than time passes, and requests wait no longer than they are there."""
    table = result.devices
    busy = table["utilisation"]
    yield from always("disks: a share of time is one", (busy >= 0) & (busy <= 1), table)
    within = table["mean_depth"] <= table["max_depth"] * (1 + 1e-9)
    yield from always("disks: the mean depth is within the largest", within, table)
    asked = table["reads"] + table["writes"] > 0
    waits = ~asked | (table["queue_s"] <= table["request_s"])
    yield from always("disks: waiting is a part of a request's time", waits, table)


def always(what: str, holds: "np.ndarray[tuple[int], np.dtype[np.bool]]", table: Columns) -> Iterator[str]:
    for row in np.flatnonzero(~holds)[:1]:
        yield f"{what}: not in row {row}: {row_of(table, row)}"


def counters(document: Table, result: Result) -> Iterator[str]:
    """What is counted since the start never falls."""
    timeline = result.timeline
    if "dirtied_bytes" not in timeline:
        return
    for host in dict.fromkeys(timeline["host"]):
        rows = np.array(timeline["host"]) == host
        fallen = np.flatnonzero(np.diff(timeline["dirtied_bytes"][rows]) < 0)
        for row in fallen[:1]:
            time, by = timeline["time_s"][rows][row + 1], -np.diff(timeline["dirtied_bytes"][rows])[row]
            yield f"counters: dirtied_bytes of {host} falls by {by} at {time:.6f} s"


def files(document: Table, result: Result) -> Iterator[str]:
    """Files add up to the cache at the end, and no file has more in memory than it has."""
    table, timeline = result.files, result.timeline
    if result.model == "wrench":
        return
    for host in dict.fromkeys(timeline["host"]):
        last = np.flatnonzero(np.array(timeline["host"]) == host)[-1]
        rows = np.array([each == host for each in table["host"]], dtype=bool)
        for level in ("cached_bytes", "dirty_bytes", "active_bytes"):
            if level in timeline and (summed := int(table[level][rows].sum())) != timeline[level][last]:
                yield f"files: {level} sum to {summed} on {host}; the timeline has {timeline[level][last]}"
    for row in np.flatnonzero(table["dirty_bytes"] > table["cached_bytes"])[:1]:
        yield f"files: more dirty than cached: {row_of(table, row)}"
    # A client is not told that another host has cut a file. A server keeps what is under writeback of a file
    # that a client has cut until it is written: the client does not wait for that.
    knows = np.array(["nfs" not in path.split("/")[1] for path in table["path"]], dtype=bool)
    written_by_server = np.where(
        [host == "server" for host in table["host"]], under_writeback(timeline, "server"), 0
    )
    for row in np.flatnonzero((table["cached_bytes"] > table["size_bytes"] + written_by_server) & knows)[:1]:
        yield f"files: more cached than there is: {row_of(table, row)}"


def under_writeback(timeline: Columns, host: str) -> int:
    """Give the bytes of a host under writeback at the end."""
    rows = np.flatnonzero(np.array(timeline["host"]) == host)
    return int(timeline["writeback_bytes"][rows[-1]]) if len(rows) and "writeback_bytes" in timeline else 0


def cgroups(document: Table, result: Result) -> Iterator[str]:
    """A memory cgroup keeps within its limit."""
    table = result.cgroups
    for row in range(len(table)):
        if table["memory_peak_bytes"][row] > table["memory_max_bytes"][row]:
            yield f"cgroups: {row_of(table, row)}"


def everything_is_done(document: Table, result: Result) -> Iterator[str]:
    """Each operation has a row; closing at exit streams, and files of other hosts, has more."""
    table = result.operations
    for process in document["process"]:
        rows = [
            name
            for name, own in zip(table["operation"], table["process"], strict=True)
            if own == process["name"]
        ]
        wanted = count(process["do"])
        closes = sum(rows[wanted:].count(close) for close in ("fclose", "close"))
        if not wanted <= len(rows) <= wanted + closes:
            yield f"done: {process['name']} has {len(rows)} rows, and {wanted} operations"


def count(steps: list[Table]) -> int:
    return sum(step["repeat"] * count(step["do"]) if "repeat" in step else 1 for step in steps)


def row_of(table: Columns, row: int) -> dict[str, object]:
    return {name: table[name][row] for name in table}


CHECKS = (served, parts, order, levels, disks, counters, files, cgroups, everything_is_done)
