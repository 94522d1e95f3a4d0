"""The end of a command and of all that it has started, also of what it has left behind in the background.

Whoever loses its parent becomes a child of this process (PR_SET_CHILD_SUBREAPER, prctl(2)), so that nobody is
lost sight of, whatever session or group it has put itself into.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import Popen
from typing import Final

__all__ = ["run_to_the_end", "undisturbed"]

GRACE_S: Final = 5.0
"""So long they have to end by themselves, as `pagecast run` removes its folder."""

_SUBREAPER: Final = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_to_the_end(command: Sequence[str], env: Mapping[str, str], *, grace_s: float = GRACE_S) -> int:
    """Run a command; when it has ended, or an exception ends this, nothing that it has started is left.

    Parameters
    ----------
    command : sequence of str
    env : mapping
        Its environment.
    grace_s : float
        How long after SIGTERM what still runs is killed.

    Returns
    -------
    int
        How the command has ended, as of `subprocess`.
    """
    others = set(_descendants(set()))
    prctl = ctypes.CDLL(None).prctl
    prctl(_SUBREAPER, 1)
    try:
        return Popen(command, env=env).wait()
    finally:
        with undisturbed():
            _end_all(others, grace_s)
        prctl(_SUBREAPER, 0)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let no signal stop what undoes something."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_all(spare: set[int], grace_s: float) -> None:
    """End all descendants but some: asked first, then killed. One in state D may outlive that."""
    for pid in _descendants(spare):
        _send(pid, signal.SIGTERM)
    for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, grace_s)):
        until = time.monotonic() + patience_s
        while left := _descendants(spare):
            for pid in left if number == signal.SIGKILL else ():
                _send(pid, number)
            if time.monotonic() > until:
                break
            time.sleep(0.05)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _descendants(spare: set[int]) -> list[int]:
    """Name all that live, but for those to spare and theirs; those that have ended are taken away."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            pid = int(entry.parent.name)
            if state not in "ZX":
                children.setdefault(int(parent), []).append(pid)
            elif int(parent) == os.getpid() and pid not in spare:
                os.waitpid(pid, os.WNOHANG)
    found, ahead = [], [os.getpid()]
    while ahead:
        new = [pid for pid in children.get(ahead.pop(), ()) if pid not in spare]
        found += new
        ahead += new
    return found
