"""How a command that has something to undo is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["interrupted_by_signals"]


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt what is inside as Ctrl-C does, so that it is undone.

    What is ignored stays ignored, as SIGHUP is under nohup.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    heard = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in heard:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
