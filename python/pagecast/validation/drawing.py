"""Figures of a case, measured and forecast: memory over time, rates of writers, times of the operations."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.plot.axes import outside_legend, plain_log_scale, size_scale, time_axis
from pagecast.plot.limits import FAR, LIMIT_NAMES, SAME, limits_in_reach
from pagecast.plot.overlay import draw_forecast, draw_limit, draw_measured
from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import MEASURED_COLOUR, MODEL_MARKERS, model_colour
from pagecast.throttling import Floats, Throttling, throttling
from pagecast.validation.levels import forecast_series, measured_series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.comparison.rows import Row
    from pagecast.running import Measured
    from pagecast.validation.case import Validated

__all__ = ["MOST_OPERATIONS", "memory_figure", "operations", "operations_figure", "over_time", "writer_rates"]

MOST_OPERATIONS: Final = 24
"""Of more, those that took longest are drawn."""

_TITLES: Final = {"dirty": "Dirty and under writeback", "cached": "Page cache"}

_WIDE: Final = 20.0
"""Times whose longest is so many times the shortest are drawn on a logarithmic axis."""

_RATE_TOP: Final = 2.5
"""A writer's rate begins at many times the base rate, but is drawn up to so many times only."""

_BIN_S: Final = 0.2
"""Forecast rates are drawn as means over this, the kernel's `BANDWIDTH_INTERVAL`."""

_BASE: Final[dict[str, Any]] = {"linestyle": (0, (4, 1.5)), "linewidth": 0.9}
"""How base rates are drawn."""


def memory_figure(validated: "Validated") -> "Figure":
    """Draw dirty and cached memory over time, and where runs were traced the rates of held-back writers."""
    panels: list[Callable[[Axes], Axes]] = [
        lambda ax: over_time(ax, validated, "dirty"),
        lambda ax: over_time(ax, validated, "cached"),
    ]
    if any(throttling(run) is not None for run in validated.measured):
        panels.insert(1, lambda ax: writer_rates(ax, validated))
    with style():
        figure, axes = grid(len(panels), 1, size=(9, 0.4 + 2.4 * len(panels)))
        for ax, draw in zip(axes, panels, strict=True):
            draw(ax)
            outside_legend(ax, ax.get_legend_handles_labels()[1])
        end_s = max(ax.get_xlim()[1] for ax in axes)
        for ax in axes:
            time_axis(ax, end_s)
            ax.label_outer()
    return figure


def over_time(ax: "Axes", validated: "Validated", level: str) -> "Axes":
    """Draw a level of memory over time: points of all runs, lines of forecasts, limits if it is dirty."""
    looked_at = (measured_series(run, level) for run in validated.measured)
    measured = [series for series in looked_at if series is not None]
    forecasts = {
        model: [series for result in results if (series := forecast_series(result, level)) is not None]
        for model, results in validated.forecasts.items()
    }
    every = [*measured, *(series for of in forecasts.values() for series in of)]
    top = max((float(series.level_bytes.max(initial=0)) for series in every), default=0.0)
    scale, unit = size_scale(top)
    for number, series in enumerate(measured):
        draw_measured(ax, series.time_s, series.level_bytes / scale, label=_once("measured", number))
    ax.set_title(_TITLES[level] + ("" if measured else " (not measured)"))
    for model, of in forecasts.items():
        for number, series in enumerate(of):
            draw_forecast(ax, series.time_s, series.level_bytes / scale, model, label=_once(model, number))
    if level == "dirty":
        _limits(ax, validated, top, scale)
    if every and not top:  # a range of a part of a byte would look like one
        ax.set(ylim=(0, 1), yticks=[0])
    else:
        ax.set_ylim(bottom=0)
    ax.set_ylabel(f"{level} ({unit})")
    time_axis(ax, max(float(series.time_s[-1]) for series in every) if every else validated.measured[0].end_s)
    return ax


def _limits(ax: "Axes", validated: "Validated", top: float, scale: float) -> None:
    """Draw the limits of dirty memory in the first run, and in its forecasts."""
    for limit, (time_s, values) in _measured_limits(validated.measured[0], top).items():
        draw_limit(ax, time_s, values / scale, limit, label=LIMIT_NAMES[limit])
    for model, (forecast, *_) in validated.forecasts.items():
        time_s = forecast.timeline["time_s"]
        for number, (limit, values) in enumerate(limits_in_reach(forecast, slice(None), top).items()):
            label = _once(f"the same, {model}", number)
            draw_limit(ax, time_s, values / scale, limit, color=model_colour(model), label=label)


def _measured_limits(run: "Measured", top: float) -> dict[str, tuple[Any, Any]]:
    """Give times and values of each limit; set point and limit in force as writers met them, if traced."""
    time_s = run.timeline["time_s"]
    limits: dict[str, tuple[Any, Any]] = {
        name: (time_s, values) for name, values in limits_in_reach(run, slice(None), top).items()
    }
    if (met := throttling(run)) is not None:
        limits["setpoint"] = met.time_s, met.setpoint_bytes
        threshold = np.interp(met.time_s, time_s, run.timeline["dirty_limit_bytes"])
        if not np.allclose(met.limit_bytes, threshold, rtol=SAME) and met.limit_bytes.max() <= FAR * top:
            limits["hard_limit"] = met.time_s, met.limit_bytes
    return limits


