"""The values that a page cache in a SimPy model returns: outcomes of operations, content of memory."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FileState", "Latency", "Memory", "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an operation went.

    Attributes
    ----------
    operation : str
        "read", "write", "fsync", ...
    path : str or None
        The file, if there is one.
    start_s, end_s : float
        The environment's time, in seconds.
    from_cache_bytes : int
        Bytes that the page cache served, or of a write those that went into it.
    from_device_bytes : int
        Bytes that a disk served or took before the operation ended.
    parts_s : mapping of str to float
        Where the time went, by the names of the table ``parts``; they add up to the duration.
    """

    operation: str
    path: str | None
    start_s: float
    end_s: float
    from_cache_bytes: int
    from_device_bytes: int
    parts_s: Mapping[str, float]

    @property
    def duration_s(self) -> float:
        """From its start to its end."""
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class Latency:
    """How long the operations of one kind took, of the SimPy processes of one name on one file.

    Attributes
    ----------
    process : str or None
        The name of the processes; None if there are too many rows for each to have its own.
    path : str or None
        The file, if there is one.
    operation : str
        "read", "write", "fsync", ...
    count, bytes : int
        How many there were, a pattern by its calls, and the bytes that they moved.
    mean_s, max_s : float
        The mean, and the longest.
    p50_s, p90_s, p99_s, p99_9_s : float
        So many percent of them took no longer, to a thousandth: the columns of `pagecast.Result.latency`.
    """

    process: str | None
    path: str | None
    operation: str
    count: int
    bytes: int
    mean_s: float
    p50_s: float
    p90_s: float
    p99_s: float
    p99_9_s: float
    max_s: float


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a host.

    Attributes
    ----------
    total_bytes : int
        Its size.
    anonymous_bytes : int
        Memory of the programs.
    cached_bytes : int
        The page cache, dirty pages included.
    dirty_bytes : int
        Bytes still to be written.
    """

    total_bytes: int
    anonymous_bytes: int
    cached_bytes: int
    dirty_bytes: int

    @property
    def free_bytes(self) -> int:
        """Neither cached nor anonymous; 0 if there is more than fits, as under `endless-cache`."""
        return max(self.total_bytes - self.anonymous_bytes - self.cached_bytes, 0)


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file.

    Attributes
    ----------
    size_bytes : int
        While it is written, the size that it has when the writes under way have ended.
    cached_bytes : int
        In the page cache.
    dirty_bytes : int
        How much of that still has to be written.
    """

    size_bytes: int
    cached_bytes: int
    dirty_bytes: int
