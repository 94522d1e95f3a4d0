"""What a policy is asked.

What it models: the calls that reach the page caches of all hosts, checked and with their ranges resolved by
scenario.py. A policy overrides what it cares about; the rest takes no time and changes nothing.
"""

from dataclasses import dataclass

from .engine import Engine, Steps
from .machine import Machine

__all__ = ["Call", "ImpossibleError", "Policy", "Steps"]


class ImpossibleError(Exception):
    """The workload cannot go on: no such file, a read beyond the end, no memory left."""


@dataclass(frozen=True)
class Call:
    """A read or write: `size` bytes from `offset`; the file had `file_size` bytes when it began."""

    host: str
    path: str
    offset: int
    size: int
    file_size: int
    is_fresh: bool = False  # a read into memory that the process has not had before
    call_bytes: int | None = None  # size of a system call; None: it is a single one
    process: str = ""

    @property
    def end(self) -> int:
        return self.offset + self.size


class Policy:
    def __init__(self, engine: Engine, machine: Machine):
        self.engine, self.machine = engine, machine

    # -- these take time -----------------------------------------------------------------
    def read(self, call: Call) -> Steps:
        raise NotImplementedError

    def write(self, call: Call) -> Steps:
        raise NotImplementedError

    def fsync(self, host: str, path: str) -> Steps:
        yield from ()

    def alloc(self, host: str, size: int) -> Steps:
        """A process takes anonymous memory."""
        self.take(host, size)
        yield from ()

    def cut(self, host: str, path: str) -> Steps:
        """After `truncate` or `unlink`, of which it is asked: what the caller waits for."""
        yield from ()

    # -- these do not --------------------------------------------------------------------
    def preload(self, host: str, path: str, size: int) -> None:
        """The first bytes of a file are cached, clean, before time 0."""

    def truncate(self, host: str, path: str, size: int) -> None:
        """The file is shorter now: asked of the host that did it and of the one where the file is."""

    def dont_need(self, host: str, path: str) -> None:
        """The file's clean bytes leave this host's cache."""

    def drop_caches(self, host: str) -> None:
        """All clean bytes leave this host's cache."""

    def unlink(self, host: str, path: str) -> None:
        """The file is deleted: asked of the same hosts."""
        self.truncate(host, path, 0)

    def take(self, host: str, size: int) -> None:
        """A process takes anonymous memory, at once."""

    def give_back(self, host: str, size: int) -> None:
        """A process gives anonymous memory back, also that of its fresh reads."""
