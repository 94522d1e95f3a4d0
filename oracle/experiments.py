"""The four experiments of the WRENCH-cache paper as oracle scenarios.

What it models: the platform and the programs as the published simulators have them (not the real cluster).
Source: the paper, and the parameters in the authors' public repository.
Leaves out: how the operations of Exp 4 really interleave with computing (the simulators read all, compute,
write all).
"""

from .machine import Device, Host, Link, Mount
from .scenario import File, Op, Process, Scenario

MB, GB = 10**6, 10**9
MEMORY = Device(4812 * MB, 4812 * MB)
RAM = 268 * GB
COMPUTE_S = {3: 4.4, 20: 28, 50: 75, 75: 110, 100: 155}  # per task, by file size in GB

# SimGrid's default network model (LV08) lets 97 % of a link's rate be used, 5 % of that for acknowledgements,
# and multiplies the latency by 13.01.
LAN = Link(3000 * MB * 0.97 / 1.05, 20e-6 * 13.01)


def local_host() -> Host:
    return Host(RAM, MEMORY, {"ssd": Device(465 * MB, 465 * MB)})


def application(name: str, gb: int, host: str = "machine") -> Process:
    """Three tasks: task k reads file k, computes, writes file k + 1, and gives its memory back."""
    ops: list[Op] = []
    for k in (1, 2, 3):
        ops += [
            Op("read", f"/data/{name}.f{k}", gb * GB, is_fresh=True, label=f"read {k}"),
            Op("compute", seconds=COMPUTE_S[gb]),
            Op("write", f"/data/{name}.f{k + 1}", gb * GB, label=f"write {k}"),
            Op("free"),
        ]
    return Process(name, tuple(ops), host)


def exp1(gb: int) -> Scenario:
    """One application with files of 20, 50, 75 or 100 GB."""
    return _local({"/data/app.f1": File(gb * GB)}, [application("app", gb)])


def exp2(n: int) -> Scenario:
    """n applications at once, each with its own 3 GB files."""
    names = [f"app{i}" for i in range(1, n + 1)]
    return _local(
        {f"/data/{name}.f1": File(3 * GB) for name in names}, [application(name, 3) for name in names]
    )


def exp3(n: int) -> Scenario:
    """The same with all files on another host."""
    names = [f"app{i}" for i in range(1, n + 1)]
    server = Host(RAM, MEMORY, {"ssd": Device(445 * MB, 445 * MB)})
    return Scenario(
        {"client": local_host(), "server": server},
        {"/data": Mount("server", "ssd", "lan", write_through=True)},
        {f"/data/{name}.f1": File(3 * GB, host="client") for name in names},
        tuple(application(name, 3, "client") for name in names),
        {"lan": LAN},
    )


SMALL, LARGE = 98_304_352, 589_824_352
NIGHRES: list[
    tuple[dict[str, int], dict[str, int], float]
] = [  # inputs, outputs (name: size), compute seconds
    (
        {"inv2": SMALL, "t1map": SMALL, "t1w": SMALL},
        {"strip-inv2": SMALL, "strip-mask": SMALL, "strip-t1map": SMALL, "strip-t1w": SMALL},
        137.202,
    ),
    (
        {"strip-t1map": SMALL, "strip-t1w": SMALL},
        {"dist": SMALL, "labels": LARGE, "memberships": LARGE, "segmentation": SMALL},
        614.287,
    ),
    (
        {"dist": SMALL, "labels": LARGE, "memberships": LARGE, "segmentation": SMALL},
        {f"region{i}": SMALL for i in range(1, 10)},
        75.760,
    ),
    (
        {f"region{i}": SMALL for i in range(6, 10)},
        {f"cortex{i}": SMALL for i in range(1, 9)},
        272.451,
    ),
]


def exp4() -> Scenario:
    """The four steps of the Nighres program."""
    ops: list[Op] = []
    for step, (inputs, outputs, compute_s) in enumerate(NIGHRES, 1):
        ops += [
            Op("read", f"/data/{name}", size, is_fresh=True, label=f"read {step}")
            for name, size in inputs.items()
        ]
        ops += [Op("compute", seconds=compute_s)]
        ops += [Op("write", f"/data/{name}", size, label=f"write {step}") for name, size in outputs.items()]
        ops += [Op("free")]
    files = {f"/data/{name}": File(size) for name, size in NIGHRES[0][0].items()}
    return _local(files, [Process("nighres", tuple(ops))])


def _local(files: dict[str, File], processes: list[Process]) -> Scenario:
    return Scenario({"machine": local_host()}, {"/data": Mount("machine", "ssd")}, files, tuple(processes))
