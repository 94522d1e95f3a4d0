"""What rounds of a calibration gave, by cell, and a value of a machine file that comes of them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pagecast.calibration.fits import CallCosts, Estimate, estimate, fit_calls
from pagecast.calibration.measure import Cell, Measurements
from pagecast.calibration.plan import MIB

__all__ = [
    "Rounds", "Value", "beyond_noise", "is_known", "measured", "median", "rates_of", "show_call", "show_kib",
    "show_part", "show_rate", "show_size", "show_time",
]  # fmt: skip


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


class Rounds:
    """What was measured, by round."""

    def __init__(self, measurements: Measurements) -> None:
        self.all = measurements
        self.found = measurements.found

    def of(self, cell: Cell) -> list[float]:
        """Give what each round gave of a cell."""
        return self.found.get(cell, [])

    def calls(self, what: str, streams: int = 1) -> list[int]:
        """Give the sizes of calls with which something was measured."""
        return sorted(cell.call_bytes for cell in self.found if (cell.what, cell.streams) == (what, streams))

    def fitted(self, *kinds: str) -> list[CallCosts | None]:
        """Fit costs of calls and bytes in each round; None where one was lost."""
        cells = [cell for cell in self.found if cell.what in kinds and cell.streams == 1]
        fits: list[CallCosts | None] = []
        for at in range(self.all.rounds):
            of = {
                (cell.what, float(cell.call_bytes)): self.found[cell][at]
                for cell in cells
                if at < len(self.found[cell])
            }
            has_all = len(of) == len(cells) and not any(map(math.isnan, of.values()))
            fits.append(fit_calls(of) if has_all and of else None)
        return fits

    def beyond(self, more: str, less: str, page: int, *, least_call: int = 0) -> list[float]:
        """Give seconds per page that one takes beyond the other, median over call sizes, of each round."""
        largest = self.calls(more)[-1:]
        rounds: list[float] = []
        for beyond in self.beyond_by_call(more, less):
            of = [seconds for call, seconds in beyond.items() if call >= least_call or call in largest]
            known = sorted(page * seconds for seconds in of if not math.isnan(seconds))
            rounds.append(median(known) if known else math.nan)
        return rounds

    def beyond_by_call(self, more: str, less: str) -> list[dict[int, float]]:
        """Give seconds per byte that one takes beyond the other, by call size, of each round."""
        calls = self.calls(more)
        of = [zip(self.of(Cell(more, call)), self.of(Cell(less, call)), strict=False) for call in calls]
        return [
            {call: high - low for call, (high, low) in zip(calls, pairs, strict=True)}
            for pairs in zip(*of, strict=False)
        ]


def median(ordered: Sequence[float]) -> float:
    """Give the middle of what is in order."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def is_known(rounds: Sequence[float]) -> bool:
    """Tell whether a round gave anything."""
    return any(not math.isnan(each) for each in rounds)


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


def rates_of(rounds: Sequence[float]) -> list[float]:
    """Turn seconds per byte into bytes per second; NaN where there are none."""
    return [1 / each if each else math.nan for each in rounds]
