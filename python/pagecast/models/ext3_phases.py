"""Cuts a program on ext3 into phases, each for a run of a net: reads, or writes and fsyncs, of one file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from pagecast.models.machine import PAGE_BYTES
from pagecast.models.programs import PAUSES, Operation
from pagecast.models.refusal import Refusal
from pagecast.petri.nets.calls import Call

__all__ = ["DROP", "SYNCS", "Phase", "phases_of"]

SYNCS: Final = ("fsync", "fdatasync")
DROP: Final = "drop_caches"
AT_ONCE: Final = ("open", "close", "signal", "exit")
"""Operations that take no time in a net."""

MOVES: Final = ("read", "write")
"""Operations that take no time if they move nothing."""

KINDS: Final = {"read": "read", "write": "write", DROP: DROP} | dict.fromkeys(SYNCS, "write")


@dataclass(slots=True)
class Phase:
    """Operations one behind the other that one net plays.

    Attributes
    ----------
    kind : {"read", "write", "drop_caches", ""}
        The net; the last two have no calls.
    path : str
        The file.
    operations : list of Operation
        Those without calls take their pause, or no time.
    last_call : list of int
        The number of the last call of each operation; -1 of those without calls.
    calls : list of Call
    """

    kind: str
    path: str
    operations: list[Operation] = field(default_factory=list)
    last_call: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @property
    def is_random(self) -> bool:
        """Whether most of its calls begin elsewhere than where the one before ended."""
        jumps = sum(one.end != other.first for one, other in pairwise(self.calls))
        return 2 * jumps > len(self.calls)

    def pause(self, operation: Operation) -> None:
        """Add an operation without calls."""
        self.operations.append(operation)
        self.last_call.append(-1)

    def add(self, operation: Operation) -> None:
        """Add an operation that moves bytes, or an fsync."""
        before_ns = 0
        for each, last in zip(reversed(self.operations), reversed(self.last_call), strict=True):
            if last >= 0:
                break
            before_ns += each.pause_ns
        for call in operation.calls:
            self.calls.append(Call(*_pages(*call), before_ns))
            before_ns = 0
        if not operation.calls:
            self.calls.append(Call(0, 0, before_ns))
        self.operations.append(operation)
        self.last_call.append(len(self.calls) - 1)


def phases_of(operations: Iterable[Operation], refusal: Refusal) -> Iterator[Phase]:
    """Cut a program into phases. A pause is in the phase of the operation behind it.

    Parameters
    ----------
    operations : iterable of Operation
    refusal : Refusal
        Takes operations that no net plays.

    Yields
    ------
    Phase
    """
    phase = Phase("", "")
    pauses: list[Operation] = []
    for operation in operations:
        kind = KINDS.get(operation.kind)
        if operation.kind in (*PAUSES, *AT_ONCE) or (operation.kind in MOVES and not operation.calls):
            pauses.append(operation)
            continue
        if kind is None:
            refusal.add(
                f"`{operation.kind}` of {operation.process} is in no net; they have read, write, fsync, "
                "fdatasync, compute and sleep"
            )
            continue
        if (kind, operation.path) != (phase.kind, phase.path) or kind == DROP:
            if phase.operations:
                yield phase
            phase = Phase(kind, operation.path)
        for pause in pauses:
            phase.pause(pause)
        pauses.clear()
        if kind == DROP:
            phase.pause(operation)
        else:
            phase.add(operation)
    if phase.operations:
        yield phase
    if pauses:
        phase = Phase("", "")
        for pause in pauses:
            phase.pause(pause)
        yield phase


def _pages(offset_bytes: int, size_bytes: int) -> tuple[int, int]:
    """Give the pages of a call, from the first to behind the last."""
    return offset_bytes // PAGE_BYTES, -(-(offset_bytes + size_bytes) // PAGE_BYTES)