def _once(label: str, number: int) -> str | None:
    """Give the label of the first of several that look the same, and none to the others."""
    return None if number else label


def writer_rates(ax: "Axes", validated: "Validated") -> "Axes":
    """Draw the base rate and the rate of each throttled writer, traced and forecast.

    Parameters
    ----------
    ax : Axes
    validated : Validated
        With at least one traced run in which a writer was throttled.
    """
    traced = [met for run in validated.measured if (met := throttling(run)) is not None]
    top = max(float(met.base_rate_bytes_per_s.max()) for met in traced)
    scale, unit = size_scale(top)
    for number, met in enumerate(traced):
        draw_measured(ax, met.time_s, met.task_rate_bytes_per_s / scale, label=_once("measured", number))
        base = _once("its base rate", number)
        ax.plot(met.time_s, met.base_rate_bytes_per_s / scale, color=MEASURED_COLOUR, label=base, **_BASE)
    for model, results in validated.forecasts.items():
        for number, met in enumerate(filter(None, map(throttling, results))):
            time_s, rate = _mean_rates(met)
            draw_forecast(ax, time_s, rate / scale, model, label=_once(model, number), drawstyle="steps-post")
            base = _once("its base rate", number)
            draw_forecast(ax, met.time_s, met.base_rate_bytes_per_s / scale, model, label=base, **_BASE)
    ax.set_ylim(0, _RATE_TOP * top / scale)
    ax.set_title("Rate of a throttled writer")
    ax.set_ylabel(f"rate ({unit}/s)")
    time_axis(ax, max(run.end_s for run in validated.measured))
    return ax


def _mean_rates(met: Throttling) -> tuple[Floats, Floats]:
    """Give the mean rate of a writer in each `_BIN_S`: whole ticks of pauses make it jump to and fro."""
    lasts_s = np.where(met.is_held, np.diff(met.time_s), 0.0)
    bytes_by_then = np.append(0.0, np.cumsum(np.nan_to_num(met.task_rate_bytes_per_s[:-1]) * lasts_s))
    held_by_then = np.append(0.0, np.cumsum(lasts_s))
    edges = np.arange(met.time_s[0], met.time_s[-1] + _BIN_S, _BIN_S)
    moved = np.diff(np.interp(edges, met.time_s, bytes_by_then))
    held_s = np.diff(np.interp(edges, met.time_s, held_by_then))
    return edges[:-1], np.where(held_s > 0, moved / np.where(held_s > 0, held_s, 1.0), np.nan)


def operations_figure(rows: "Sequence[Row]") -> "Figure":
    """Draw the times of a case's operations; see `operations`.

    Parameters
    ----------
    rows : sequence of Row
        Of one case, with at least one.
    """
    drawn = min(len(_by_operation(rows)), MOST_OPERATIONS)
    with style():
        figure, axes = grid(1, 1, size=(9, 1.2 + 0.24 * drawn))
        operations(axes[0], rows)
        return with_legend(figure, axes)


def operations(ax: "Axes", rows: "Sequence[Row]") -> "Axes":
    """Draw the time of each operation in each run, and the forecast of each model.

    On a logarithmic axis, a forecast of next to nothing is at its left end.

    Parameters
    ----------
    ax : Axes
    rows : sequence of Row
        Of one case, with at least one.
    """
    every = _by_operation(rows)
    longest = sorted(every, key=lambda name: -max(row.measured_s for row in every[name]))[:MOST_OPERATIONS]
    names = [name for name in every if name in longest]
    models = list(dict.fromkeys(row.model for row in rows))
    for place, name in enumerate(names):
        measured = _measured_s(every[name])
        draw_measured(ax, measured, [place] * len(measured), label=_once("measured", place), markersize=6)
    least_s = _least_s([row.measured_s for name in names for row in every[name]])
    for model in models:
        points = [
            (max(row.forecast_s, least_s), place)
            for place, name in enumerate(names)
            for row in every[name]
            if row.model == model
        ]
        ax.plot(
            [time_s for time_s, _ in points],
            [place for _, place in points],
            linestyle="none",
            marker=MODEL_MARKERS.get(model, "d"),
            fillstyle="none",
            color=model_colour(model),
            label=model,
            clip_on=False,
        )
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    if least_s:
        plain_log_scale(ax, "x")
    ax.set_xlim(left=least_s)
    ax.set_xlabel("time (s), log scale" if least_s else "time (s)")
    return ax


def _by_operation(rows: "Sequence[Row]") -> "dict[str, list[Row]]":
    """Give the rows of one case by what they are of, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(f"{row.process}  {row.operation}" if row.process else row.operation, []).append(row)
    return found


def _measured_s(rows: "Sequence[Row]") -> list[float]:
    """Give the measured times of an operation, each once, not once for each model."""
    return [row.measured_s for row in rows if row.model == rows[0].model]


def _least_s(times_s: Sequence[float]) -> float:
    """Give the left end of an axis of durations: 0, or more where it is logarithmic."""
    return min(times_s) / 2 if max(times_s) > _WIDE * min(times_s) else 0.0
