"""Simulates points on the processors of this machine, in processes of their own.

A process is started anew when it ends by itself (the kernel kills the largest one when memory is short). Its
point is tried once more; then it has failed.
"""

import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import Pipe, wait
from typing import TypeAlias

from pagecast.sweeps.point import Outcome, Task

__all__ = ["Todo", "processors", "run_here"]

Todo: TypeAlias = Sequence[tuple[int, tuple[str, ...]]]
"""Points by number, each with its overrides."""

_CODE = "import sys; from pagecast.sweeps.worker import main; main(int(sys.argv[1]))"
_TRIES = 2


def processors() -> int:
    """Give how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def run_here(
    task: Task, todo: Todo, *, workers: int | None = None
) -> Generator[tuple[int, Outcome], None, None]:
    """Simulate points.

    Parameters
    ----------
    task : Task
    todo : sequence of tuple of int and overrides
    workers : int, optional
        Processes; one for each processor if not given. With one, this process does it.

    Yields
    ------
    tuple of int and Outcome
        The number of a point and what it gave, in the order in which points end.
    """
    workers = min(workers or processors(), len(todo))
    if workers > 1:
        yield from _by_processes(task, todo, workers)
        return
    for index, overrides in todo:
        yield index, task.outcome(overrides)


def _by_processes(task: Task, todo: Todo, workers: int) -> Generator[tuple[int, Outcome], None, None]:
    steps = iter(todo)
    busy: list[_Worker] = []
    try:
        for _ in range(workers):
            busy.append(_Worker(task))
            busy[-1].ask(*next(steps))
        while busy:
            ready = wait([worker.connection for worker in busy])
            for worker in [worker for worker in busy if worker.connection in ready]:
                outcome = worker.answer()
                index, overrides = worker.step
                if outcome is None:
                    busy.remove(worker)
                    code = worker.stop()
                    worker = _Worker(task, tries=worker.tries)
                    busy.append(worker)
                    if worker.tries < _TRIES:
                        worker.ask(index, overrides)
                        continue
                    outcome = _lost(code)
                yield index, outcome
                worker.tries = 0
                following = next(steps, None)
                if following is not None:
                    worker.ask(*following)
                else:
                    busy.remove(worker)
                    worker.stop()
    finally:
        for worker in busy:
            worker.stop()


class _Worker:
    """A process, and the point that it simulates.

    Parameters
    ----------
    task : Task
    tries : int
        How often the point that it gets has been tried.
    """

    def __init__(self, task: Task, *, tries: int = 0) -> None:
        self.tries = tries
        self.step: tuple[int, tuple[str, ...]] = (-1, ())
        self.connection, theirs = Pipe()
        path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
        with theirs:
            # In a session of its own: Ctrl-C is for the process that asks, which stops this one.
            self._process = subprocess.Popen(  # noqa: S603 (this Python, and code of ours)
                [sys.executable, "-P", "-c", _CODE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
        self._send(task)

    def ask(self, index: int, overrides: tuple[str, ...]) -> None:
        """Let it simulate a point."""
        self.tries += 1
        self.step = index, overrides
        self._send(overrides)

    def answer(self) -> Outcome | None:
        """Give the outcome; None if the process has ended."""
        try:
            outcome = self.connection.recv()
        except (EOFError, OSError):
            return None
        assert isinstance(outcome, Outcome), "it answers with an outcome"
        return outcome

    def stop(self) -> int:
        """End it; gives how it ended, below 0 by a signal."""
        self.connection.close()
        self._process.kill()
        return self._process.wait()

    def _send(self, what: object) -> None:
        with suppress(OSError):  # it has ended, and the answer will tell
            self.connection.send(what)


def _lost(code: int) -> Outcome:
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Outcome((), f"its process ended twice, with {how}; is there enough memory?", "worker")
