"""A value of a machine file, and how numbers are written in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pagecast.calibration.fits import Estimate, estimate
from pagecast.calibration.plan import MIB
from pagecast.calibration.rounds import is_known

__all__ = [
    "Value", "beyond_noise", "measured", "show_call", "show_kib", "show_part", "show_rate", "show_size",
    "show_time",
]  # fmt: skip

CLOCK_S: Final = 1e-9
"""What clocks and texts of times resolve."""

TEXT_PART: Final = 5e-4
"""What texts of four digits resolve."""


@dataclass(frozen=True, slots=True)
class Value:
    """A key of a machine file, or without a key a figure that the model has none for."""

    key: str
    text: str
    """As TOML, or as a person reads it."""
    how: str
    estimate: Estimate | None = None
    unit: str = ""
    show: Callable[[float], str] | None = None

    @property
    def plain(self) -> str:
        """The text as a person reads it, without what makes it TOML."""
        return self.text.strip('"{} ')

    @property
    def range(self) -> float | None:
        """How far a later run may find it off, as a part: no less than the clock and the text resolve.

        None of what was not measured, and of 0.
        """
        found = self.estimate
        if found is None or found.later is None or not self.key or not self.text:
            return None
        clock = CLOCK_S / found.value if self.unit == "s" else 0.0
        drift = abs(found.drift) if found.is_drifting else 0.0
        return max(found.later, drift, clock, TEXT_PART)

    @property
    def is_wide(self) -> bool:
        """Whether it was measured with a wide spread."""
        return self.estimate is not None and self.estimate.is_wide


def show_rate(bytes_per_s: float) -> str:
    """Give a rate as TOML has it."""
    # .4g would write 9999.6 as 1e+04.
    return f"{bytes_per_s / 1e6:.4g} MB/s" if bytes_per_s < 9.999e9 else f"{bytes_per_s / 1e6:.0f} MB/s"


def show_time(seconds: float) -> str:
    """Give a time in a unit of which there are ten or more."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 10 * size:
            return f"{seconds / size:.4g} {unit}"
    return f"{1e9 * seconds:.0f} ns"


def show_part(fraction: float) -> str:
    """Give a fraction."""
    return f"{fraction:.3g}"


def show_size(size: float) -> str:
    """Give a size in MB or GB."""
    return f"{size / 1e9:.4g} GB" if size >= 1e9 else f"{size / 1e6:.4g} MB"


def show_kib(size: int) -> str:
    """Give a size in KiB."""
    return f"{size // 1024} KiB"


def show_call(size: int) -> str:
    """Give the size of a call."""
    return f"{size // MIB} MiB" if size >= MIB else show_kib(size)


def measured(
    key: str, rounds: Sequence[float], show: Callable[[float], str], how: str, unit: str
) -> Iterator[Value]:
    """Give a value if a round gave one; a cost that came out below 0 is 0."""
    if not is_known(rounds):
        return
    found = estimate(rounds)
    yield Value(key, f'"{show(max(found.value, 0.0))}"', how, found, unit, show)


def beyond_noise(key: str, rounds: Sequence[float], how: str) -> Iterator[Value]:
    """Give a time that is a difference: nothing where its interval reaches 0."""
    for value in measured(key, rounds, show_time, how, "s"):
        low = value.estimate.low if value.estimate is not None else None
        if low is None or low > 0:
            yield value
        else:
            yield Value(key, '"0 s"', f"measured: no more than noise; {how}")
