"""How a scenario is to be played: seed, values of the nets, rows of files, progress."""

from collections.abc import Callable
from dataclasses import dataclass

from pagecast.models.values import Values

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a scenario is to be played.

    Attributes
    ----------
    values : Values
        Values of the nets that the user has given.
    seed : int
    each_operation : bool
        Whether files have rows after each operation.
    progress : callable or None
        As for `simulate`.
    """

    values: Values
    seed: int
    each_operation: bool
    progress: Callable[[float, float], object] | None
