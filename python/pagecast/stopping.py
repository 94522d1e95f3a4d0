"""Stops a command, after work that must be finished."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["ENDINGS", "Stopped", "finished_first", "interrupted_by_signals", "quiet_from_now_on"]

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals of Ctrl-C, `kill` and a terminal that closes."""


class Stopped:
    """Whether a signal has come that ends the command."""

    def __init__(self) -> None:
        self.is_heard = False

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Be what is called when a signal comes."""
        self.is_heard = True
        raise KeyboardInterrupt


@contextmanager
def interrupted_by_signals() -> Iterator[Stopped]:
    """Let SIGTERM and SIGHUP interrupt what is inside as Ctrl-C does, so that it is undone.

    What is ignored stays ignored, as SIGHUP is under nohup.

    Yields
    ------
    Stopped
        Knows it also where the interruption was taken for another failure on its way.
    """
    stopped = Stopped()
    with _handled(stopped.hear):
        yield stopped


@contextmanager
def finished_first() -> Iterator[None]:
    """Finish what is inside before a signal is heeded: a few quick steps that must not stay half done."""
    heard: list[int] = []
    with _handled(lambda number, _: heard.append(number)):
        yield
    for number in heard[:1]:
        signal.raise_signal(number)


def quiet_from_now_on() -> None:
    """Let a signal end Python as it ends other programs: all is done, and nobody is left to be told."""
    for number in ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _handled(handler: "signal._HANDLER") -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # Python tells other threads of no signal
        return
    before = {number: signal.getsignal(number) for number in ENDINGS}
    # None is a handler that is not Python's.
    mine = {number: old for number, old in before.items() if old not in (signal.SIG_IGN, None)}
    try:
        for number in mine:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in mine.items():
            signal.signal(number, old)
