"""Whole random scenarios: any machine, several processes, NFS."""

from fuzz.laws.chance import Chance
from fuzz.laws.document import Table, hosts_of
from fuzz.laws.machines import host, network
from fuzz.laws.programs import EVERYTHING, REMOTE, Program, Room, files, start


def scenario(chance: Chance) -> Table:
    """Draw a scenario: one host, several that share nothing, or a server and its clients."""
    kind = chance.random()
    if kind < 0.7:
        document: Table = {"machine": host(chance)}
    elif kind < 0.8:
        document = {"host": {f"h{number}": host(chance) for number in range(chance.randint(2, 3))}}
    else:
        document = network(chance)
    document |= {"file": [], "process": []}
    names: dict[str, list[str]] = {}
    for name, machine in hosts_of(document).items():
        room = Room(memory=machine["memory"]["size"])
        own_name = name if "host" in document else None
        local = [path for path, mount in machine["mount"].items() if "disk" in mount]
        shared = files(chance, room, [f"{path}/{name}.shared" for path in local], own_name)
        document["file"] += shared
        for number in range(chance.randint(0 if "host" in document else 1, 4)):
            process = f"{name}.p{number}"
            is_remote = "link" in document and name != "server"
            mounts = list(machine["mount"])
            lasting = [path for path in mounts if path != "/tmpfs"]
            existing = [f"{chance.choice(lasting)}/{process}.{kind}" for kind in "ab"]
            owned = files(chance, room, existing, own_name)
            document["file"] += owned
            sizes = {file["path"]: int(file["size"]) for file in owned}
            events = [event for list_ in names.values() for event in list_]
            program = Program(chance, room, mounts, sizes, shared, process, events, is_remote)
            entry: Table = {"name": process, "do": program.draw(REMOTE if is_remote else EVERYTHING, 8)}
            names[process] = [step["signal"] for step in entry["do"] if "signal" in step]
            entry |= start(chance) | ({"host": own_name} if own_name else {})
            earlier = [each["name"] for each in document["process"]]
            if earlier and chance.seldom():
                entry["after"] = [chance.choice(earlier)]
            if "cgroup" in machine and chance.random() < 0.6:
                entry["cgroup"] = "g"
            document["process"].append(entry)
    if not document["process"]:
        return scenario(chance)
    return document
