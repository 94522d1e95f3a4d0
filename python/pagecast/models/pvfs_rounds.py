"""Cuts the programs on a striped mount into rounds, each of which a net of PVFS plays.

The clients of a round do one read or one write each, alike and at the same time. Those of the next round wait
for all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pagecast.models.programs import PAUSES, Operation, Programs
from pagecast.models.pvfs_machine import Cluster
from pagecast.models.refusal import Refusal

__all__ = ["KINDS", "Program", "is_cached_at_start", "rounds_of"]

KINDS: Final = ("read", "write")
"""The nets."""

AT_ONCE: Final = ("open", "close", "exit")
"""Operations that take no time in the nets."""


@dataclass(frozen=True, slots=True)
class Program:
    """The program of a client: operations at once, and one that moves a file."""

    operations: tuple[Operation, ...]
    moves: Operation

    @property
    def begins_ns(self) -> int:
        """When the core begins it."""
        return self.operations[0].begins_ns

    @property
    def ends_ns(self) -> int:
        """When the core ends it."""
        return self.operations[-1].ends_ns


def rounds_of(programs: Programs, refusal: Refusal) -> list[list[Program]]:
    """Give the rounds of a scenario.

    Parameters
    ----------
    programs : Programs
    refusal : Refusal
        Takes programs that no net plays.

    Returns
    -------
    list of list of Program
    """
    own = [_program(name, operations, refusal) for name, operations in programs.operations.items()]
    rounds = list(_rounds([each for each in own if each is not None], refusal))
    for one in rounds:
        _check_alike(one, refusal)
    return rounds


def _program(name: str, operations: Sequence[Operation], refusal: Refusal) -> Program | None:
    """Give the program of a client, if it has a read or a write."""
    moves = [each for each in operations if each.kind in KINDS]
    for each in operations:
        if each.kind not in (*KINDS, *AT_ONCE) and not (each.kind in PAUSES and each.pause_ns == 0):
            refusal.add(
                f"`{each.kind}` of {name} is in no net of PVFS; they have one read or write of a file"
            )
    if len(moves) != 1:
        if operations:
            refusal.add(f"{name} has {len(moves)} reads and writes; a client of the nets has one of a file")
        return None
    return Program(tuple(operations), moves[0])


def _rounds(programs: Sequence[Program], refusal: Refusal) -> Iterator[list[Program]]:
    """Give the programs that run together; those of the next round begin when all of these have ended."""
    one: list[Program] = []
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


def _check_alike(programs: Sequence[Program], refusal: Refusal) -> None:
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


def is_cached_at_start(
    programs: Programs, cluster: Cluster, rounds: Sequence[Sequence[Program]], refusal: Refusal
) -> bool:
    """Tell whether the servers have all of the files at time 0; refuse what is neither all nor nothing."""
    cached = sum(programs.cached.get(server, 0) for server in cluster.servers)
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
