"""Laws that compare a scenario with itself: once more, in other units, in another order, host by host."""

from collections.abc import Iterator

from fuzz.laws.document import Table, Time, any_units, hosts_of, to_toml
from fuzz.laws.simulating import MODELS, Case, Simulator
from fuzz.laws.timing import operations_apart, times, times_apart


def determinism(case: Case, simulator: Simulator) -> Iterator[str]:
    """The same scenario and seed give the same bytes, with any number of threads."""
    text = to_toml(case.document)
    for model in MODELS:
        first = simulator.ask(case.document, model)
        for threads in (1, 2):
            if simulator.again(text, model, threads=threads).text != first.text:
                yield f"{model}: another result with {threads} threads"


def units(case: Case, simulator: Simulator) -> Iterator[str]:
    """Whether a machine has "1 GiB" or "1073741824 B" makes no difference."""
    text = to_toml(case.document, any_units(case.chance("units")))
    for model in MODELS:
        one, other = simulator.ask(case.document, model), simulator.again(text, model)
        if one.text != other.text:
            yield f"{model}: {times_apart(one, other) or 'other tables'} in other units"


APART_NS = 7_919


def permutation(case: Case, simulator: Simulator) -> Iterator[str]:
    """In another order everything takes the same time, to the nanosecond, when no two processes start
    together.

    Under `kernel` processes are not independent where something is written beside something else: they share
    dirty limits, flushers and queues, and who is first of those that do something in one instant is decided
    by their order in the file. Of two flushers that wake up together, the second finds fewer pages dirty;
    pages that two processes have touched since levels were last brought up to date are put on the lists one
    process after the other. That moves a writer by a pause, and an fsync in front of or behind what another
    one has submitted (5,000 scenarios of seed 2026: 3 by more than 0.2 s, one by 1.1 s). There the law is
    that everybody does the same operations on the same bytes.
    """
    document = one_after_the_other(case.document)
    other = permuted(document)
    for model in MODELS:
        one, two = (simulator.ask(each, model) for each in (document, other))
        may_tie = model == "kernel" and any(map(has_ties, processes_by_host(document)))
        if what := operations_apart(one, two) if may_tie else times_apart(one, two):
            yield f"{model}: {what} in another order"


def one_after_the_other(document: Table) -> Table:
    """Let no two processes begin at once, or go on after an event: each sleeps longer than the last one."""

    def apart(number: int, process: Table) -> Table:
        pause = {"sleep": Time(APART_NS * (number + 1))}
        steps = [pause]
        for step in process["do"]:
            steps += [step, pause] if "wait" in step else [step]
        return {**process, "do": steps}

    return {**document, "process": [apart(*each) for each in enumerate(document["process"])]}


def permuted(document: Table) -> Table:
    """Write processes, files, hosts, disks, mounts and links the other way round.

    Files that are cached at time 0 stay in order: the first is the oldest, and if it is dirty, is written
    first.
    """
    cached = [file for file in document["file"] if "cached" in file]
    others = [file for file in document["file"] if "cached" not in file]
    hosts = {
        name: {
            key: dict(reversed(value.items())) if key in ("disk", "mount") else value
            for key, value in host.items()
        }
        for name, host in reversed(hosts_of(document).items())
    }
    result = {**document, "file": cached + others[::-1], "process": document["process"][::-1]}
    if "host" not in document:
        return result | {"machine": hosts["machine"]}
    return result | {"host": hosts, "link": dict(reversed(document.get("link", {}).items()))}


def processes_by_host(document: Table) -> Iterator[list[Table]]:
    """Give the processes of each host; hosts that links connect are taken together."""
    if "link" in document or "network" in document:
        yield document["process"]
        return
    for host in hosts_of(document):
        yield [process for process in document["process"] if process.get("host", host) == host]


WRITES_NOTHING = (
    "read", "fread", "mmap_read", "fadvise", "readahead", "compute", "sleep", "alloc", "free", "wait",
    "signal", )  # fmt: skip


def has_ties(processes: list[Table]) -> bool:
    """Whether something is written beside another process, or to two disks."""
    steps = [step for process in processes for step in process["do"]]
    writes = [step for step in steps if not any(verb in step for verb in WRITES_NOTHING)]
    disks = {str(path).split("/")[1] for step in writes for path in step.values() if "/" in str(path)}
    return bool(writes) and (len(processes) > 1 or len(disks) > 1)


def independence(case: Case, simulator: Simulator) -> Iterator[str]:
    """On hosts that no link connects everything takes as long as if each were alone."""
    if "host" not in case.document or "link" in case.document or "network" in case.document:
        return
    for name in case.document["host"]:
        alone = only_host(case.document, name)
        if not alone["process"] or any(waits_for_others(process) for process in alone["process"]):
            continue
        for model in MODELS:
            every, single = simulator.ask(case.document, model), simulator.ask(alone, model)
            if every.result is None or single.result is None:
                continue
            together = times(every)
            for key, span in times(single).items():
                if together[key] != span:
                    yield f"{model}: {key} is at {span} ns alone and at {together[key]} ns beside other hosts"
                    break


def only_host(document: Table, name: str) -> Table:
    """Leave out all other hosts, and their files and processes."""
    own = {key: [each for each in document[key] if each.get("host") == name] for key in ("file", "process")}
    return {"host": {name: document["host"][name]}, **own}


def waits_for_others(process: Table) -> bool:
    """Whether a process may wait for one of another host."""
    return "after" in process or any("wait" in step for step in process["do"])
