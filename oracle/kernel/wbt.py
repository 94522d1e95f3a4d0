"""Write-back throttling: how many requests of write-back may be on their way to a disk.

What it models: a depth that doubles with each window in which the disk wrote and falls back when it does not;
all of it for who waits, and for all while a writer was held back within the last second; less for others.
Source: block/blk-wbt.c (get_limit, calc_wb_limits, wb_timer_fn, wb_recent_wait, close_io), block/blk-rq-qos.c
(rq_depth_calc_max_depth, rq_depth_scale_up, rq_depth_scale_down), Linux 6.16.
Leaves out: the latency of reads; that who waits is woken late (wbt_rqw_done).
"""

from collections.abc import Callable

from ..engine import Engine, Sleep, Steps, to_ns
from .settings import Wbt

DEFAULT_DEPTH = 16  # RWB_DEF_DEPTH
WINDOW_S = 0.1  # RWB_WINDOW_NSEC
UNKNOWN_BUMP = 5  # RWB_UNKNOWN_BUMP
SECOND_NS = to_ns(1.0)
CLOSE_NS = to_ns(0.1)

SYNC, BACKGROUND, OTHER = "sync", "background", "other"
"""Why pages are written: REQ_SYNC, for_background or for_kupdate, neither."""


class Throttling:
    """That of one disk. `wake()` is told when there is more room."""

    def __init__(self, engine: Engine, settings: Wbt, marks_background: bool, wake: Callable[[], None]):
        self.engine, self.queue_depth, self.wake = engine, settings.queue_depth, wake
        self.marks_background = marks_background
        self.step = 0  # scale_step; below 0 it has grown
        self.is_at_most = False
        self.unknown = 0
        self.is_armed = self.has_written = self.is_writing = False
        self.slept_ns = self.read_ns = -SECOND_NS

    def _calc(self) -> tuple[int, bool]:
        if self.queue_depth == 1:
            return 2, True
        depth, most = min(DEFAULT_DEPTH, self.queue_depth), 3 * self.queue_depth // 4
        if self.step == 0:
            return depth, False
        depth = 1 + ((depth - 1) << -self.step)
        return min(depth, most), depth > most

    def requests(self, why: str) -> int:
        """How many may be on their way for somebody to send more."""
        depth, now = self._calc()[0], self.engine.now_ns
        normal, background = (depth, 1) if depth <= 2 else ((depth + 1) // 2, (depth + 3) // 4)
        if why == SYNC or self._has_slept():
            return depth
        if (why == BACKGROUND and self.marks_background) or now < self.read_ns + CLOSE_NS:
            return background
        return normal

    def _has_slept(self) -> bool:
        return self.engine.now_ns < self.slept_ns + SECOND_NS

    def saw_sleep(self) -> None:
        """A writer to the disk is held back."""
        self.slept_ns = self.engine.now_ns

    def saw_read(self) -> None:
        """A read from the disk begins or ends."""
        self.read_ns = self.engine.now_ns

    def saw_write(self, is_writing: bool) -> None:
        """A request is sent, or one has ended and there may be others."""
        self.has_written, self.is_writing = True, is_writing
        if not self.is_armed:
            self.is_armed = True
            self.engine.start_at(self.engine.now_ns + to_ns(WINDOW_S), self._windows())

    def _windows(self) -> Steps:
        while True:
            self._end_window()
            self.has_written = False
            if self.step == 0 and not self.is_writing:
                self.is_armed = False
                return
            yield Sleep(self.engine.now_ns + to_ns(WINDOW_S))

    def _end_window(self) -> None:
        if self.has_written or self.is_writing or self._has_slept():
            if not self.is_at_most:
                self.step -= 1
                self.is_at_most, self.unknown = self._calc()[1], 0
                self.wake()
            return
        self.unknown += 1
        if self.unknown >= UNKNOWN_BUMP and self.step < 0 and self._calc()[0] > 1:
            self.step += 1
            self.is_at_most, self.unknown = False, 0
