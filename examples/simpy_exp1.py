"""Exp 1 of the WRENCH-cache paper as a SimPy model, beside our own engine.

Three tasks, one after the other: each reads a file of 50 GB into memory of its own, computes for 75 s and
writes a file of 50 GB, which the next one reads. The machine is the cluster as the authors' simulators
describe it.
"""

from collections.abc import Callable

import simpy

import pagecast as pc
from pagecast.simpy import PageCache, Serve

MACHINE = pc.load_machine("wrench-cluster-published")
DISK_BYTES_PER_S = {"read": 465e6, "write": 465e6}


def resource(env: simpy.Environment) -> Serve:
    """Give a disk that serves one request after the other."""
    head = simpy.Resource(env)

    def serve(request):
        with head.request() as turn:
            yield turn
            yield env.timeout(request.size_bytes / DISK_BYTES_PER_S[request.direction])

    return serve


def in_simpy(
    model: str,
    *,
    disk: Callable[[simpy.Environment], Serve] | None = None,
    machine: pc.Machine = MACHINE,
    size_bytes: float = 50e9,
    cpu_s: float = 75.0,
) -> list[float]:
    """Give the seconds of read 1, write 1, ..., read 3, write 3."""
    env = simpy.Environment()
    disks = {"ssd": disk(env)} if disk else None
    cache = PageCache(env, machine, model=model, files={"/data/f1": size_bytes}, disks=disks)
    seconds = []

    def task(k):
        read = yield from cache.read(f"/data/f{k}", buffer="fresh")
        yield env.timeout(cpu_s)
        write = yield from cache.write(f"/data/f{k + 1}", size_bytes=size_bytes)
        seconds.extend([read.duration_s, write.duration_s])

    def application():
        for k in (1, 2, 3):
            yield env.process(task(k))  # its memory is free when it ends

    env.run(until=env.process(application()))
    return seconds


def in_our_engine(
    model: str, *, machine: pc.Machine = MACHINE, size_bytes: float = 50e9, cpu_s: float = 75.0
) -> list[float]:
    """Give the same seconds."""

    def task(k):
        yield pc.read(f"/data/f{k}", buffer="fresh")
        yield pc.compute(cpu_s)
        yield pc.write(f"/data/f{k + 1}", size_bytes=size_bytes)

    tasks = {
        f"task{k}": pc.Process(lambda k=k: task(k), after=[f"task{k - 1}"] if k > 1 else [])
        for k in (1, 2, 3)
    }
    scenario = pc.Scenario(machine, processes=tasks, files={"/data/f1": size_bytes})
    operations = pc.simulate(scenario, model=model).operations
    rows = zip(operations["operation"], operations["duration_s"], strict=True)
    return [float(seconds) for operation, seconds in rows if operation != "compute"]


def furthest(seconds: list[float], ours: list[float]) -> float:
    """Give the largest difference as a fraction."""
    return max(abs(one / other - 1) for one, other in zip(seconds, ours, strict=True))


if __name__ == "__main__":
    for model in ("kernel", "wrench", "no-cache"):
        ours, same, queued = in_our_engine(model), in_simpy(model), in_simpy(model, disk=resource)
        print(
            f"{model:8}  {sum(ours):6.2f} s of reads and writes; off by at most {furthest(same, ours):.2%} "
            f"with the machine's disk, {furthest(queued, ours):.2%} with a SimPy resource"
        )
