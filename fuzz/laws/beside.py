"""A database makes small records durable beside a writer that saturates the disk: laws of how long a
request waits.

It waits for what is in the queue of the disk (`block/blk-mq-tag.c`), and for nothing that the memory, the
writer's cgroup or its calls decide. The laws hold for a bounded queue, no scheduler, no write-back
throttling, and no limits of single cgroups.
"""

import copy
import statistics
from collections.abc import Iterator

from fuzz.laws.chance import MB, MS, US, Chance
from fuzz.laws.document import Rate, Size, Table, Time
from fuzz.laws.simulating import Answer, Case, Simulator
from fuzz.laws.timing import times

GB = 10**9
KIB = 1024
PAGE = 4 * KIB
RECORDS, PAUSES = 60, 4
"""So many records are made durable, after pauses of so many different lengths."""
SECONDS = 40
"""How long the writer goes on when it is held back: longer than the records take."""


def scenario(chance: Chance) -> Table:
    """Draw a disk, a writer who fills the memory up to the dirty limit and then goes on, and a database.

    There is memory enough, in the cgroup as well, for more dirty pages above the background threshold than
    the queue holds: with less the flusher stops before the queue is full.
    """
    memory = Size(chance.one_of(16, 32, 64) * GB)
    rate = chance.rate(50 * MB, 1500 * MB)
    disk: Table = {"size": Size(10**14), "read": rate, "write": rate, "sharing": "time"}
    disk["nr_requests"] = chance.one_of(1, 2, 4, 16, 32, 64)
    disk["max_sectors_kb"] = chance.one_of(64, 256, 512, 1280)
    if chance.often():
        disk["flush"] = chance.time(50 * US, 5 * MS)
    call = {"call": Size(chance.one_of(64 * KIB, MB, 4 * MB))}
    write = {"write": "/data/backup", "append": True, **call}
    fill = memory // 2
    backup = [
        {**write, "size": Size(fill)},
        {"signal": "full"},
        {**write, "size": Size(SECONDS * rate)},
    ]
    record = {"write": "/data/log", "size": Size(chance.one_of(4, 16, 64) * KIB), "append": True}
    pauses = [Time(chance.randint(50 * MS, 450 * MS)) for _ in range(PAUSES)]
    rounds = [step for pause in pauses for step in ({**record}, {"fsync": "/data/log"}, {"sleep": pause})]
    database = [{"wait": "full"}, {"sleep": Time(2000 * MS)}, {"repeat": RECORDS // PAUSES, "do": rounds}]
    return {
        "machine": {
            "cores": 4,
            "kernel": {"version": chance.one_of("4.18", "5.15", "6.1", "6.18")},
            "memory": {"size": memory, "read": Rate(10 * GB), "write": Rate(5 * GB)},
            "disk": {"ssd": disk},
            "mount": {"/data": {"disk": "ssd"}},
            "cgroup": {"g": {"memory": {"max": Size(memory // 4)}}},
        },
        "file": [],
        "process": [{"name": "database", "do": database}, {"name": "backup", "do": backup}],
    }


def request_ns(document: Table) -> int:
    """How long the disk takes for one request of write-back."""
    disk = document["machine"]["disk"]["ssd"]
    return disk["max_sectors_kb"] * KIB * 10**9 // disk["write"]


def median_ns(answer: Answer) -> int:
    """Give the median wait of the fsyncs that begin and end beside the writer."""
    spans = times(answer)
    table = answer.result.operations
    until = max(end for (process, _), (_, end) in spans.items() if process == "backup")
    kinds = zip(table["process"], table["index"], table["operation"], strict=True)
    waits = [
        spans[process, int(index)]
        for process, index, kind in kinds
        if kind == "fsync" and process == "database"
    ]
    return int(statistics.median(end - start for start, end in waits if end < until))


def with_memory(document: Table, factor: int) -> Table:
    """The same with more memory, of which the writer fills as large a part before."""
    result = copy.deepcopy(document)
    memory = result["machine"]["memory"]
    memory["size"] = Size(memory["size"] * factor)
    fill = result["process"][1]["do"][0]
    fill["size"] = Size(memory["size"] // 2)
    return result


def in_cgroup(document: Table) -> Table:
    result = copy.deepcopy(document)
    result["process"][1]["cgroup"] = "g"
    return result


def with_queue(document: Table, factor: int) -> Table:
    result = copy.deepcopy(document)
    result["machine"]["disk"]["ssd"]["nr_requests"] *= factor
    return result


def with_calls(document: Table, call: int) -> Table:
    result = copy.deepcopy(document)
    for step in result["process"][1]["do"]:
        if "call" in step:
            step["call"] = Size(call)
    return result


def turns_ns(document: Table) -> int:
    """How long the disk takes for what two may submit in turn while both wait for a place in the queue.

    Forecasts take a 32nd of the queue together, at least one request, at most 4 MiB. A kernel wakes waiters
    in batches of up to 8 requests (`lib/sbitmap.c: sbq_calc_wake_batch`).
    """
    disk = document["machine"]["disk"]["ssd"]
    request = disk["max_sectors_kb"] * KIB
    turn = max(request, min(disk["nr_requests"] * request // 32, 4 * KIB * KIB))
    return 2 * turn * 10**9 // disk["write"]


def wait_is_the_queue(case: Case, simulator: Simulator) -> Iterator[str]:
    """It is that for a full queue, for a place in it, and for the record itself; all in whole pages.

    The queue is full all the time: the writer always leaves the flusher more to submit.
    """
    for factor in (1, 4):
        document = with_queue(case.document, factor)
        disk = document["machine"]["disk"]["ssd"]
        record = document["process"][0]["do"][-1]["do"][0]["size"]
        own_ns = (record + PAGE) * 10**9 // disk["write"] + disk.get("flush", 0)
        full_ns, turns = disk["nr_requests"] * request_ns(document), turns_ns(document)
        wait = median_ns(simulator.ask(document))
        if not full_ns - turns <= wait <= full_ns + turns + own_ns:
            yield f"the median wait is {wait / 1e6:.3f} ms, and a full queue takes {full_ns / 1e6:.3f} ms"


def wait_of_memory(case: Case, simulator: Simulator) -> Iterator[str]:
    """The wait does not depend on the memory."""
    for factor in (2, 8):
        other = with_memory(case.document, factor)
        yield from apart(case.document, other, simulator, f"{factor} times the memory")


def wait_beside_cgroup(case: Case, simulator: Simulator) -> Iterator[str]:
    """It is the same beside a writer in a memory cgroup."""
    yield from apart(case.document, in_cgroup(case.document), simulator, "the writer in a memory cgroup")


def wait_of_calls(case: Case, simulator: Simulator) -> Iterator[str]:
    """It does not depend on the size of the writer's calls."""
    for call in (16 * KIB, 16 * MB):
        other = with_calls(case.document, call)
        yield from apart(case.document, other, simulator, f"calls of {call} B")


def apart(document: Table, other: Table, simulator: Simulator, what: str) -> Iterator[str]:
    """Say that medians differ by more than what waiting for a place in the queue may differ by."""
    one, two = (median_ns(simulator.ask(each)) for each in (document, other))
    if abs(one - two) > turns_ns(document):
        yield f"the median wait is {two / 1e6:.3f} and not {one / 1e6:.3f} ms with {what}"
