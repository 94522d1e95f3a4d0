"""The process that simulates points for `pagecast.sweeps.local`.

It gets a `Task`, then the overrides of one point after the other, and answers each with an `Outcome`. It ends
when nobody asks any more.
"""

import os
from multiprocessing.connection import Connection

from pagecast.sweeps.point import Task

__all__ = ["main"]


def main(descriptor: int) -> None:
    """Serve points.

    Parameters
    ----------
    descriptor : int
        An end of a pipe of `multiprocessing`, open in both directions.
    """
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
