"""Processes and their event loop.

What it models: programs as Python generators. A process yields what it waits for: a `Flow`, a `Sleep`, a
`Wait` (for a signal); it goes on when that is over. A sub-procedure is called with `yield from`.
Source: the order of things at one instant, README.md, rule 5: flows that are done, by their numbers; then
wake-ups, in the order in which they were asked for; then the hosts' turns, by host; then rates are solved.
Leaves out: interrupts; whoever waits cannot be called off.
"""

import heapq
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from .flows import Flow, Network

NS = 1_000_000_000

Steps = Generator[Any, Any, Any]
"""A process, or a part of one: yields what it waits for."""


def to_ns(seconds: float) -> int:
    return round(seconds * NS)


@dataclass
class Signal:
    """Something that happens once; processes may wait for it with `Wait`."""

    happened: bool = False
    waiting: list[Steps] = field(default_factory=list)


@dataclass
class Wait:
    signal: Signal


@dataclass
class Sleep:
    """Wait until a time (whole nanoseconds): in turn with other wake-ups, or after them as this host."""

    until_ns: int
    host: int | None = None


class Engine:
    def __init__(self) -> None:
        self.network = Network()
        self.timers: list[tuple[int, bool, int, Steps]] = []  # a heap
        self.timer_number = 0
        self.soon: deque[Steps] = deque()
        self.alive = 0  # programs that have not ended

    @property
    def now_ns(self) -> int:
        return self.network.now_ns

    def start(self, process: Steps) -> None:
        """Start a generator; it runs up to its first wait at once."""
        self._go_on(process)

    def start_at(self, time_ns: int, process: Steps) -> None:
        """Start a generator at a time; if that is now, after what is going on at the moment."""
        if time_ns > self.now_ns:
            self._wake_at(Sleep(time_ns), process)
        else:
            self.soon.append(process)

    def happen(self, signal: Signal) -> None:
        signal.happened = True
        waiting, signal.waiting = signal.waiting, []
        for process in waiting:
            self._go_on(process)

    def run(self) -> None:
        """Run until all programs have ended."""
        net = self.network
        self._start_those()
        while self.alive:
            net.solve()
            times = [net.next_finish_ns(), self.timers[0][0] if self.timers else None]
            net.now_ns = min(t for t in times if t is not None)
            done = net.finished()
            for flow in done:
                net.leave(flow)
            for flow in done:
                assert flow.on_done is not None, "somebody waits for every flow"
                flow.on_done()
                self._start_those()
            while self.timers and self.timers[0][0] <= net.now_ns:
                self._go_on(heapq.heappop(self.timers)[3])
                self._start_those()

    def _start_those(self) -> None:
        while self.soon:
            self._go_on(self.soon.popleft())

    def _wake_at(self, sleep: Sleep, process: Steps) -> None:
        is_turn = sleep.host is not None
        number = sleep.host if is_turn else self.timer_number
        self.timer_number += 1
        heapq.heappush(self.timers, (sleep.until_ns, is_turn, number, process))

    def _go_on(self, process: Steps) -> None:
        for wanted in process:
            if isinstance(wanted, Flow):
                if wanted.size > 0:
                    wanted.on_done = lambda: self._go_on(process)
                    self.network.start(wanted)
                    return
            elif isinstance(wanted, Sleep):
                self._wake_at(wanted, process)
                return
            elif not wanted.signal.happened:
                wanted.signal.waiting.append(process)
                return
