"""Free page reporting: the host of a virtual machine takes free memory back, and gives it again when touched.

Source: mm/page_reporting.c (page_reporting_process, page_reporting_cycle), mm/page_alloc.c
(__rmqueue_smallest, __putback_isolated_page).
Leaves out: which blocks become small ones and large again; folios that small blocks have no room for.
"""

from ..engine import Engine, Sleep, Steps, to_ns
from .memory import Memory
from .settings import MIB, pages

DELAY_NS = to_ns(2.0)
PASSES = 16
LARGE_ORDER = 9
KEPT = pages(64 * MIB)


class Reporting:
    """`backed` free pages are in memory that the host has not taken back; `small` pages it never takes."""

    def __init__(self, engine: Engine, memory: Memory, backed_bytes: int, free_blocks: tuple[int, ...]):
        self.engine, self.memory = engine, memory
        self.small = sum(count << order for order, count in enumerate(free_blocks[:LARGE_ORDER]))
        self.free = memory.free
        self.backed = min(max(pages(backed_bytes), self.small), self.free)
        self.is_requested = False
        self._request()

    def look(self) -> int:
        """How many pages were touched, since somebody looked last, that the host had taken back."""
        taken, self.free = self.free - self.memory.free, self.memory.free
        found = min(taken, self.backed)  # what was freed is given back: fewer than none
        self.backed -= found
        self._request()
        return taken - found

    def _request(self) -> None:
        if self.backed > self.small and not self.is_requested:
            self.is_requested = True
            self.engine.start_at(self.engine.now_ns, self._report())

    def _report(self) -> Steps:
        while self.backed > self.small:
            yield Sleep(self.engine.now_ns + DELAY_NS)
            self.look()
            if self.free > self.memory.marks.low + KEPT:
                reported = -(-(self.free - self.small) // PASSES)
                self.backed -= min(reported, max(0, self.backed - self.small))
        self.is_requested = False
