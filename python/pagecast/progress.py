"""Progress of long work."""

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress", "Stages", "teller"]

Progress: TypeAlias = Callable[[float, str], object]
"""Gets the fraction done, 0 to 1, and the next action."""

Stages: TypeAlias = Callable[[str, int, int | None], object]
"""Gets the action now and then, how much of it is done, and the total if that is known."""


def teller(progress: Progress | None) -> Progress:
    """Give somebody to tell of the progress, also where nobody wants to know."""
    return progress or (lambda fraction, what: None)
