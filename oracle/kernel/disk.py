"""A disk of a host: it serves units one after the other.

What it models: writes wait in one queue of limited length, and whoever submits waits for room, first come,
first served; each process that reads has a queue of its own, of requests whose units arrive together, no
sooner than latency allows. The first of each queue is a flow on the disk, so reads and writes share it as
the machine says.
Source: block/blk-mq.c, block/blk-mq-tag.c (nr_requests limits what is in flight), block/blk-rq-qos.c
(rq_qos_wait: nobody passes those who wait already).
Leaves out: requests of writes, merging, seeks, schedulers.
"""

from collections import deque
from collections.abc import Callable

from ..engine import Engine, Signal, Sleep, Steps, Wait, to_ns
from ..flows import Flow
from ..machine import Machine
from .lists import Unit
from .settings import PAGE, Options
from .wbt import Throttling

Request = list[tuple[Unit, int]]
"""Units, and how many pages of each."""


class Queue:
    """Requests that are served one after the other: each is a flow, then `done(unit)` is told."""

    def __init__(self, engine: Engine, flow: Callable[[str, int], Flow], done: Callable[[Unit], None]):
        self.engine, self.flow, self.done = engine, flow, done
        self.waiting: deque[tuple[Request, int]] = deque()  # and when it may begin (ns)
        self.is_serving = False

    def add(self, request: Request, begin_ns: int) -> None:
        self.waiting.append((request, begin_ns))
        if not self.is_serving:
            self.is_serving = True
            self.engine.start(self._serve())

    def _serve(self) -> Steps:
        while self.waiting:
            request, begin_ns = self.waiting.popleft()
            if begin_ns > self.engine.now_ns:
                yield Sleep(begin_ns)
            yield self.flow(request[0][0].file.path, sum(pages for _, pages in request) * PAGE)
            for unit, _ in request:
                self.done(unit)
        self.is_serving = False


class Disk:
    """`written(unit)` is told when a unit has been written."""

    def __init__(
        self, engine: Engine, machine: Machine, host: str, options: Options, written: Callable[[Unit], None]
    ):
        self.engine, self.machine, self.host = engine, machine, host
        self.queue_pages, self.written = max(1, options.queue_bytes // PAGE), written
        self.request_pages = options.request_bytes // PAGE
        self.throttling: Throttling | None = None
        self.latency_ns = to_ns(options.read_latency_s)
        self.queued_pages = 0
        self.waiting: deque[tuple[Signal, str]] = deque()  # for room, in turn, and why they write
        self.writes = Queue(engine, lambda path, size: machine.writing(host, path, size), self._written)
        self.reads: dict[str, Queue] = {}  # by process

    def wait_for_room(self, why: str) -> Steps:
        if self.waiting or not self._has_room(why):
            turn = Signal()
            self.waiting.append((turn, why))
            yield Wait(turn)

    def _has_room(self, why: str) -> bool:
        most = self.queue_pages
        if self.throttling is not None:
            most = self.throttling.requests(why) * self.request_pages
        return self.queued_pages < most

    def wake(self) -> None:
        while self.waiting and self._has_room(self.waiting[0][1]):
            self.engine.happen(self.waiting.popleft()[0])

    def write(self, unit: Unit) -> None:
        """Submit the pages of a unit that are under writeback now."""
        self.queued_pages += unit.in_flight
        if self.throttling is not None:
            self.throttling.saw_write(True)
        self.writes.add([(unit, unit.in_flight)], self.engine.now_ns)

    def _written(self, unit: Unit) -> None:
        self.queued_pages -= unit.in_flight
        self.written(unit)
        if self.throttling is not None:
            self.throttling.saw_write(self.queued_pages > 0)
        self.wake()

    def read(self, process: str, request: Request) -> None:
        """Start to read units, or the rest of them; their `arrived` will happen."""
        if process not in self.reads:
            self.reads[process] = Queue(
                self.engine, lambda path, size: self.machine.reading(self.host, path, size), self._read
            )
        self._saw_read()
        self.reads[process].add(request, self.engine.now_ns + self.latency_ns)

    def _saw_read(self) -> None:
        if self.throttling is not None:
            self.throttling.saw_read()

    def _read(self, unit: Unit) -> None:
        self._saw_read()
        arrived, unit.arrived = unit.arrived, None
        assert arrived is not None
        self.engine.happen(arrived)
