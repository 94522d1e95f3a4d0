"""Says how many measured totals lie within their 90 % range, and how wide the ranges are.

A range is wide or narrow as a share of its forecast. Repetitions of a case are no independent tests: a case
counts as one, by the mean of its repetitions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from statistics import mean, median
from typing import Final

from pagecast.comparison.rows import TOTAL, Row, judged
from pagecast.comparison.tables import percent
from pagecast.report.document import Table

__all__ = ["CONFIDENCE", "COVERED", "Coverage", "coverage_of", "coverage_sentences", "coverage_table"]

COVERED: Final = 0.9
"""The share of the measurements that ranges hold if they are right."""

CONFIDENCE: Final = 0.05
"""Ranges are rejected where right ones would hold so few cases less often than this."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well ranges hold what was measured.

    Attributes
    ----------
    totals, within : int
        Measured totals with a range, and those that lie in it.
    cases, cases_within : int
        The same of cases: the mean of the repetitions in the mean of their ranges.
    mean_width, median_width : float
        High less low by the forecast.
    """

    totals: int
    within: int
    cases: int
    cases_within: int
    mean_width: float
    median_width: float

    @property
    def share(self) -> float:
        """The share of the totals that lie within their range."""
        return self.within / self.totals

    @property
    def is_rejected(self) -> bool:
        """Whether so few cases lie within that ranges of 90 % would rarely show it (binomial test, 5 %)."""
        below = (
            comb(self.cases, k) * COVERED**k * (1 - COVERED) ** (self.cases - k)
            for k in range(self.cases_within + 1)
        )
        return sum(below) < CONFIDENCE

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        names = ("totals", "within", "cases", "cases_within", "share", "mean_width", "median_width")
        return {name: getattr(self, name) for name in names} | {"is_rejected": self.is_rejected}


def coverage_of(rows: Iterable[Row]) -> Coverage | None:
    """Count the judged totals that lie within their range; None where none has one."""
    known = [row for row in judged(rows) if row.operation == TOTAL and row.range_s is not None]
    if not known:
        return None
    cases: dict[tuple[str, str, str], list[Row]] = {}
    for row in known:
        cases.setdefault((row.experiment, row.case, row.model), []).append(row)
    widths = [_width(row) for row in known]
    return Coverage(
        totals=len(known),
        within=sum(map(_is_within, known)),
        cases=len(cases),
        cases_within=sum(map(_is_case_within, cases.values())),
        mean_width=mean(widths),
        median_width=median(widths),
    )


def _width(row: Row) -> float:
    low, high = _range(row)
    return (high - low) / row.forecast_s


def _is_within(row: Row) -> bool:
    low, high = _range(row)
    return low <= row.measured_s <= high


def _is_case_within(rows: Sequence[Row]) -> bool:
    low, high = _mean_range(rows)
    return low <= mean(row.measured_s for row in rows) <= high


def _range(row: Row) -> tuple[float, float]:
    assert row.range_s is not None, "only rows with a range are asked"
    return row.range_s


def _mean_range(rows: Sequence[Row]) -> tuple[float, float]:
    lows, highs = zip(*map(_range, rows), strict=True)
    return mean(lows), mean(highs)


def coverage_table(rows: Iterable[Row]) -> Table | None:
    """Make the table of totals beside their ranges, case by case; None where none has one."""
    cases: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.operation == TOTAL and row.range_s is not None:
            cases.setdefault((row.experiment, row.case, row.model), []).append(row)
    if not cases:
        return None
    lines = []
    for (experiment, case, _), of in cases.items():
        low, high = _mean_range(of)
        forecast = mean(row.forecast_s for row in of)
        mark = "*" if of[0].role == "calibration" else ""
        numbers = (mean(row.measured_s for row in of), forecast, low, high)
        cells = [f"{number:.2f}" for number in numbers]
        width = percent((high - low) / forecast)
        lines.append((experiment, f"{case}{mark}", *cells, width, f"{sum(map(_is_within, of))} of {len(of)}"))
    return Table(
        title="Totals and their 90 % ranges, in seconds",
        columns=("exp", "case", "measured", "forecast", "from", "to", "width %", "within"),
        rows=lines,
        text_columns=2,
        note="Means over the repetitions; within: how many repetitions lie in their range. The range holds "
        "draws of the machine's uncertain values and of the error of the model on other platforms. "
        "* The platform was calibrated on this case.",
    )


def coverage_sentences(rows: Sequence[Row]) -> Iterator[str]:
    """Say for each experiment how many totals lie within their range."""
    for experiment in dict.fromkeys(row.experiment for row in rows):
        found = coverage_of(row for row in rows if row.experiment == experiment)
        if found is not None:
            yield (
                f"On {experiment} {found.within} of {found.totals} measured totals lie within their 90 % "
                f"range; its width is {percent(found.mean_width)} % of the forecast in the mean, "
                f"{percent(found.median_width)} % in the median."
            )
