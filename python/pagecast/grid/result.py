"""The rates of a grid, from one or several sources."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pagecast.grid.kinds import TESTS
from pagecast.grid.plan import Cell

__all__ = ["Errors", "Grid", "Row"]


@dataclass(frozen=True)
class Row:
    """The rate of a test on a cell.

    Attributes
    ----------
    source : str
        A model, "measured", or the name of a file.
    test : str
    cell : Cell
    duration_s : float
        In which the test moved all bytes of the file.
    """

    source: str
    test: str
    cell: Cell
    duration_s: float

    @property
    def rate_bytes_per_s(self) -> float:
        """Bytes of the file in a second; infinite if it took no time."""
        return self.cell.file_bytes / self.duration_s if self.duration_s > 0 else float("inf")


@dataclass(frozen=True)
class Errors:
    """How far the times of a source are from those of another one, over the cells that both have."""

    source: str
    test: str
    cells: int
    mean: float
    mean_abs: float
    worst: float
    worst_cell: Cell


class Grid:
    """Rates by source, test and cell.

    Parameters
    ----------
    rows : iterable of Row
    provenance : mapping
    """

    def __init__(self, rows: Iterable[Row], provenance: Mapping[str, Any]) -> None:
        self.rows = list(rows)
        self.provenance = dict(provenance)
        self._by_key = {(row.source, row.test, row.cell): row for row in self.rows}

    @property
    def sources(self) -> list[str]:
        """All sources, in the order of their rows."""
        return list(dict.fromkeys(row.source for row in self.rows))

    @property
    def tests(self) -> list[str]:
        """All tests that have a row, in the order in which they run."""
        there = {row.test for row in self.rows}
        return [name for name in TESTS if name in there]

    @property
    def cells(self) -> list[Cell]:
        """All cells, by the sizes of their files, then of their records."""
        return sorted({row.cell for row in self.rows}, key=lambda cell: (cell.file_bytes, cell.record_bytes))

    def rate(self, source: str, test: str, cell: Cell) -> float | None:
        """Give a rate in bytes per second; None if there is none."""
        row = self._by_key.get((source, test, cell))
        return None if row is None else row.rate_bytes_per_s

    def with_rows(self, rows: Iterable[Row], provenance: Mapping[str, Any] | None = None) -> "Grid":
        """Give the same with more rows."""
        return Grid([*self.rows, *rows], {**self.provenance, **(provenance or {})})

    def errors(self, reference: str) -> list[Errors]:
        """Compare the times of every other source with those of one.

        Parameters
        ----------
        reference : str
            A source.

        Returns
        -------
        list of Errors
            (time - time of the reference) / time of the reference; tests without a common cell are left out.
        """
        found = []
        for source in self.sources:
            for test in self.tests:
                errors = {
                    row.cell: row.duration_s / other - 1
                    for row in self.rows
                    if (row.source, row.test) == (source, test) and (other := self._time(reference, row))
                }
                if source == reference or not errors:
                    continue
                worst = max(errors.items(), key=lambda item: abs(item[1]))
                each = errors.values()
                mean, mean_abs = sum(each) / len(each), sum(map(abs, each)) / len(each)
                found.append(Errors(source, test, len(each), mean, mean_abs, worst[1], worst[0]))
        return found

    def _time(self, source: str, like: Row) -> float | None:
        """Give how long a source took for the test and cell of a row."""
        row = self._by_key.get((source, like.test, like.cell))
        return None if row is None else row.duration_s

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON has it: ``rows`` as columns."""
        return {
            "provenance": self.provenance,
            "rows": {
                "source": [row.source for row in self.rows],
                "test": [row.test for row in self.rows],
                "file_bytes": [row.cell.file_bytes for row in self.rows],
                "record_bytes": [row.cell.record_bytes for row in self.rows],
                "duration_s": [row.duration_s for row in self.rows],
                "rate_bytes_per_s": [
                    row.rate_bytes_per_s if row.duration_s > 0 else None for row in self.rows
                ],
            },
        }
