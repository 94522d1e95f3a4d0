"""Plays clients of a striped mount in the nets of PVFS.

Each client has a program of one read or one write of a file of its own, all of one size in calls of one size.
Writes may be followed by reads that wait for all of them; each such round is a run of a net.

Parts follow from runs of the same net with less in it. `device_read` and `device_write` are what is saved by
disks without a time, `server` what is saved further by servers without one; the rest is `network`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pagecast.models.asked import Asked
from pagecast.models.machine import PAGE_BYTES, left_out, mount_of
from pagecast.models.played import Level, Played, PlayedFile, PlayedOperation
from pagecast.models.programs import PAUSES, Operation, Programs
from pagecast.models.pvfs_machine import Cluster, cluster_of
from pagecast.models.refusal import Refusal
from pagecast.petri.net import Net
from pagecast.petri.nets.pvfs_read import pvfs_read
from pagecast.petri.nets.pvfs_write import pvfs_write
from pagecast.petri.run import Run

__all__ = ["is_striped", "play_pvfs"]

AT_ONCE: Final = ("open", "close", "exit")
"""Operations that take no time in the nets."""

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


@dataclass(frozen=True, slots=True)
class _Program:
    """The program of a client: operations at once, and one that moves a file."""

    operations: tuple[Operation, ...]
    moves: Operation

    @property
    def begins_ns(self) -> int:
        return self.operations[0].begins_ns

    @property
    def ends_ns(self) -> int:
        return self.operations[-1].ends_ns


def is_striped(programs: Programs, hosts: Mapping[str, Any]) -> bool:
    """Tell whether a program uses a striped mount."""
    for operations in programs.operations.values():
        for operation in operations:
            found = mount_of(hosts[operation.host], operation.path) if operation.path else None
            if found is not None and "striped" in found[1]:
                return True
    return False


def play_pvfs(
    programs: Programs,
    hosts: Mapping[str, Any],
    network: Mapping[str, Any],
    refusal: Refusal,
    asked: Asked,
) -> Played:
    """Play clients and servers of a striped mount.

    Parameters
    ----------
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
    own = [_program(name, operations, refusal) for name, operations in programs.operations.items()]
    rounds = list(_rounds([each for each in own if each is not None], refusal))
    cluster = cluster_of([each for one in rounds for each in (p.moves for p in one)], hosts, network, refusal)
    for one in rounds:
        _check_alike(one, refusal)
    is_cached = _is_cached(programs, cluster, rounds, refusal)
    refusal.check()
    played = Played(left_out=_left_out(cluster, rounds))
    state = _State({server: programs.cached.get(server, 0) for server in cluster.servers}, {}, {})
    state.tell(played, 0, cluster)
    for done, one in enumerate(rounds):
        if asked.progress is not None:
            asked.progress(done / len(rounds), played.end_ns / 1e9)
        _play(one, cluster, is_cached if done == 0 else True, asked, played, state)
    for path, size_bytes in state.files.items():
        played.files.append(PlayedFile(played.end_ns, "", -1, path, cluster.clients[0], size_bytes, 0, 0, 0))
    return played


@dataclass(slots=True)
class _State:
    """Cached and dirty bytes by server, and bytes of files."""

    cached: dict[str, int]
    dirty: dict[str, int]
    files: dict[str, int]

    def tell(self, played: Played, time_ns: int, cluster: Cluster) -> None:
        """Note the levels of the servers; the nets give clients no page cache."""
        for server in cluster.servers:
            cached = min(self.cached[server], cluster.memory_bytes)
            played.levels.append(Level(time_ns, server, cached, self.dirty.get(server, 0)))


def _program(name: str, operations: Sequence[Operation], refusal: Refusal) -> _Program | None:
    """Give the program of a client, if it has a read or a write."""
    moves = [each for each in operations if each.kind in BUILDERS]
    for each in operations:
        if each.kind not in (*BUILDERS, *AT_ONCE) and not (each.kind in PAUSES and each.pause_ns == 0):
            refusal.add(
                f"`{each.kind}` of {name} is in no net of PVFS; they have one read or write of a file"
            )
    if len(moves) != 1:
        if operations:
            refusal.add(f"{name} has {len(moves)} reads and writes; a client of the nets has one of a file")
        return None
    return _Program(tuple(operations), moves[0])


