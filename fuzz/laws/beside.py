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
RECORDS, PAUSES = 60, 4
"""So many records are made durable, after pauses of so many different lengths."""
SECONDS = 40
"""How long the writer goes on when it is held back: longer than the records take."""


def scenario(chance: Chance) -> Table:
    """Draw a disk, a writer who fills the memory up to the dirty limit and then goes on, and a database."""
    memory = Size(chance.one_of(4, 8, 16, 32, 64) * GB)
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
            "cgroup": {"g": {"memory": {"max": Size(GB)}}},
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


def wait_within_queue(case: Case, simulator: Simulator) -> Iterator[str]:
    """It is that for a full queue at most, a request that the flusher was about to submit, and its own."""
    disk = case.document["machine"]["disk"]["ssd"]
    record = case.document["process"][0]["do"][-1]["do"][0]["size"]
    own_ns = record * 10**9 // disk["write"] + disk.get("flush", 0)
    most_ns = (disk["nr_requests"] + 1) * request_ns(case.document) + own_ns
    if (wait := median_ns(simulator.ask(case.document))) > most_ns:
        yield f"the median wait is {wait / 1e6:.3f} ms, more than {most_ns / 1e6:.3f} ms for a full queue"


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


def wait_of_queue(case: Case, simulator: Simulator) -> Iterator[str]:
    """It grows with the queue: by a request for each place in it, as long as the flusher fills it."""
    waits = [median_ns(simulator.ask(with_queue(case.document, factor))) for factor in (1, 2, 4)]
    if waits != sorted(waits):
        yield f"the median wait is {waits} ns with 1, 2 and 4 times the queue"


def apart(document: Table, other: Table, simulator: Simulator, what: str) -> Iterator[str]:
    """Say that medians differ by more than a request: at times there is one more or less in the queue."""
    one, two = (median_ns(simulator.ask(each)) for each in (document, other))
    if abs(one - two) > request_ns(document):
        yield f"the median wait is {two / 1e6:.3f} and not {one / 1e6:.3f} ms with {what}"
