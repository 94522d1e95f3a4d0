"""Figures of a case: percentiles of operations that are done often, measured and forecast."""

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from pagecast.plot.axes import duration_axis
from pagecast.plot.latency import percentile_axis, percentile_steps
from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import MEASURED_COLOUR, model_colour, model_line
from pagecast.validation.percentiles import done_often

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.result import Result
    from pagecast.validation.case import Validated

__all__ = ["MOST_PANELS", "latency_figure"]

MOST_PANELS: Final = 6
"""Of more kinds of operations, those that took most time in the first run."""

_COLUMNS: Final = 2

_Key: TypeAlias = tuple[str, str, str]


def latency_figure(validated: "Validated") -> "Figure | None":
    """Draw the percentiles of each run and of each model, a panel for each kind, process and path.

    Parameters
    ----------
    validated : Validated

    Returns
    -------
    Figure or None
        None where nothing is done often in all runs and forecasts.
    """
    forecasts = [result for results in validated.forecasts.values() for result in results]
    keys = done_often([*validated.measured, *forecasts])
    if not keys:
        return None
    shown = sorted(keys, key=lambda key: -_total_s(validated.measured[0], key))[:MOST_PANELS]
    columns = min(len(shown), _COLUMNS)
    rows = -(-len(shown) // columns)
    with style():
        figure, axes = grid(rows, columns, size=(9, 0.4 + 2.8 * rows))
        for ax, key in zip(axes, shown, strict=False):
            _panel(ax, validated, key)
        for ax in axes[len(shown) :]:
            ax.set_axis_off()
        return with_legend(figure, axes[: len(shown)])


def _panel(ax: "Axes", validated: "Validated", key: _Key) -> None:
    most = 1
    for model, results in {"measured": validated.measured, **validated.forecasts}.items():
        for number, result in enumerate(results):
            duration_s, count = _bins(result, key)
            most = max(most, int(count.sum()))
            is_measured = model == "measured"
            ax.stairs(
                *percentile_steps(duration_s, count),
                baseline=None,
                color=MEASURED_COLOUR if is_measured else model_colour(model),
                linestyle="-" if is_measured else model_line(model),
                linewidth=0.9 if is_measured else 1.8,
                label=None if number else model,
            )
    duration_axis(ax, "y")
    percentile_axis(ax, most)
    process, operation, path = key
    ax.set_title(f"{process}  {operation} {path}".rstrip())
    ax.set_ylabel("duration, log scale")


def _bins(result: "Result", key: _Key) -> "tuple[np.ndarray, np.ndarray]":
    table = result.latency_bins
    columns = (table[name] for name in ("process", "operation", "path"))
    rows = [row for row, found in enumerate(zip(*columns, strict=True)) if found == key]
    return table["duration_s"][rows], table["count"][rows]


def _total_s(result: "Result", key: _Key) -> float:
    table = result.latency
    columns = (table[name] for name in ("process", "operation", "path", "total_s"))
    return next(float(total_s) for *found, total_s in zip(*columns, strict=True) if (*found,) == key)
