"""What this kernel says of write-back: tracepoints, in an instance of our own, and figures of each disk.

Source: Documentation/trace/ftrace.rst; mm/backing-dev.c: bdi_debug_register.
"""

import subprocess
from pathlib import Path
from typing import Final

from bed.packages import BedError
from bed.recording import EVENTS
from bed.undoing import Undo

__all__ = ["Tracing", "mount_debugfs"]

_TRACEFS: Final = Path("/sys/kernel/tracing")
_DEBUGFS: Final = Path("/sys/kernel/debug")
_RING_KIB: Final = 8 << 10
"""For each processor: a case of a minute fits."""


class Tracing:
    """Traces that can be recorded; its instance and, if it was not there, tracefs are undone at the end."""

    def __init__(self, undo: Undo) -> None:
        if not (_TRACEFS / "instances").is_dir():
            _mount("tracefs", _TRACEFS, undo)
        self._instance = _TRACEFS / "instances" / "bed"
        undo.note("rmdir", str(self._instance))
        self._instance.mkdir(exist_ok=True)
        self._tell("tracing_on", "0")
        self._tell("trace_clock", "mono")
        self._tell("buffer_size_kb", str(_RING_KIB))
        for event in EVENTS:
            self._tell(f"events/writeback/{event}/enable", "1")

    def begin(self) -> None:
        """Forget what was recorded, and record."""
        self._tell("trace", "")
        self._tell("tracing_on", "1")

    def end(self) -> str:
        """Record no more, and give what was recorded, in the text of tracefs."""
        self._tell("tracing_on", "0")
        return (self._instance / "trace").read_text()

    def _tell(self, name: str, text: str) -> None:
        (self._instance / name).write_text(text)


def mount_debugfs(undo: Undo) -> None:
    """Let the player see what the kernel has learnt of a disk: share of the dirty limit, and bandwidth."""
    if not (_DEBUGFS / "bdi").is_dir():
        _mount("debugfs", _DEBUGFS, undo)


def _mount(kind: str, place: Path, undo: Undo) -> None:
    undo.note("umount", str(place))
    mounted = subprocess.run(
        ["mount", "-t", kind, "none", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        raise BedError(f"{kind} cannot be mounted at {place}: {mounted.stderr.strip()}")
