"""Tolerances of a forecast."""

from dataclasses import dataclass
from typing import Final

__all__ = ["CACHED_TOLERANCE", "DIRTY_TOLERANCE", "LATENCY_TOLERANCE", "Tolerance"]

DIRTY_TOLERANCE: Final = 0.10
"""How far dirty memory may be off, as a share of the dirty limit."""

CACHED_TOLERANCE: Final = 0.05
"""Tolerance of cached memory, and of the cached bytes of a file, as a share of all memory."""


LATENCY_TOLERANCE: Final = 0.25
"""Tolerance of the median of operations that are done a hundred times or more."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a forecast may be off, as fractions.

    `total` is of the measured time of a case, `dirty` of the dirty limit at 95 % of the samples, `cached` of
    the memory, `latency` of the median of operations that are done often.
    """

    total: float = 0.10
    dirty: float = DIRTY_TOLERANCE
    cached: float = CACHED_TOLERANCE
    latency: float = LATENCY_TOLERANCE
