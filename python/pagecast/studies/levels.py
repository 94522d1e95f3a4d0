"""What memory holds, forecast and measured: how far the two may be apart, for all studies."""

from typing import Final

__all__ = ["CACHED_TOLERANCE", "DIRTY_TOLERANCE", "CachedBytes"]

DIRTY_TOLERANCE: Final = 0.10
"""How far dirty memory may be off, as a share of the dirty limit."""

CACHED_TOLERANCE: Final = 0.05
"""How far cached memory, or what is cached of a file, may be off, as a share of all memory."""


class CachedBytes:
    """Bytes of a file in the page cache, measured and forecast: what each study's own rows have in common."""

    __slots__ = ()
    measured_bytes: float
    forecast_bytes: float
    memory_bytes: float

    @property
    def deviation(self) -> float:
        """Signed, as a share of all memory."""
        return (self.forecast_bytes - self.measured_bytes) / self.memory_bytes

    @property
    def is_within(self) -> bool:
        """At most `CACHED_TOLERANCE` away."""
        return abs(self.deviation) <= CACHED_TOLERANCE
