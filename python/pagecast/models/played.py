"""What a net has found: when each operation began and ended, its parts, and the levels of the memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pagecast.models.programs import Operation

__all__ = ["Level", "Played", "PlayedFile", "PlayedOperation"]


@dataclass(frozen=True, slots=True)
class PlayedOperation:
    """An operation as a net has played it.

    Attributes
    ----------
    operation : Operation
    start_ns, end_ns : int
    parts : mapping of str to int
        Nanoseconds by the name of a part; they add up to the duration.
    from_cache_bytes, from_device_bytes : int
    calls_ns : tuple of tuple of int and int
        Start and end of each of its calls.
    """

    operation: Operation
    start_ns: int
    end_ns: int
    parts: Mapping[str, int]
    from_cache_bytes: int = 0
    from_device_bytes: int = 0
    calls_ns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """The memory of a host at a moment, in bytes."""

    time_ns: int
    host: str
    cached_bytes: int
    dirty_bytes: int


@dataclass(frozen=True, slots=True)
class PlayedFile:
    """How much of a file is in memory after an operation of a process; at the end its process is ""."""

    time_ns: int
    process: str
    index: int
    path: str
    host: str
    size_bytes: int
    cached_bytes: int
    dirty_bytes: int
    active_bytes: int


@dataclass(slots=True)
class Played:
    """All that the nets have found, what they leave out of the machine, and what they draw by the seed."""

    operations: list[PlayedOperation] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    files: list[PlayedFile] = field(default_factory=list)
    end_ns: int = 0
    left_out: tuple[str, ...] = ()
    draws: str = ""
