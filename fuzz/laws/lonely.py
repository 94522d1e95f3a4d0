"""One process alone on a machine with one disk: who only reads, and who only writes new bytes."""

from fuzz.laws.chance import MB, MS, Chance
from fuzz.laws.document import Size, Table
from fuzz.laws.machines import host
from fuzz.laws.programs import BLOCK


def machine(chance: Chance) -> Table:
    """Draw a machine with one disk."""
    drawn = host(chance, disks=1, has_cgroups=False)
    # A host that takes free memory back does so by the clock: who is faster meets it elsewhere.
    drawn["memory"]["cost"].pop("page_reported", None)
    # Writers of such a disk are free in one moment and held back in the next, just where its limit is.
    drawn["disk"]["d0"].pop("strict_limit", None)
    return drawn


def reader(chance: Chance) -> Table:
    """Draw a process that reads files, some again and again, and thinks."""
    drawn = machine(chance)
    memory = drawn["memory"]["size"]
    files = [
        {"path": f"/d0/{name}", "size": chance.size(1, int(memory * chance.one_of(0.05, 0.5, 1.5)))}
        for name in "abcd"[: chance.randint(1, 4)]
    ]
    steps: list[Table] = []
    for _ in range(chance.randint(1, 10)):
        file = chance.choice(files)
        path, size = file["path"], file["size"]
        part: Table = {}
        if chance.sometimes():
            start = chance.randrange(size) // BLOCK * BLOCK
            part = {"offset": Size(start), "size": Size(chance.between(1, size - start))}
        calls = [each for each in (4096, 65_536, 1 << 20, 10 * MB) if each * 100_000 > size]
        kind = chance.random()
        if kind < 0.6:
            steps.append({"read": path, **part, **({"call": Size(chance.choice(calls))} if calls else {})})
        elif kind < 0.7:
            steps.append({"mmap_read": path, **part})
        elif kind < 0.8:
            advice = chance.one_of("dontneed", "willneed", "sequential", "random", "normal")
            steps.append({"fadvise": path, "advice": advice, **part})
        elif kind < 0.95:
            steps.append({chance.one_of("compute", "sleep"): chance.time(MS, 20_000 * MS)})
        else:
            steps.append({"drop_caches": True})
    return {"machine": drawn, "file": files, "process": [{"name": "reader", "do": steps}]}


def writer(chance: Chance) -> Table:
    """Draw a process that appends to new files, makes some durable, and thinks."""
    drawn = machine(chance)
    # Its rate does not bind a disk that counts requests: their number depends on when the flusher comes.
    drawn["disk"]["d0"].pop("iops", None)
    memory = drawn["memory"]["size"]
    steps: list[Table] = []
    for _ in range(chance.randint(1, 8)):
        path = f"/d0/{chance.choice('ab')}"
        kind = chance.random()
        if kind < 0.6:
            size = chance.size(1, memory // 2)
            calls = [each for each in (4096, 65_536, 1 << 20, 10 * MB) if each * 100_000 > size]
            call = {"call": Size(chance.choice(calls))} if calls and chance.often() else {}
            steps.append({"write": path, "size": size, "append": True, **call})
        elif kind < 0.8 and any(path == step.get("write") for step in steps):
            steps.append({"fsync": path})
        else:
            steps.append({chance.one_of("compute", "sleep"): chance.time(MS, 20_000 * MS)})
    return {"machine": drawn, "file": [], "process": [{"name": "writer", "do": steps}]}
