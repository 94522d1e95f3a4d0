"""The bench's workload as a scenario: Exp 2 of the WRENCH-cache paper, with random starts.

n applications, 32 to a host. Each does three times: read 3 GB from the host's disk into memory of its own,
compute 4.4 s, write 3 GB, free the memory. An application starts at a random instant of the first minute, so
that no two events fall together by design. One application is one process here; in the study a task is one.
A scenario file may have 16 MiB: above 30,000 applications a few hosts share their tables (`count`). Their
instants still differ, by less than a microsecond, or they would be alike and one of them simulated for all.
"""

import random
from collections.abc import Iterator

FILE_MB = 3000
TASKS = 3
APPS_PER_HOST = 32
MOST_TABLES = 30_000
START_SPREAD_S = 60.0


def scenario(
    apps: int,
    *,
    chunk_mb: int = FILE_MB,
    spread_s: float = START_SPREAD_S,
    seed: int = 0,
    alike: bool = False,
) -> str:
    """Write the scenario.

    Parameters
    ----------
    apps : int
        Number of applications: a multiple of 32, or less than 32 (on one host).
    chunk_mb : int
        Split each read and write into operations of this size. By default a file is one operation.
    spread_s : float
        Starts are uniform in [0, spread_s); with 0 all start together.
    seed : int
    alike : bool
        All hosts do the same at the same instants.

    Returns
    -------
    str
        TOML.
    """
    assert apps < APPS_PER_HOST or apps % APPS_PER_HOST == 0, "hosts are full"
    draw = random.Random(seed)
    hosts = -(-apps // APPS_PER_HOST)
    copies = hosts if alike else -(-apps // MOST_TABLES)
    groups = [min(copies, hosts - first) for first in range(0, hosts, copies)]
    heads = [
        f'host.g{g}h{n}.from = "wrench-cluster-published"'
        for g, k in enumerate(groups)
        for n in range(1, k + 1)
    ]
    here = min(apps, APPS_PER_HOST)
    own = "" if alike else "{n}1"
    tables = [
        line for g, k in enumerate(groups) for line in _group(g, k, here, chunk_mb, spread_s, own, draw)
    ]
    return "\n".join(heads + tables)


def _group(
    group: int, hosts: int, apps: int, chunk_mb: int, spread_s: float, own: str, draw: random.Random
) -> Iterator[str]:
    """Write what runs on `hosts` equal hosts; `own` are the last digits of a start."""
    where = f'count = {hosts}\nhost = "g{group}h{{n}}"\n'
    for app in range(1, apps + 1):
        instant = draw.random() * spread_s
        digits = f"{instant:.6f}{own}" if hosts > 1 else f"{instant:.9f}"
        start = f'start = "{digits} s"\n' if spread_s > 0 else ""
        yield f'[[file]]\npath = "/data/a{app}/f1"\nsize = "{FILE_MB} MB"\n{where}'
        yield f'[[process]]\nname = "g{group}h{{n}}a{app}"\n{where}{start}do = [{_program(app, chunk_mb)}]'


def _program(app: int, chunk_mb: int) -> str:
    return ",".join(
        operation
        for task in range(1, TASKS + 1)
        for operation in (
            *_chunks(f'read="/data/a{app}/f{task}",buffer="fresh"', chunk_mb),
            '{compute="4.4 s"}',
            *_chunks(f'write="/data/a{app}/f{task + 1}"', chunk_mb),
            '{free="all"}',
        )
    )


def _chunks(what: str, chunk_mb: int) -> Iterator[str]:
    for offset in range(0, FILE_MB, chunk_mb):
        at = f',offset="{offset} MB"' if offset else ""
        yield f'{{{what}{at},size="{min(chunk_mb, FILE_MB - offset)} MB"}}'


def writer(*, at_random: bool = False) -> str:
    """Write the scenario of one process that writes to one disk.

    In order, it writes 1 TB, sixteen times the memory; at random, 1 GiB in a new file.
    """
    pattern = 'size = "1 GiB", call = "4 KiB", pattern = { random = "uniform" }'
    how = pattern if at_random else 'size = "1 TB", call = "1 MiB"'
    return f"""
        [machine]
        cores = 4
        memory = {{ size = "64 GB", read = "8 GB/s", write = "8 GB/s", cost.copy_write = "2 GB/s" }}
        disk.ssd = {{ size = "2 TB", read = "500 MB/s", write = "500 MB/s" }}
        mount."/data" = {{ disk = "ssd" }}
        [[process]]
        name = "writer"
        do = [ {{ write = "/data/f", {how} }} ]
        """


def striped(clients: int, servers: int, *, size_mib: int = 1024, strip_kib: int = 1024) -> str:
    """Write the scenario of clients that write a file each in 1 MiB calls to striped servers.

    With strips of 1 MiB each call is one payload. Links have 10 Gbit/s.
    """
    memory = 'memory = { size = "64 GiB", read = "10 GB/s", write = "10 GB/s", cost.copy_write = "2.5 GB/s" }'
    parts = ", ".join(f'"io{at}:/data"' for at in range(servers))
    mount = f'mount."/pvfs" = {{ striped = [{parts}], layout.strip_size = "{strip_kib} KiB" }}'
    text = 'network = { topology = "star", rate = "1.25 GB/s", latency = "20 us" }\n'
    for n in range(1, clients + 1):
        text += f"[host.c{n}]\ncores = 4\n{memory}\n{mount}\n"
    for at in range(servers):
        text += f"[host.io{at}]\ncores = 16\n{memory}\nnfsd.threads = 16\n"
        text += (
            'disk.ssd = { size = "10 TB", read = "2 GB/s", write = "2 GB/s" }\nmount."/data".disk = "ssd"\n'
        )
    write = f'{{ write = "/pvfs/f{{n}}", size = "{size_mib} MiB", call = "1 MiB" }}'
    return text + f'[[process]]\nname = "app{{n}}"\ncount = {clients}\nhost = "c{{n}}"\ndo = [ {write} ]\n'
