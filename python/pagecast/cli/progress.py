"""A progress display on stderr, for anything that takes over a second, and only on a terminal."""

import math
import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from pagecast._core import format_bytes

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

__all__ = ["Progress"]

_IN_BYTES = ("writing back", "evicting", "reading", "locking", "writing files")
"""The stages of `pagecast.cache` whose progress is in bytes; that of the others is in files or seconds."""

_WAITING = "stopped; waiting for calls that the kernel does not break off"
"""The stage of a run that was stopped a second ago and has not ended; said also without a display."""

_PATIENCE_S = 1.0
"""How long a person waits without a sign."""


class Progress:
    """Use it in a ``with`` block; it appears after a second and takes itself away at the end."""

    def __init__(self) -> None:
        self._timer = threading.Timer(_PATIENCE_S, self._appear)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {"description": "", "detail": "", "total": None}
        self._display: RichProgress | None = None
        self._told_waiting = False

    def __enter__(self) -> "Progress":
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._display is not None:
                self._display.stop()

    def begin(self, what: str) -> None:
        """Name the next action."""
        self._update(description=what, detail="", total=None)

    def simulated(self, fraction: float, simulated_s: float) -> None:
        """Take the progress of `pagecast.simulate`."""
        total = {"total": None} if math.isnan(fraction) else {"total": 1.0, "completed": fraction}
        self._update(detail=f"{simulated_s:,.1f} s simulated", **total)

    def part(self, fraction: float, what: str) -> None:
        """Take the progress of a study."""
        self._update(description=what, total=1.0, completed=fraction)

    def counted(self, stage: str, done: int, total: int | None) -> None:
        """Take the progress of `pagecast.cache`: the action, how much of it is done, and of how much."""
        if stage == _WAITING and not self._told_waiting:
            self._told_waiting = True
            click.echo(f"{stage.capitalize()} (fsync, sync, drop_caches).", err=True)
        amount = format_bytes if stage in _IN_BYTES else "{:,}".format
        detail = amount(done) if total is None else f"{amount(min(done, total))} of {amount(total)}"
        state = {"total": None} if not total else {"total": total, "completed": min(done, total)}
        self._update(description=stage, detail=detail, **state)

    def _update(self, **state: Any) -> None:
        with self._lock:
            self._state |= state
            if self._display is not None:
                self._display.update(self._display.tasks[0].id, **state)

    def _appear(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        display = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}"),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=8,
        )
        with self._lock:
            if self._timer.finished.is_set():
                return
            display.add_task(**self._state)
            display.start()
            self._display = display
