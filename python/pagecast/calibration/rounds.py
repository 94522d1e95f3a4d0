"""Results of the rounds of a calibration, by cell."""

import math
from collections.abc import Sequence

from pagecast.calibration.costs import CallCosts, fit_calls, per_page
from pagecast.calibration.measure import Cell, Measurements

__all__ = ["Rounds", "is_known", "rates_of"]


class Rounds:
    """Measurements by round."""

    def __init__(self, measurements: Measurements) -> None:
        self.all = measurements
        self.found = measurements.found

    def of(self, cell: Cell) -> list[float]:
        """Give the result of each round for a cell."""
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

    def per_page(self, what: str, page: int) -> list[float]:
        """Give seconds per page, median over call sizes, of each round."""
        of = [self.of(Cell(what, call)) for call in self.calls(what)]
        rounds = range(self.all.rounds)
        return [per_page((each[at] for each in of if at < len(each)), page) for at in rounds]

    def beyond(self, more: str, less: str, page: int, *, least_call: int = 0) -> list[float]:
        """Give seconds per page that one takes beyond the other, median over call sizes, of each round."""
        largest = self.calls(more)[-1:]
        return [
            per_page((beyond[call] for call in beyond if call >= least_call or call in largest), page)
            for beyond in self.beyond_by_call(more, less)
        ]

    def beyond_by_call(self, more: str, less: str) -> list[dict[int, float]]:
        """Give seconds per byte that one takes beyond the other, by call size, of each round."""
        calls = self.calls(more)
        of = [zip(self.of(Cell(more, call)), self.of(Cell(less, call)), strict=False) for call in calls]
        return [
            {call: high - low for call, (high, low) in zip(calls, pairs, strict=True)}
            for pairs in zip(*of, strict=False)
        ]


def is_known(rounds: Sequence[float]) -> bool:
    """Tell whether a round gave anything."""
    return any(not math.isnan(each) for each in rounds)


def rates_of(rounds: Sequence[float]) -> list[float]:
    """Turn seconds per byte into bytes per second; NaN where there are none."""
    return [1 / each if each else math.nan for each in rounds]
