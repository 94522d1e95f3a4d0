"""The process that simulates points for `pagecast.sweeps.local`.

It gets a `Task`, then the overrides of one point after the other, and answers each with an `Outcome`. It ends
when nobody asks any more.
"""

import os
import threading
import time
from multiprocessing.connection import Connection

from pagecast.sweeps.point import Task

__all__ = ["main"]

_LOOK_EVERY_S = 0.5


def main(descriptor: int) -> None:
    """Serve points.

    Parameters
    ----------
    descriptor : int
        An end of a pipe of `multiprocessing`, open in both directions.
    """
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    connection: Connection[object, object] = Connection(descriptor)
    try:
        task = connection.recv()
        assert isinstance(task, Task), "the task comes first"
        while True:
            overrides = connection.recv()
            assert isinstance(overrides, tuple), "then points come"
            connection.send(task.outcome(overrides))
    except (EOFError, OSError):
        os._exit(0)  # the one that asked has ended


def _end_with(parent: int) -> None:
    """End with the process that asks, also in the middle of a long simulation."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os._exit(0)
