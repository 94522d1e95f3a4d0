"""Random machines: memory, disks, settings of the kernel, mounts, and hosts that a link connects."""

from fuzz.laws.chance import MB, MS, US, Chance
from fuzz.laws.document import Rate, Size, Table, Time

VERSIONS = (
    "2.6.27",
    "3.1",
    "3.10",
    "4.4",
    "4.12",
    "4.18",
    "5.4",
    "5.15",
    "6.1",
    "6.6",
    "6.8",
    "6.12",
    "6.15",
    "6.18",
)
LEAST_WITH_GENERATIONS = VERSIONS.index("6.1")
NOT_BY_REQUESTS = {
    "burst",
    "write_cache",
    "unevenness",
    "read_at",
    "write_at",
    "iops",
    "san",
    "rotation",
    "raid",
}
"""Of a disk with one of these, pages are flows."""


def host(chance: Chance, disks: int = 2, has_cgroups: bool = True) -> Table:
    """Draw a machine with one to `disks` disks, each mounted at "/" and its name.

    With cgroups there may be a tmpfs and a journal, too: other hosts mount no tmpfs, and a commit by its age
    is not later on a slower disk.
    """
    memory = chance.size(300 * MB, 16_000 * MB)
    names = [f"d{number}" for number in range(chance.randint(1, disks))]
    machine: Table = {"cores": chance.one_of(1, 2, 4, 16)}
    machine |= {"vm": settings(chance, memory), "kernel": kernel(chance)}
    machine["memory"] = {"size": memory, **rates(chance, 800, 12_000)}
    if chance.sometimes():
        machine["memory"]["per_thread"] = chance.rate(500 * MB, 6_000 * MB)
    if chance.seldom():
        machine["memory"]["nodes"] = 2
    if chance.seldom():
        machine["memory"]["l2"] = Size(chance.one_of(256, 512, 1024, 2048) << 10)
    machine["memory"]["cost"] = cost(chance)
    machine["disk"] = {name: disk(chance, machine["kernel"]["version"]) for name in names}
    machine["mount"] = {f"/{name}": mount(chance, name) for name in names}
    if has_cgroups:
        journal(chance, machine)
        if chance.seldom():
            machine["mount"]["/tmpfs"] = {"type": "tmpfs", "size": Size(memory // chance.one_of(2, 4))}
    if has_cgroups and chance.sometimes():
        limit = chance.one_of("max", "limit_in_bytes")
        size = Size(max(64 * MB, memory // chance.one_of(2, 4, 8)))
        machine["cgroup"] = {"g": {"memory": {limit: size}}}
        if limit == "max":
            control(chance, machine)
    return machine


def control(chance: Chance, machine: Table) -> None:
    """Draw `io.max` and `io.weight` of a cgroup on disks that serve requests one by one."""
    io: Table = {}
    for name, drawn in machine["disk"].items():
        if "service" not in drawn or drawn.keys() & NOT_BY_REQUESTS:
            continue
        if chance.sometimes():
            key = chance.one_of("bps", "iops")
            limits = [chance.between(20, 5000) for _ in range(2)]
            each = [Rate(100_000 * limit) for limit in limits] if key == "bps" else limits
            io.setdefault("max", {})[name] = {f"r{key}": each[0], f"w{key}": each[1]}
        if chance.sometimes():
            wbps = Rate(chance.between(20 * MB, 2000 * MB))
            drawn["iocost"] = {"wbps": wbps, "max": chance.one_of(100, 1000)}
            io["weight"] = chance.between(1, 1000)
    if io:
        machine["cgroup"]["g"]["io"] = io


def kernel(chance: Chance) -> Table:
    """Draw which Linux it runs."""
    version = chance.choice(VERSIONS)
    drawn: Table = {"version": version}
    if chance.sometimes():
        drawn["hz"] = chance.one_of(100, 250, 300, 1000)
    if VERSIONS.index(version) >= LEAST_WITH_GENERATIONS and chance.random() < 0.5:
        drawn["lru"] = "mglru"
    return drawn


def settings(chance: Chance, memory: int) -> Table:
    """Draw settings of `vm`; often there are none."""
    drawn: Table = {}
    if chance.sometimes():
        ratio = chance.randint(2, 80)
        drawn |= {"dirty_ratio": ratio, "dirty_background_ratio": chance.randint(1, ratio)}
    elif chance.sometimes():
        limit = chance.size(10 * MB, memory // 4)
        drawn |= {"dirty_bytes": limit, "dirty_background_bytes": Size(limit // chance.one_of(2, 3, 10))}
    if chance.sometimes():
        drawn["dirty_expire_centisecs"] = chance.one_of(100, 500, 3000, 30_000)
    if chance.sometimes():
        drawn["dirty_writeback_centisecs"] = chance.one_of(50, 100, 500, 1500)
    if chance.seldom():
        drawn["watermark_scale_factor"] = chance.one_of(10, 50, 200)
    if chance.seldom():
        drawn["min_free_kbytes"] = chance.between(1024, 65_536)
    return drawn


def rates(chance: Chance, least_mb: int, most_mb: int) -> Table:
    """Draw rates of reading and writing, and how they share."""
    read = chance.rate(least_mb * MB, most_mb * MB)
    write = read if chance.sometimes() else chance.rate(least_mb * MB, most_mb * MB)
    drawn: Table = {"read": read, "write": write, "sharing": chance.one_of("total", "separate", "time")}
    for key, rate in (("read_at", read), ("write_at", write)):
        if chance.seldom():
            drawn[key] = {"1": rate, str(chance.randint(2, 8)): Rate(int(rate * chance.uniform(0.6, 2.5)))}
    return drawn


STRIPED = "/striped"
"""Where clients mount files in parts: no client caches them or maps them."""

COSTS = {
    "call": (100, 3 * US),
    "page_insert": (50, US),
    "folio_insert": (50, US),
    "page_lookup": (20, 300),
    "fault": (100, 2 * US),
    "fault_huge": (10 * US, 300 * US),
    "page_remove": (20, 500),
    "page_reclaim": (50, US),
    "page_writeback": (50, 3 * US),
    "block_reserve": (50, 2 * US),
    "page_reported": (200, 4 * US),
    "request": (100, 20 * US),
    "page_remote": (50, 500),
    "page_remote_read": (50, 500),
    "page_l2_miss": (50, 2 * US),
}


def cost(chance: Chance) -> Table:
    """Draw what the steps of a read or write cost; most cost nothing."""
    drawn: Table = {key: chance.time(*COSTS[key]) for key in chance.some_of(list(COSTS), 5)}
    if chance.sometimes():
        drawn["copy_read"] = chance.rate(1000 * MB, 8000 * MB)
    if chance.sometimes():
        drawn["copy_write"] = chance.rate(1000 * MB, 8000 * MB)
    if chance.seldom():
        drawn["flushing_factor"] = chance.one_of(0.5, 0.8)
    return drawn


def disk(chance: Chance, version: str) -> Table:
    """Draw a disk, from one that turns to a fast one."""
    drawn: Table = {"size": Size(4 * 10**12), **rates(chance, 20, 3000)}
    extras = {
        "nr_requests": chance.between(1, 1024),
        "max_sectors_kb": chance.one_of(128, 512, 1280, 4096),
        "read_ahead_kb": chance.one_of(0, 32, 128, 512, 4096),
        "latency": chance.time(20 * US, 8 * MS),
        "seek": chance.time(100 * US, 10 * MS),
        "write_latency": chance.time(10 * US, 5 * MS),
        "flush": chance.time(20 * US, 20 * MS),
        "stable_writes": True,
    }
    for key in chance.some_of(list(extras), 4):
        drawn[key] = extras[key]
    if chance.sometimes():
        own = chance.one_of(
            "burst",
            "write_cache",
            "unevenness",
            "wbt",
            "limits",
            "rotation",
            "raid",
            "drawn",
            "san",
            "requests",
        )
        drawn |= own_ways(chance, own, drawn["write"], version)
    return drawn


def own_ways(chance: Chance, kind: str, write: int, version: str) -> Table:
    """Draw what few disks have."""
    match kind:
        case "burst":
            return {"burst": chance.time(10 * MS, 60_000 * MS)}
        case "write_cache":
            faster = Rate(int(write * chance.uniform(1.1, 8)))
            return {"write_cache": {"size": chance.size(10 * MB, 2000 * MB), "rate": faster}}
        case "requests":
            return {
                "service": chance.time(10 * US, 2 * MS),
                "hw_queue_depth": chance.between(1, 64),
                "scheduler": chance.one_of("none", "mq-deadline", "kyber", "bfq"),
            }
        case "unevenness":
            return {"unevenness": chance.one_of(0.1, 0.3)}
        case "rotation":
            average = chance.between(3 * MS, 12 * MS)
            return {
                "rotation": {
                    "rpm": chance.one_of(5400, 7200, 10_000),
                    "track_seek": chance.time(100 * US, MS),
                    "average_seek": Time(average),
                    "inner": chance.one_of(0.5, 1.0),
                    "cache": chance.size(2 * MB, 64 * MB),
                }
            }
        case "drawn":
            median = chance.between(5 * US, MS)
            return {
                "service_read": {"p50": Time(median), "p99": Time(3 * median), "p99_999": Time(40 * median)},
                "service_write": {"p50": Time(median)},
                "iops": {"baseline": chance.between(100, 5000), "burst": 5000, "credits": 100_000},
            }
        case "san":
            return {"san": {"rate": Rate(2 * write), "round_trip": chance.time(100 * US, 5 * MS)}}
        case "raid":
            level = chance.one_of("jbod", "0", "1", "5", "6", "10")
            disks, cache = 2 * chance.between(2, 5), chance.one_of(0, 17, 256)
            return {"raid": {"level": level, "disks": disks, "chunk": Size(64 << 10), "stripe_cache": cache}}
        case "wbt" if version not in ("2.6.27", "3.1", "3.10", "4.4"):
            return {"wbt_lat_usec": 2000, "queue_depth": chance.between(2, 256)}
        case "limits":
            return {"max_ratio": chance.one_of(5, 20, 50), "strict_limit": chance.one_of(True, False)}
    return {}


def mount(chance: Chance, disk: str) -> Table:
    """Draw a file system on a disk."""
    drawn: Table = {"disk": disk}
    if chance.sometimes():
        drawn["type"] = chance.one_of("ext3", "xfs", "btrfs", "f2fs", "other")
    if chance.seldom():
        drawn["write_mode"] = "through"
    if chance.sometimes():
        drawn["commit"] = chance.time(50 * US, 50 * MS)
    if chance.seldom():
        drawn |= {"block_free": chance.time(10, 2 * US), "file_free": chance.time(10 * US, 10 * MS)}
    if chance.seldom():
        drawn["page_insert"] = chance.time(50, US)
    if chance.seldom():
        drawn |= {"create": chance.time(US, 200 * US), "name_scan": chance.time(10, US)}
        drawn["commit_wakeup"] = chance.time(US, 20 * US)
        drawn |= {"open": chance.time(US, 20 * US), "iget": chance.time(US, 50 * US)}
        drawn["update_time"] = chance.time(US, 20 * US)
    return drawn


def journal(chance: Chance, machine: Table) -> None:
    """Draw a journal of the first disk, whose commits are requests, perhaps on the second one."""
    drawn = machine["mount"]["/d0"]
    if drawn.get("type", "ext4") not in ("ext4", "ext3", "xfs") or not chance.sometimes():
        return
    size = Size(chance.one_of(8, 64, 256) << 20)
    drawn["journal"] = {"size": size, "data": chance.one_of("ordered", "writeback", "journal")}
    if "d1" in machine["disk"] and chance.random() < 0.5:
        drawn["journal_device"] = "d1"


def remote(chance: Chance, directory: str) -> Table:
    """Draw how a client mounts a directory of the server."""
    drawn: Table = {"nfs": f"server:{directory}"}
    if chance.sometimes():
        drawn["write_mode"] = "through"
    if chance.often():
        drawn["options"] = {
            "rsize": Size(chance.one_of(4, 64, 1024) << 10),
            "wsize": Size(chance.one_of(4, 64, 1024) << 10),
            "slots": chance.one_of(1, 4, 64),
            "vers": chance.one_of("3", "4.2"),
            "acregmin": Time(chance.one_of(0, 3000 * MS)),
            "acregmax": Time(chance.one_of(3000 * MS, 60_000 * MS)),
            "noac": chance.one_of(True, False),
            "nocto": chance.one_of(True, False),
        }
    return drawn


def striping(chance: Chance, servers: int) -> Table:
    """Draw how files are dealt to so many servers."""
    drawn: Table = {"strip_size": Size(chance.one_of(1, 4096, 65_536, 1 << 20, 5_000_000))}
    if chance.sometimes():
        drawn["stripe_count"] = chance.randint(1, servers)
    if chance.sometimes():
        drawn |= {"flow_buffer": Size(chance.one_of(4096, 1 << 20)), "flow_buffers": chance.one_of(1, 8)}
    if chance.sometimes():
        drawn["small_io"] = Size(chance.one_of(0, 1 << 20))
    return drawn


def network(chance: Chance) -> Table:
    """Draw a server and one or two clients that mount what it exports, by a link each."""
    clients = [f"client{number}" for number in range(chance.randint(1, 2))]
    server = host(chance, has_cgroups=False)
    if chance.often():
        server["nfsd"] = {"threads": chance.one_of(1, 2, 8, 64), "call": chance.time(US, MS)}
        server["nfsd"]["delegations"] = chance.one_of(True, False)
        if chance.sometimes():
            server["nfsd"] |= {
                "stalls_at": chance.time(MS, 1000 * MS),
                "stalls_for": chance.time(MS, 10_000 * MS),
            }
    for exported in server["mount"].values():
        if chance.sometimes():
            exported["export"] = "async"
    hosts, links = {}, {}
    for client in clients:
        hosts[client] = host(chance, disks=1, has_cgroups=False)
        hosts[client]["mount"] |= {
            f"/nfs{directory}": remote(chance, directory) for directory in server["mount"]
        }
        links[f"lan_{client}"] = {"between": [client, "server"], "rate": chance.rate(10 * MB, 5000 * MB)}
        if chance.often():
            links[f"lan_{client}"]["latency"] = Time(chance.between(5 * US, 2 * MS))
        links[f"lan_{client}"] |= wires(chance)
    if chance.random() < 0.2:
        server["nic"] = wires(chance) | {"rate": chance.rate(10 * MB, 5000 * MB)}
    if chance.random() < 0.3:
        parts = chance.one_of(1, 2, 3)
        layout = striping(chance, parts)
        servers = [f"server:{chance.choice(list(server['mount']))}" for _ in range(parts)]
        for client in clients:
            hosts[client]["mount"][STRIPED] = {"striped": servers, "layout": layout}
    machine: Table = {"host": {**hosts, "server": server}}
    if chance.random() < 0.2:
        return machine | routes(chance, clients) | segments(chance)
    if chance.random() < 0.2:
        shape = chance.one_of("star", "two-level", "fat-tree", "torus")
        drawn: Table = {
            "topology": shape,
            "hosts": [*clients, "server"],
            "rate": chance.rate(10 * MB, 5000 * MB),
        }
        if shape == "two-level":
            drawn |= {"leaves": 2, "spines": chance.randint(1, 2)}
        elif shape == "fat-tree":
            drawn["k"] = 4
        elif shape == "torus":
            drawn["topo_parameters"] = "2,2"
        return machine | {"network": drawn | wires(chance) | segments(chance).get("network", {})}
    return machine | {"link": links} | segments(chance)


def routes(chance: Chance, clients: list[str]) -> Table:
    """Draw a route by hand from each client to the server, over links of which some are on several routes."""
    names = [f"wire{number}" for number in range(chance.randint(1, 6))]
    links = {
        name: {"rate": chance.rate(10 * MB, 5000 * MB), "latency": Time(chance.between(US, MS))}
        | wires(chance)
        for name in names
    }
    drawn = []
    for client in clients:
        length = chance.randint(1, len(names))
        route: Table = {
            "from": client,
            "to": "server",
            "links": [chance.choice(names) for _ in range(length)],
        }
        drawn.append(route)
        if chance.sometimes():
            route["symmetrical"] = False
            drawn.append({"from": "server", "to": client, "links": [chance.choice(names)]})
    return {"link": links, "route": drawn}


def segments(chance: Chance) -> Table:
    """Draw whether messages move segment by segment."""
    if chance.random() < 0.9:
        return {}
    return {"network": {"level": "segment", "device_buffer": Size(chance.one_of(9000, 1 << 20))}}


def wires(chance: Chance) -> Table:
    """Draw who shares a link, and what goes over it beside the bytes of messages."""
    drawn: Table = {}
    if chance.random() < 0.2:
        drawn["sharing"] = chance.one_of("shared", "split-duplex", "fatpipe")
    if chance.random() < 0.2:
        drawn["transport"] = chance.one_of("1gbe", "10gbe", "100gbe", "ipoib-qdr", "ipoib-fdr", "rdma-edr")
    if chance.random() < 0.2:
        drawn["mtu"] = Size(chance.one_of(1500, 9000))
    if chance.random() < 0.2:
        drawn["tcp_window"] = Size(chance.one_of(65_536, 4 << 20))
    return drawn
