"""Tables 5 to 12: throughputs, measured and of the author's model, and the key that a row fixes."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["RANDOM", "Figure", "figures"]

HERE: Final = Path(__file__).parent

RANDOM: Final = "random"
"""The load that is known; the others are traces."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of a table: throughputs in KiB/s. `fixes` is the key of the machine that it fixes, or ""."""

    table: int
    mode: str
    load: str
    operation: str
    measured_kib_per_s: float
    author_kib_per_s: float
    fixes: str

    @property
    def case(self) -> str:
        """What it is called in rows."""
        return f"Table {self.table}: {self.mode}, {self.load}"

    @property
    def author_error(self) -> float:
        """Signed error of the author's throughput, which the dissertation prints without its sign."""
        return self.author_kib_per_s / self.measured_kib_per_s - 1


@cache
def figures() -> tuple[Figure, ...]:
    """Give all rows, in the order of the tables."""
    with (HERE / "published.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Figure(
                table=int(row["table"]),
                mode=row["mode"],
                load=row["load"],
                operation=row["operation"],
                measured_kib_per_s=float(row["measured_kib_per_s"]),
                author_kib_per_s=float(row["author_kib_per_s"]),
                fixes=row["fixes"],
            )
            for row in csv.DictReader(file)
        )
