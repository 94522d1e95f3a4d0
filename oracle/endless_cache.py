"""The rival `endless-cache`: whatever was touched before is in memory, and memory never fills.

What it models: per host the byte ranges of each file that were read or written there. A read takes the
missing bytes from the device (one flow), then the present ones from memory (one flow); a write goes to memory
(one flow). Which bytes are present is looked up when a read begins; they count as touched when it ends, if
nobody has cut them off meanwhile.
Source: the naive bound from the other side.
Leaves out: flushing (dirty data never reach a device; drop_caches forgets them), capacity, fsync (takes no
time).
"""

from .engine import Engine
from .machine import Machine
from .policy import Call, Policy, Steps

Ranges = list[tuple[int, int]]
"""Disjoint [start, end)."""


class EndlessCache(Policy):
    def __init__(self, engine: Engine, machine: Machine):
        super().__init__(engine, machine)
        self.present: dict[tuple[str, str], Ranges] = {}  # by host and path
        self.under_way: dict[Call, int] = {}  # and the end of what it leaves

    def read(self, call: Call) -> Steps:
        ranges = self.present.get((call.host, call.path), [])
        present = sum(max(0, min(call.end, end) - max(call.offset, start)) for start, end in ranges)
        self.under_way[call] = call.end
        yield self.machine.reading(call.host, call.path, call.size - present)
        yield self.machine.from_memory(call.host, present)
        self._leave(call)

    def write(self, call: Call) -> Steps:
        self.under_way[call] = call.end
        yield self.machine.to_memory(call.host, call.size)
        self._leave(call)

    def preload(self, host: str, path: str, size: int) -> None:
        self._touch(host, path, 0, size)

    def _leave(self, call: Call) -> None:
        self._touch(call.host, call.path, call.offset, max(call.offset, self.under_way.pop(call)))

    def _touch(self, host: str, path: str, start: int, end: int) -> None:
        if start == end:
            return
        ranges = self.present.get((host, path), [])
        joined = [(a, b) for a, b in ranges if b >= start and a <= end] + [(start, end)]
        apart = [(a, b) for a, b in ranges if b < start or a > end]
        self.present[host, path] = [*apart, (min(a for a, _ in joined), max(b for _, b in joined))]

    def truncate(self, host: str, path: str, size: int) -> None:
        ranges = self.present.get((host, path), [])
        self.present[host, path] = [(a, min(b, size)) for a, b in ranges if a < size]
        for call, end in self.under_way.items():
            if (call.host, call.path) == (host, path):
                self.under_way[call] = min(end, size)

    def dont_need(self, host: str, path: str) -> None:
        self.present.pop((host, path), None)

    def drop_caches(self, host: str) -> None:
        self.present = {key: ranges for key, ranges in self.present.items() if key[0] != host}
