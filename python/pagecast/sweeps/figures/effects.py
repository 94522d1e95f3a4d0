"""How far each key moves a measure by itself.

Of a grid: medians over all points with one value of the key. Points that were drawn are not balanced like
that: a value of one key comes with other values of the others. There the measure is fitted by least squares
as a sum of one curve for each key, quadratic in the rank of its value (after rank regression, Iman and
Conover 1979). Left out: effects of two keys together.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagecast.sweeps.figures.common import is_wide, levels, median_by, tick
from pagecast.sweeps.table import KeyColumn, SweepTable

__all__ = ["Effect", "effects"]

_NONE = 1e-3
"""A measure that moves by less, of its median, does not move: percentiles are right to 0.1 %."""

_STEPS = 9
"""Ranks at which a fitted curve is looked at."""


@dataclass(frozen=True)
class Effect:
    """The lowest and the highest value of a measure over the values of a key.

    Attributes
    ----------
    key : KeyColumn
    low, high : float
    at_low, at_high : str
        The values of the key there.
    """

    key: KeyColumn
    low: float
    high: float
    at_low: str
    at_high: str

    @property
    def is_none(self) -> bool:
        """Whether the measure does not move."""
        return abs(self.high - self.low) <= _NONE * max(abs(self.high), abs(self.low))


def effects(table: SweepTable, values: NDArray[np.float64]) -> list[Effect]:
    """Give the effect of each key, the smallest first.

    Parameters
    ----------
    table : SweepTable
    values : ndarray
        The measure, shape (points,); NaN where a point failed.

    Returns
    -------
    list of Effect
    """
    found = _fitted(table, values) if table.is_sample else None
    if found is None:
        found = [_of_grid(table, key, values) for key in table.keys]
    return sorted(found, key=lambda effect: effect.high - effect.low)


def _of_grid(table: SweepTable, key: KeyColumn, values: NDArray[np.float64]) -> Effect:
    there, rows = levels(table, key)
    names = [tick(each, key.unit) for each in there]
    return _effect(key, median_by(values, rows, len(there)), names)


def _fitted(table: SweepTable, values: NDArray[np.float64]) -> list[Effect] | None:
    """Fit one curve for each key; None where there are too few points for that."""
    there = np.isfinite(values)
    is_log = is_wide(values)
    wanted = np.log(values[there]) if is_log else values[there]
    curves = [_Curve(table, key) for key in table.keys]
    columns = np.column_stack([np.ones(len(values)), *(curve.columns for curve in curves)])[there]
    if len(columns) < 2 * columns.shape[1]:
        return None
    weights = np.linalg.lstsq(columns, wanted, rcond=None)[0]
    middle = float(np.median(wanted))
    found = []
    first = 1
    for curve in curves:
        last = first + curve.columns.shape[1]
        heights = curve.looked_at @ weights[first:last]
        heights += middle - np.median(heights)
        found.append(_effect(curve.key, np.exp(heights) if is_log else heights, curve.names))
        first = last
    return found


class _Curve:
    """Columns of the fit for a key, and the values at which the curve is looked at."""

    def __init__(self, table: SweepTable, key: KeyColumn) -> None:
        self.key = key
        values, rows = levels(table, key)
        self.columns: NDArray[np.float64]
        self.looked_at: NDArray[np.float64]
        if table.is_numeric(key) and len(values) > 2:
            rank = rows / (len(values) - 1)
            steps = np.linspace(0, 1, _STEPS)
            self.columns = np.column_stack([rank, rank**2])
            self.looked_at = np.column_stack([steps, steps**2])
            shown = [values[round(step * (len(values) - 1))] for step in steps.tolist()]
        else:
            self.looked_at = np.eye(len(values))[:, 1:]
            self.columns = self.looked_at[rows]
            shown = values
        self.names = [tick(value, key.unit) for value in shown]


def _effect(key: KeyColumn, heights: NDArray[Any], names: list[str]) -> Effect:
    low, high = int(np.nanargmin(heights)), int(np.nanargmax(heights))
    return Effect(key, float(heights[low]), float(heights[high]), names[low], names[high])