def _rounds(programs: Sequence[_Program], refusal: Refusal) -> Iterator[list[_Program]]:
    """Give the programs that run together; those of the next round begin when all of these have ended."""
    one: list[_Program] = []
    for program in sorted(programs, key=lambda each: each.begins_ns):
        if one and program.begins_ns >= max(each.ends_ns for each in one):
            yield one
            one = []
        if one and program.begins_ns != one[0].begins_ns:
            refusal.add(
                f"{program.moves.process} begins while others are under way; those of the nets begin together"
            )
        one.append(program)
    if one:
        yield one


def _check_alike(programs: Sequence[_Program], refusal: Refusal) -> None:
    """Refuse clients that differ."""
    moves = [program.moves for program in programs]
    first = moves[0]
    if len({each.host for each in moves}) < len(moves):
        refusal.add("a host has several processes at once; a client of the nets has one")
    if len({each.path for each in moves}) < len(moves):
        refusal.add("several clients use one file; each client of the nets has a file of its own")
    if any(
        (each.kind, each.size_bytes, each.calls) != (first.kind, first.size_bytes, first.calls)
        for each in moves
    ):
        refusal.add(
            "clients differ in what they do; those of the nets read, or write, files of one size alike"
        )
    at = 0
    for offset, size in first.calls:
        if offset != at or size != first.calls[0][1]:
            refusal.add(
                f"`{first.kind}` of {first.process} is not made of equal calls one behind the other from "
                "the start of the file; make its size a multiple of `call`"
            )
            break
        at += size


def _is_cached(
    programs: Programs, cluster: Cluster, rounds: Sequence[Sequence[_Program]], refusal: Refusal
) -> bool:
    """Tell whether the servers have all of the files at time 0, or nothing."""
    cached = sum(programs.cached.get(server, 0) for server in cluster.servers)
    if any(programs.dirty.values()):
        refusal.add("a file is dirty at time 0; the nets begin with clean pages: leave `dirty` out")
    read = (
        sum(each.moves.size_bytes for each in rounds[0])
        if rounds and rounds[0][0].moves.kind == "read"
        else 0
    )
    if read and cached not in (0, read):
        refusal.add("a part of the files is cached at time 0; cache all of them, or nothing")
    written = [each for one in rounds[:-1] for each in one if each.moves.kind == "write"]
    if sum(each.moves.size_bytes for each in written) > len(cluster.servers) * cluster.memory_bytes:
        refusal.add("more is written than fits into the memory of the servers, and read again")
    for before, after in pairwise(rounds):
        wrote = {each.moves.path for each in before}
        if after[0].moves.kind == "read" and not {each.moves.path for each in after} <= wrote:
            refusal.add(
                "files are read that the round before did not use; the nets do not know what is cached"
            )
    return bool(read and cached == read)


def _left_out(cluster: Cluster, rounds: Sequence[Sequence[_Program]]) -> tuple[str, ...]:
    writes = any(each.moves.kind == "write" for one in rounds for each in one)
    return tuple(left_out(cluster.server, cluster.disk, cluster.mount, writes=writes))


def _play(
    programs: Sequence[_Program],
    cluster: Cluster,
    is_cached: bool,
    asked: Asked,
    played: Played,
    state: _State,
) -> None:
    """Play a round: with all times, without those of disks, and without those of servers."""
    moves = [program.moves for program in programs]
    kind, calls = moves[0].kind, moves[0].calls
    net = BUILDERS[kind](len(moves), len(cluster.servers))
    values = {**cluster.values(kind), "file_bytes": moves[0].size_bytes, "block_bytes": calls[0][1]}
    if kind == "read":
        values["is_cached"] = is_cached
    values = {
        name: value for name, value in asked.values.over(values, net.values).items() if name in net.values
    }
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
    if kind == "write" or not is_cached:
        for number, server in enumerate(cluster.servers):
            state.cached[server] += sum(_share(move.size_bytes, number, cluster) for move in moves)
    state.files.update({move.path: move.size_bytes for move in moves})
    if kind == "write":
        state.dirty = _dirty(run, cluster)
    state.tell(played, played.end_ns, cluster)


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
