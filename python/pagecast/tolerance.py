"""Tolerances of a forecast."""

from dataclasses import dataclass
from typing import Final

__all__ = ["CACHED_TOLERANCE", "DIRTY_TOLERANCE", "MEDIAN_TOLERANCE", "Tolerance"]

DIRTY_TOLERANCE: Final = 0.10
"""How far dirty memory may be off, as a share of the dirty limit."""

CACHED_TOLERANCE: Final = 0.05
"""Tolerance of cached memory, and of the cached bytes of a file, as a share of all memory."""


MEDIAN_TOLERANCE: Final = 0.25
"""Tolerance of the median of operations that are done a hundred times or more."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a forecast may be off, as fractions.

    `total` is of the measured time of a case, `dirty` of the dirty limit at 95 % of the samples, `cached` of
    the memory. `p50` to `max` are of the percentiles of operations that are done often; None is not judged.
    """

    total: float = 0.10
    dirty: float = DIRTY_TOLERANCE
    cached: float = CACHED_TOLERANCE
    p50: float = MEDIAN_TOLERANCE
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None
