"""Plays clients of a striped mount in the nets of PVFS.

Each client has a program of one read or one write of a file of its own, all of one size in calls of one size.
Writes may be followed by reads that wait for all of them; each such round is a run of a net.

Parts follow from runs of the same net with less in it. `device_read` and `device_write` are what is saved by
disks without a time, `server` what is saved further by servers without one; the rest is `network`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from pagecast.api import Scenario
from pagecast.models.asked import Asked
from pagecast.models.machine import PAGE_BYTES, hosts_of, left_out, mount_of, network_of
from pagecast.models.played import Level, Played, PlayedFile, PlayedOperation
from pagecast.models.programs import Operation, Programs, check_clean, programs_of
from pagecast.models.pvfs_machine import Cluster, cluster_of
from pagecast.models.pvfs_rounds import Program, is_cached_at_start, rounds_of
from pagecast.models.refusal import Refusal
from pagecast.models.values import Values
from pagecast.petri.net import Net
from pagecast.petri.nets.pvfs_read import pvfs_read
from pagecast.petri.nets.pvfs_write import pvfs_write
from pagecast.petri.run import Run

__all__ = ["client_times_ns", "is_striped", "play_pvfs"]

NO_DISK: Final = {"disk_position_ns": 0, "disk_page_ns": 0}
NO_SERVER: Final = NO_DISK | {
    "search_ns": 0,
    "fread_ns": 0,
    "look_up_ns": 0,
    "fwrite_ns": 0,
    "begin_ns": 0,
    "commit_write_ns": 0,
    "copy_l2_ns": 0,
    "copy_memory_ns": 0,
}
"""Values of the nets for servers that take no time."""

BUILDERS: Final = {"read": pvfs_read, "write": pvfs_write}


def is_striped(programs: Programs, hosts: Mapping[str, Any]) -> bool:
    """Tell whether a program uses a striped mount."""
    for operations in programs.operations.values():
        for operation in operations:
            found = mount_of(hosts[operation.host], operation.path) if operation.path else None
            if found is not None and "striped" in found[1]:
                return True
    return False


def play_pvfs(
    scenario: Scenario,
    programs: Programs,
    hosts: Mapping[str, Any],
    network: Mapping[str, Any],
    refusal: Refusal,
    asked: Asked,
) -> Played:
    """Play clients and servers of a striped mount.

    Parameters
    ----------
    scenario : Scenario
    programs : Programs
    hosts, network : mapping
        Tables of the machine.
    refusal : Refusal
        Takes reasons; it is checked before a net runs.
    asked : Asked

    Returns
    -------
    Played

    Raises
    ------
    ScenarioError
        The nets cannot play it.
    """
    asked.values.check(pvfs_read(1, 1), pvfs_write(1, 1))
    rounds = rounds_of(programs, refusal)
    cluster = cluster_of([program.moves for one in rounds for program in one], hosts, network, refusal)
    is_cached = is_cached_at_start(programs, cluster, rounds, refusal)
    check_clean(scenario, programs, refusal)
    played = Played(left_out=_left_out(cluster, rounds))
    state = _State({server: programs.cached.get(server, 0) for server in cluster.servers})
    state.tell(played, 0, cluster)
    for done, one in enumerate(rounds):
        if asked.progress is not None:
            asked.progress(done / len(rounds), played.end_ns / 1e9)
        _play(one, cluster, is_cached if done == 0 else True, asked, played, state)
    played.files.extend(state.rows(played.end_ns, cluster))
    played.draws = "petri draws which of two packets goes first"
    return played


@dataclass(slots=True)
class _State:
    """Cached and dirty bytes by server, and the operations that used files last, by path."""

    cached: dict[str, int]
    dirty: dict[str, int] = field(default_factory=dict)
    files: dict[str, Operation] = field(default_factory=dict)

    def use(self, moves: Sequence[Operation], cluster: Cluster) -> None:
        """Note that files are cached."""
        self.files.update({move.path: move for move in moves})
        for number, server in enumerate(cluster.servers):
            shares = sum(_share(move.size_bytes, number, cluster) for move in self.files.values())
            self.cached[server] = min(shares, cluster.memory_bytes)

    def tell(self, played: Played, time_ns: int, cluster: Cluster) -> None:
        """Note the levels of all hosts; the nets give clients no page cache."""
        for client in cluster.clients:
            played.levels.append(Level(time_ns, client, 0, 0))
        for server in cluster.servers:
            played.levels.append(Level(time_ns, server, self.cached[server], self.dirty.get(server, 0)))

    def rows(self, time_ns: int, cluster: Cluster) -> Iterator[PlayedFile]:
        """Give the files of clients, and their datafiles on servers, all of which are alike."""
        for path, move in self.files.items():
            yield PlayedFile(time_ns, "", -1, path, move.host, move.size_bytes, 0, 0, 0)
        for number, server in enumerate(cluster.servers):
            for path, move in self.files.items():
                size = _share(move.size_bytes, number, cluster)
                cached = min(size, self.cached[server] // len(self.files))
                dirty = min(size, self.dirty.get(server, 0) // len(self.files))
                datafile = f"/.striped/{PurePosixPath(path).name}.{number}"
                yield PlayedFile(time_ns, "", -1, datafile, server, size, cached, dirty, 0)


def _left_out(cluster: Cluster, rounds: Sequence[Sequence[Program]]) -> tuple[str, ...]:
    writes = any(each.moves.kind == "write" for one in rounds for each in one)
    return tuple(left_out(cluster.server, cluster.disk, cluster.mount, writes=writes))


def _play(
    programs: Sequence[Program],
    cluster: Cluster,
    is_cached: bool,
    asked: Asked,
    played: Played,
    state: _State,
) -> None:
    """Play a round: with all times, without those of disks, and without those of servers."""
    moves = [program.moves for program in programs]
    net, kind, values = _net(moves, cluster, is_cached, asked.values)
    run, whole = _times(net, kind, values, asked.seed)
    _, without_disk = _times(net, kind, {**values, **_known(NO_DISK, net)}, asked.seed)
    _, without_server = _times(net, kind, {**values, **_known(NO_SERVER, net)}, asked.seed)
    begin_ns = max(played.end_ns, programs[0].begins_ns if played.end_ns == 0 else 0)
    for number, program in enumerate(programs):
        device_ns = max(0, whole[number] - without_disk[number])
        server_ns = max(0, whole[number] - device_ns - without_server[number])
        parts = {
            f"device_{kind}": device_ns,
            "server": server_ns,
            "network": whole[number] - device_ns - server_ns,
        }
        now_ns = begin_ns
        for operation in program.operations:
            end_ns = now_ns + (whole[number] if operation is program.moves else 0)
            size, is_cold = operation.size_bytes, kind == "read" and not is_cached
            played.operations.append(
                PlayedOperation(
                    operation,
                    now_ns,
                    end_ns,
                    parts if operation is program.moves else {},
                    0 if is_cold else size,
                    size if is_cold else 0,
                )
            )
            now_ns = end_ns
    played.end_ns = begin_ns + max(whole)
    state.use(moves, cluster)
    if kind == "write":
        state.dirty = _dirty(run, cluster)
    state.tell(played, played.end_ns, cluster)


def client_times_ns(scenario: Scenario, values: Mapping[str, str], *, seed: int = 0) -> list[int]:
    """Give how long each client takes in the first round of a scenario, without parts: a third of the time.

    Parameters
    ----------
    scenario : Scenario
    values : mapping of str to str
        Values of the nets, which come before those of the machine.
    seed : int

    Returns
    -------
    list of int

    Raises
    ------
    ScenarioError
        The nets cannot play it.
    """
    refusal, given = Refusal(scenario.origin), Values(values)
    programs = programs_of(scenario, refusal)
    hosts, network = hosts_of(scenario.machine), network_of(scenario.machine)
    rounds = rounds_of(programs, refusal)[:1]
    moves = [program.moves for one in rounds for program in one]
    cluster = cluster_of(moves, hosts, network, refusal)
    is_cached = is_cached_at_start(programs, cluster, rounds, refusal)
    check_clean(scenario, programs, refusal)
    net, kind, of_net = _net(moves, cluster, is_cached, given)
    return _times(net, kind, of_net, seed)[1]


def _net(
    moves: Sequence[Operation], cluster: Cluster, is_cached: bool, given: Values
) -> tuple[Net, str, dict[str, Any]]:
    """Give the net of a round, its kind and its values."""
    kind, calls = moves[0].kind, moves[0].calls
    net = BUILDERS[kind](len(moves), len(cluster.servers))
    values = {**cluster.values(kind), "file_bytes": moves[0].size_bytes, "block_bytes": calls[0][1]}
    known = net.values
    if kind == "read":
        values["is_cached"] = is_cached
    of_net = {name: value for name, value in given.over(values, known).items() if name in known}
    return net, kind, of_net


def _times(net: Net, kind: str, values: Mapping[str, Any], seed: int) -> tuple[Run, list[int]]:
    """Give the run of a net, and when each client has finished, the first one first."""
    run = net.with_values(**values).run(seed=seed)
    finished = run.tokens(f"pvfs {kind}'Finished")
    return run, [time for _, time in sorted(zip(finished["value"], finished["time"], strict=True))]


def _known(values: Mapping[str, int], net: Net) -> dict[str, int]:
    return {name: value for name, value in values.items() if name in net.values}


def _dirty(run: Run, cluster: Cluster) -> dict[str, int]:
    """Give the dirty bytes of each server at the end of a run."""
    found = {}
    for number, server in enumerate(cluster.servers, 1):
        instance = f" {number}" if len(cluster.servers) > 1 else ""
        pages = run.tokens(f"Local file system'Dirty pages{instance}")["value"][0]
        found[server] = PAGE_BYTES * int(pages)
    return found


def _share(size_bytes: int, server: int, cluster: Cluster) -> int:
    """Give the bytes of a file on a server: strips go round robin, the first one to the first server."""
    strip, servers = cluster.strip_bytes, len(cluster.servers)
    whole, rest = divmod(size_bytes, strip * servers)
    return whole * strip + min(strip, max(0, rest - server * strip))
