"""Calibration of CAWL, for each group of series: `calibration.csv`, with the source of each value."""

import csv
from functools import cache

from pagecast.studies.cawl.series import HERE, Series

__all__ = ["PROGRAM_ONLY", "calibration", "options"]

PROGRAM_ONLY = ("bw_sync",)
"""Parameters that the released program has and the paper has not."""


def calibration(series: Series) -> dict[str, float]:
    """Give the parameters of a series by their names in the paper.

    Returns
    -------
    dict
        In bytes per second, seconds and bytes. Only what the group's predictions show: `bw_reduced`, `sc_w`
        and the limits are missing where nothing was buffered.
    """
    return {name: value for name, (value, _) in _values(series).items()}


def options(series: Series) -> dict[str, str]:
    """Give the same as options of the model `cawl`, without those that the paper lacks."""
    return {
        name: f"{value:.9g} {unit}" if unit == "s" else f"{value:.0f} {unit}"
        for name, (value, unit) in _values(series).items()
        if name not in PROGRAM_ONLY
    }


def _values(series: Series) -> dict[str, tuple[float, str]]:
    rows = [row for row in _rows() if row["group"] == series.group and row["series_id"] in ("", series.name)]
    return {row["parameter"]: (float(row["value"]), row["unit"]) for row in rows}


@cache
def _rows() -> tuple[dict[str, str], ...]:
    with (HERE / "calibration.csv").open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))
