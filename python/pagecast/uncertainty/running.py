"""Simulates the draws of a scenario on threads: the compiled part releases the lock of the interpreter."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from pagecast.errors import SimulationError
from pagecast.progress import Progress

__all__ = ["run_draws"]

_Taken = TypeVar("_Taken")

_LOOK_EVERY_S = 0.2
"""So often the main thread looks for Ctrl-C."""


class _StoppedError(Exception):
    """Another draw has failed, or Ctrl-C was pressed."""


def run_draws(
    draws: int,
    one: Callable[[int, Callable[[float, float], object]], _Taken],
    *,
    threads: int | None,
    tell: Progress,
) -> list[_Taken | SimulationError]:
    """Do something for each draw.

    Parameters
    ----------
    draws : int
    one : callable
        Gets the number of the draw and what it must call now and then, as `pagecast.simulate` calls its
        `progress`.
    threads : int or None
        One for each processor if None. The result does not depend on it.
    tell : callable
        Gets the fraction done, and how many draws that is.

    Returns
    -------
    list
        For each draw what `one` gave, or the `SimulationError` that it raised.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C was pressed.
    """
    stop = threading.Event()

    def look(_fraction: float, _time_s: float) -> None:
        if stop.is_set():
            raise _StoppedError

    def attempt(draw: int) -> _Taken | SimulationError:
        look(0.0, 0.0)
        try:
            return one(draw, look)
        except SimulationError as error:
            return error

    workers = min(threads or len(os.sched_getaffinity(0)), draws)
    if workers == 1:
        return [_told(tell, draw, draws, lambda draw=draw: attempt(draw)) for draw in range(draws)]  # type: ignore[misc]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(attempt, draw) for draw in range(draws)]
        try:
            _wait(futures, tell)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _told(tell: Progress, draw: int, draws: int, act: Callable[[], _Taken]) -> _Taken:
    tell(draw / draws, f"draw {draw + 1:,} of {draws:,}")
    return act()


def _wait(futures: "Sequence[Future[_Taken | SimulationError]]", tell: Progress) -> None:
    """Wait for all of them; what one raises ends the waiting."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        ended = len(futures) - len(pending)
        tell(ended / len(futures), f"{ended:,} of {len(futures):,} draws")
