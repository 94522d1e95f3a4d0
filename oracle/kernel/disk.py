"""A disk of a host: it serves units one after the other.

What it models: writes wait in one queue of limited length, and whoever submits waits for room, first come,
first served; each process that reads has a queue of its own. The first of each queue is a flow on the disk,
so reads and writes share it as the machine says.
Source: block/blk-mq.c, block/blk-mq-tag.c (nr_requests limits what is in flight), block/blk-rq-qos.c
(rq_qos_wait: nobody passes those who wait already).
Leaves out: requests, merging, seeks, schedulers, wbt.
"""

from collections import deque
from collections.abc import Callable

from ..engine import Engine, Signal, Steps, Wait
from ..flows import Flow
from ..machine import Machine
from .lists import Unit
from .settings import PAGE


class Queue:
    """Units that are served one after the other: each is a flow, then `done(unit)` is told."""

    def __init__(self, engine: Engine, flow: Callable[[str, int], Flow], done: Callable[[Unit], None]):
        self.engine, self.flow, self.done = engine, flow, done
        self.waiting: deque[tuple[Unit, int]] = deque()  # units, and pages of each
        self.is_serving = False

    def add(self, unit: Unit, pages: int) -> None:
        self.waiting.append((unit, pages))
        if not self.is_serving:
            self.is_serving = True
            self.engine.start(self._serve())

    def _serve(self) -> Steps:
        while self.waiting:
            unit, pages = self.waiting.popleft()
            yield self.flow(unit.file.path, pages * PAGE)
            self.done(unit)
        self.is_serving = False


class Disk:
    """`written(unit)` is told when a unit has been written."""

    def __init__(
        self, engine: Engine, machine: Machine, host: str, queue_bytes: int, written: Callable[[Unit], None]
    ):
        self.engine, self.machine, self.host = engine, machine, host
        self.queue_pages, self.written = max(1, queue_bytes // PAGE), written
        self.queued_pages = 0
        self.waiting: deque[Signal] = deque()  # for room, in turn
        self.writes = Queue(engine, lambda path, size: machine.writing(host, path, size), self._written)
        self.reads: dict[str, Queue] = {}  # by process

    def wait_for_room(self) -> Steps:
        if self.waiting or self.queued_pages >= self.queue_pages:
            turn = Signal()
            self.waiting.append(turn)
            yield Wait(turn)

    def write(self, unit: Unit) -> None:
        """Submit the pages of a unit that are under writeback now."""
        self.queued_pages += unit.in_flight
        self.writes.add(unit, unit.in_flight)

    def _written(self, unit: Unit) -> None:
        self.queued_pages -= unit.in_flight
        self.written(unit)
        while self.waiting and self.queued_pages < self.queue_pages:
            self.engine.happen(self.waiting.popleft())

    def read(self, process: str, unit: Unit, pages: int) -> None:
        """Start to read a unit, or the rest of it; `arrived` will happen."""
        unit.arrived = Signal()
        if process not in self.reads:
            self.reads[process] = Queue(
                self.engine, lambda path, size: self.machine.reading(self.host, path, size), self._read
            )
        self.reads[process].add(unit, pages)

    def _read(self, unit: Unit) -> None:
        arrived, unit.arrived = unit.arrived, None
        assert arrived is not None
        self.engine.happen(arrived)
