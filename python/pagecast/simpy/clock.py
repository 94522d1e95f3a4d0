"""Calls the page caches of one SimPy environment when they ask for it.

A page cache has work of its own: flushers wake, limits are crossed. SimPy's queue of events has no place
for work that shall not keep a model alive, and an event in it cannot be taken back. So there is one clock
for all page caches of an environment. It is never set far ahead, and stops when nothing but page caches is
left in the queue and no process waits for one of them; a page cache that is asked again afterwards catches
up.
"""

from heapq import heappop, heappush
from math import inf
from typing import Protocol

from simpy import Environment
from simpy.events import Event, EventPriority

__all__ = ["Clock", "Sleeper", "clock_of"]

_LAST = EventPriority(2)
"""After all that happens at the same time under SimPy's own priorities (0 and 1)."""


class Sleeper(Protocol):
    """Who is called."""

    @property
    def due(self) -> float:
        """When to call at the latest, in time of the environment; infinite if never."""

    @property
    def is_waited_for(self) -> bool:
        """Whether a process waits for it."""

    def wake(self, at: float) -> None:
        """Do what is due at `at`, which the environment's time has reached but for rounding."""


class Clock:
    """See the module.

    Parameters
    ----------
    env : simpy.Environment
    """

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._sleepers: list[Sleeper] = []
        self._calls: list[float] = []  # a heap: times of our events in the queue

    def add(self, sleeper: Sleeper) -> None:
        """Call it from now on."""
        self._sleepers.append(sleeper)
        self.arm()

    def arm(self) -> None:
        """See to it that the first who is due is called in time."""
        at = max(min(sleeper.due for sleeper in self._sleepers), self._env.now)
        if at == inf or (self._calls and self._calls[0] <= at):
            return
        heappush(self._calls, at)
        call = Event(self._env)
        call._ok, call._value = True, None
        call.callbacks.append(self._call)
        self._env.schedule(call, _LAST, at - self._env.now)

    def _call(self, _: Event) -> None:
        at = max(heappop(self._calls), self._env.now)  # events come in the order of their times
        for sleeper in self._sleepers:
            if sleeper.due <= at:
                sleeper.wake(at)
        if self._env.peek() < inf or any(sleeper.is_waited_for for sleeper in self._sleepers):
            self.arm()


def clock_of(env: Environment) -> Clock:
    """Give the clock of an environment, which keeps it."""
    clock: Clock = vars(env).setdefault("_pagecast_clock", Clock(env))
    return clock
