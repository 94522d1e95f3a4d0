"""Shared by all figures of a sweep: chosen columns, ticks with units, levels of a key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pagecast.durations import scale_of_time
from pagecast.errors import ArgumentError
from pagecast.plot.axes import size_scale
from pagecast.quantities import shown_quantity
from pagecast.sweeps.table import KeyColumn, MeasureColumn, SweepTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = [
    "chosen_measure",
    "is_wide",
    "key_axis",
    "levels",
    "measure_axis",
    "median_by",
    "numeric_key",
    "numeric_keys",
    "tick",
    "tick_labels",
    "with_units",
]

_WIDE = 20.0
"""From this ratio of the largest to the smallest value on, a scale is logarithmic."""

_MOST_TICKS = 9

_ROOM = 0.04

_ROUNDED = 0.05
"""A label of a tick is right to this part of the way to the next tick."""

_MOST_DECIMALS = 12


def chosen_measure(table: SweepTable, name: str | None, place: int = 0) -> MeasureColumn:
    """Give the measure that was asked for, or the one at a place."""
    if name is not None:
        return table.measure(name)
    if place >= len(table.measures):
        raise ArgumentError(
            "the sweep has one measure, and this figure needs two; add a --measure to the sweep"
        )
    return table.measures[place]


def numeric_keys(table: SweepTable) -> list[KeyColumn]:
    """Give the keys whose values are numbers, those with most values first."""
    found = [key for key in table.keys if table.is_numeric(key)]
    return sorted(found, key=lambda key: -len(np.unique(table.columns[key.column])))


def numeric_key(table: SweepTable, name: str | None, *, but: KeyColumn | None = None) -> KeyColumn | None:
    """Give the key that was asked for, or the one with most values that is not another one."""
    if name is not None:
        return table.key(name)
    return next((key for key in numeric_keys(table) if key != but), None)


def levels(table: SweepTable, key: KeyColumn) -> tuple[list[Any], NDArray[np.int64]]:
    """Give the values of a key in their order, and the number of that of each row.

    Texts are in the order of the points.
    """
    column = table.columns[key.column]
    if isinstance(column, list):
        values = list(dict.fromkeys(column))
        numbers = {value: number for number, value in enumerate(values)}
        return values, np.array([numbers[value] for value in column], dtype=np.int64)
    found, rows = np.unique(column, return_inverse=True)
    return found.tolist(), rows.astype(np.int64)


def median_by(values: NDArray[Any], groups: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    """Give the median of the values of each group; NaN of one without a value."""
    medians = np.full(count, np.nan)
    for group in range(count):
        here = values[groups == group]
        here = here[np.isfinite(here)]
        if len(here):
            medians[group] = np.median(here)
    return medians


def tick(value: Any, unit: str) -> str:
    """Give a value with its unit, as short as it can be: "64 MB", "20 ms"."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if unit == "bytes":
        value = float(f"{value:.3g}")
    number, blank, name = shown_quantity(value, unit).partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number}{blank}{name}"


def tick_labels(values: Sequence[float], unit: str) -> list[str]:
    """Give the labels of the ticks of a scale; of ticks close together with the decimals that they need."""
    least = min(np.diff(np.unique(values)), default=np.inf) * _ROUNDED
    if all(abs(float(f"{value:.3g}") - value) <= least for value in values):
        return [tick(float(value), unit) for value in values]
    scale, name = _scale_of(max(values), unit)
    numbers = np.asarray(values, dtype=float) / scale
    decimals = next(
        (
            each
            for each in range(_MOST_DECIMALS)
            if (abs(numbers.round(each) - numbers) <= least / scale).all()
        ),
        _MOST_DECIMALS,
    )
    return [f"{number:,.{decimals}f} {name}".rstrip() for number in numbers]


def _scale_of(largest: float, unit: str) -> tuple[float, str]:
    """Give the unit that values up to this one are written in, and its size in the base unit."""
    match unit:
        case "s":
            return scale_of_time(largest)
        case "bytes":
            return size_scale(largest)
        case "bytes_per_s":
            scale, name = size_scale(largest)
            return scale, f"{name}/s"
        case "share":
            return 0.01, "%"
    return 1.0, ""


def with_units(axis: "Axis", unit: str) -> None:
    """Label the ticks of an axis with a unit; those below 0 have no label."""
    from matplotlib.ticker import FuncFormatter

    def label(value: float, _: object) -> str:
        at = [each for each in axis.get_majorticklocs() if each >= 0]
        return tick_labels([*at, value], unit)[-1] if value >= 0 else ""

    axis.set_major_formatter(FuncFormatter(label))


def is_wide(values: NDArray[Any]) -> bool:
    """Tell whether values are better seen on a logarithmic scale."""
    there = values[np.isfinite(values)]
    return bool(len(there) and there.min() > 0 and there.max() >= _WIDE * there.min())


def key_axis(ax: "Axes", which: Literal["x", "y"], table: SweepTable, key: KeyColumn) -> None:
    """Label an axis with a key, its ticks at the values of the key where they are few."""
    values, _ = levels(table, key)
    is_log = min(values) > 0 and (key.is_log or is_wide(np.array(values, dtype=float)))
    few = values if len(values) <= _MOST_TICKS else None
    _scale(ax, which, key.unit, is_log=is_log, at=few)
    ax.set(**{f"{which}label": key.key})


def measure_axis(
    ax: "Axes",
    which: Literal["x", "y"],
    measure: MeasureColumn,
    values: NDArray[Any],
    *,
    is_close: bool = False,
) -> None:
    """Label an axis with a measure; it begins at 0, or is logarithmic, or is as close as the values are."""
    is_log = is_wide(values)
    _scale(ax, which, measure.unit, is_log=is_log)
    if not is_log and not is_close:
        most = float(np.nanmax(values, initial=0.0))
        ax.set(**{f"{which}lim": (0, most * (1 + _ROOM) or 1.0)})
    ax.set(**{f"{which}label": measure.text})


def _scale(
    ax: "Axes", which: Literal["x", "y"], unit: str, *, is_log: bool, at: list[Any] | None = None
) -> None:
    from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

    axis = ax.xaxis if which == "x" else ax.yaxis
    if is_log:
        ax.set(**{f"{which}scale": "log"})
        low, high = sorted(axis.get_view_interval())
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,), numticks=12))
    else:
        axis.set_major_locator(MaxNLocator(nbins=7))
    if at is not None:
        axis.set_major_locator(FixedLocator(at))
    axis.set_minor_locator(NullLocator())
    with_units(axis, unit)
