"""A disk of the model's own: it serves requests, and how long that takes is its affair.

A transfer of the page cache becomes requests, one after the other. The page cache extrapolates its levels
from rates, which nobody knows before a request is over. So it is told how fast the last request was served,
a little more or less if that was too little or too much: what it has counted is never far from what has
moved.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, Protocol, TypeAlias

from simpy import Environment
from simpy.events import Event

from pagecast._core import Order
from pagecast.errors import ArgumentTypeError

__all__ = ["Host", "Request", "Serve", "ServedDisk", "Transfer"]

_PAGE_BYTES = 4096

_MOST_PAUSE_S = 0.1
"""A transfer that may not go faster pauses after each request; so long at most, for limits change."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a disk is asked.

    Attributes
    ----------
    disk : str
        Its name in the machine file.
    direction : {"read", "write"}
    size_bytes : int
    """

    disk: str
    direction: Literal["read", "write"]
    size_bytes: int


Serve: TypeAlias = Callable[[Request], Generator[Event, Any, Any]]
"""A generator function of one request; it yields SimPy's events until the bytes have moved."""


class Host(Protocol):
    """The page cache whose transfers are served."""

    units_per_s: float

    def tell_rate(self, transfer: int, bytes_per_s: float) -> None:
        """Take note of how fast a transfer goes from now on."""

    def complete(self, transfer: int) -> None:
        """Take note that a transfer has moved all its bytes."""


class ServedDisk:
    """See the module.

    Parameters
    ----------
    env : simpy.Environment
    host : Host
    name : str
    serve : Serve
    request_bytes : int
        Most of one request.
    read_bytes_per_s, write_bytes_per_s : float
        For how fast the disk is taken before it has served anything.
    """

    def __init__(
        self,
        env: Environment,
        host: Host,
        name: str,
        serve: Serve,
        *,
        request_bytes: int,
        read_bytes_per_s: float,
        write_bytes_per_s: float,
    ) -> None:
        self.env = env
        self.host = host
        self.name = name
        self.request_bytes = request_bytes
        self.bytes_per_s = {"read": read_bytes_per_s, "write": write_bytes_per_s}
        """How fast requests were served last."""
        self._serve = serve

    def serve(self, request: Request) -> Generator[Event, Any, Any]:
        """Have a request served."""
        served = self._serve(request)
        if not isinstance(served, Generator):
            raise ArgumentTypeError(
                f"disks[{self.name!r}] gave {served!r} and no generator; give a function that yields events"
            )
        return served


class Transfer:
    """Bytes on their way from or to a served disk.

    Parameters
    ----------
    disk : ServedDisk
    order : Order
        That starts it.
    """

    def __init__(self, disk: ServedDisk, order: Order) -> None:
        self._disk = disk
        self._number = order.transfer
        self._direction: Literal["read", "write"] = "write" if order.is_write else "read"
        self._size_bytes = order.size_bytes
        self._limit = order.limit_bytes_per_s
        self._is_cancelled = False
        self._unblocked: Event | None = None
        self._moved_bytes = 0
        self._counted_bytes = 0.0
        self._rate = disk.bytes_per_s[self._direction]
        self._told = 0.0
        self._told_at_s = self._now_s
        self._tell()
        disk.env.process(self._run())

    def obey(self, order: Order) -> None:
        """Do what an order says of it."""
        match order.kind:
            case "limit":
                self._limit = order.limit_bytes_per_s
                self._tell()
            case "shorten":
                self._size_bytes = order.size_bytes
            case "cancel":
                self._is_cancelled = True
        if self._unblocked is not None and not self._unblocked.triggered:
            self._unblocked.succeed()

    @property
    def _now_s(self) -> float:
        return self._disk.env.now / self._disk.host.units_per_s

    @property
    def _left_bytes(self) -> int:
        return 0 if self._is_cancelled else max(self._size_bytes - self._moved_bytes, 0)

    def _run(self) -> Generator[Event, Any, None]:
        env, units_per_s = self._disk.env, self._disk.host.units_per_s
        while self._left_bytes > 0:
            limit = self._limit
            if limit <= 0:
                self._unblocked = env.event()
                yield self._unblocked
                continue
            size_bytes = self._next_bytes(limit)
            begun_s = self._now_s
            yield from self._disk.serve(Request(self._disk.name, self._direction, size_bytes))
            took_s = self._now_s - begun_s
            if took_s > 0:
                self._disk.bytes_per_s[self._direction] = size_bytes / took_s
            if (pause_s := size_bytes / limit - took_s) > 0:
                yield env.timeout(pause_s * units_per_s)
            self._moved_bytes += size_bytes
            self._learn(size_bytes, self._now_s - begun_s)
        if not self._is_cancelled:
            self._disk.host.complete(self._number)

    def _next_bytes(self, limit: float) -> int:
        most = min(self._left_bytes, self._disk.request_bytes)
        return most if limit == inf else min(most, max(_PAGE_BYTES, int(limit * _MOST_PAUSE_S)))

    def _learn(self, size_bytes: int, took_s: float) -> None:
        """Take the next request for as slow as the last one."""
        if took_s <= 0 or self._left_bytes == 0:
            return
        last = size_bytes / took_s
        self._count()
        even = (self._moved_bytes + size_bytes - self._counted_bytes) / took_s
        self._rate = min(max(even, last / 2), last * 1.5)
        self._tell()

    def _count(self) -> None:
        now_s = self._now_s
        self._counted_bytes += self._told * (now_s - self._told_at_s)
        self._told_at_s = now_s

    def _tell(self) -> None:
        if self._is_cancelled:
            return
        self._count()
        self._told = min(self._rate, self._limit)
        self._disk.host.tell_rate(self._number, self._told)
