"""One panel of a figure each: measured is points with spread, simulated is lines.

Every function takes an Axes and returns it. No global style is touched, no window is opened.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.plot.style import (
    GREY,
    LEVEL_COLOURS,
    MEASURED_COLOUR,
    MODEL_LINES,
    MODEL_MARKERS,
    SEQUENCE,
    model_colour,
    model_line,
)
from pagecast.studies.wrench_cache.experiments import TASK_OPERATIONS
from pagecast.studies.wrench_cache.forecast import CaseRun, Columns
from pagecast.studies.wrench_cache.memory import Compared
from pagecast.studies.wrench_cache.published import REPEATED_BY
from pagecast.studies.wrench_cache.recordings import Profile
from pagecast.studies.wrench_cache.tables import cached_files, long_writes, measured, published_run_times
from pagecast.tolerance import CACHED_TOLERANCE, DIRTY_TOLERANCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.comparison.rows import Row

__all__ = [
    "aligned_memory",
    "cache_content",
    "errors_by_operation",
    "long_write_shares",
    "memory_profile",
    "nighres_steps",
    "simulation_time",
    "time_by_applications",
]

GB: Final = 1e9
FIRST_ERROR: Final = 1.0
"""Errors below 1 % are drawn at 1 %: a logarithmic axis has no zero."""

TOLERANCES: Final = {"dirty": DIRTY_TOLERANCE, "cached": CACHED_TOLERANCE}

SHARE_TOLERANCE: Final = 0.15
"""How far the share of long writes may be off at each number of applications."""

FILE_COLOURS: Final = SEQUENCE[:4]

MEASURED: Final[dict[str, Any]] = {"color": MEASURED_COLOUR, "linestyle": "none", "marker": "o", "zorder": 5}


def errors_by_operation(ax: "Axes", rows: Iterable["Row"], published: Iterable["Row"]) -> "Axes":
    """Draw the absolute error of each operation of one case (Fig. 4a).

    Parameters
    ----------
    ax : Axes
    rows : iterable of Row
        Of one case of Exp 1 or Exp 4, any number of models.
    published : iterable of Row
        The same from the authors' simulators; hollow markers.
    """
    series: dict[tuple[str, bool], dict[str, float]] = {}
    for ours, group in ((True, rows), (False, published)):
        for row in group:
            error = max(100 * abs(row.error), FIRST_ERROR)
            series.setdefault((row.model, ours), {})[row.operation] = error
    operations = list(dict.fromkeys(operation for errors in series.values() for operation in errors))
    offsets = np.linspace(-0.3, 0.3, max(len(series), 2))
    for offset, (model, ours) in zip(offsets, sorted(series, key=_beside_its_twin), strict=False):
        errors = series[model, ours]
        colour, marker = _colour(model), MODEL_MARKERS.get(REPEATED_BY.get(model, model), "D")
        ax.plot(
            [operations.index(operation) + offset for operation in errors],
            list(errors.values()),
            marker,
            color=colour,
            markerfacecolor=colour if ours else "white",
            label=model if ours else f"{model}, published",
        )
    for k in range(0, len(operations), 2):
        ax.axvspan(k - 0.5, k + 0.5, color=GREY, alpha=0.08, linewidth=0)
    ax.set_xlim(-0.5, len(operations) - 0.5)
    _operations_axis(ax, operations)
    ax.set_yscale("log")
    ax.set_ylim(FIRST_ERROR * 0.8, 1500)
    _plain_decades(ax)
    ax.set_ylabel("absolute error (%)")
    return ax


def memory_profile(ax: "Axes", timeline: Columns, start_s: float, recorded: Profile | None) -> "Axes":
    """Draw memory over time (Fig. 4b).

    Parameters
    ----------
    ax : Axes
    timeline : Columns
        Of a simulated result.
    start_s : float
        When the first read begins in it: time 0 of the recording.
    recorded : Profile or None
        The same as measured.
    """
    time_s = np.asarray(timeline["time_s"]) - start_s
    begun = max(int(np.searchsorted(time_s, 0.0, side="right")) - 1, 0)  # before it the cache was dropped
    time_s = time_s[begun:]
    end_s = time_s[-1] * 1.1  # the recording goes on for minutes, in which the rest is flushed
    for level in ("used", "cached", "dirty"):
        colour, column = LEVEL_COLOURS[level], f"{level}_bytes"
        ax.plot(time_s, np.asarray(timeline[column])[begun:] / GB, color=colour, label=f"{level}, simulated")
        if recorded is not None:
            shown = np.flatnonzero(recorded.time_s <= end_s)[:: max(1, int(end_s / 80))]
            points = getattr(recorded, column)[shown] / GB
            ax.plot(recorded.time_s[shown], points, ".", color=colour, label=f"{level}, measured")
    ax.set_xlim(0, end_s)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("memory (GB)")
    return ax


def aligned_memory(ax: "Axes", compared: Compared, level: str) -> "Axes":
    """Draw dirty or cached memory of one case of Exp 1, aligned operation by operation."""
    order = np.argsort(compared.time_s)
    time_s, colour = compared.time_s[order], LEVEL_COLOURS[level]
    measured = compared.measured[level][order] / GB
    tolerance = TOLERANCES[level] * compared.whole[level][order] / GB
    ax.fill_between(
        time_s,
        measured - tolerance,
        measured + tolerance,
        color=colour,
        alpha=0.15,
        linewidth=0,
        label="tolerance",
    )
    ax.plot(time_s, compared.forecast[level][order] / GB, color=colour, zorder=6, label=f"{level}, simulated")
    ax.plot(time_s, measured, **MEASURED | {"markersize": 2}, label="measured")
    ax.set_xlim(0, time_s[-1])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("measured time (s)")
    ax.set_ylabel("memory (GB)")
    return ax


def long_write_shares(ax: "Axes", runs: Iterable[CaseRun]) -> "Axes":
    """Draw the share of writes of Exp 2 that took more than 5 s against the number of applications."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for run in runs:
        lines.setdefault(run.model, []).append((_applications(run.case), run.long_writes))
    for model, points in lines.items():
        n, share = np.array(sorted(points)).T
        ax.plot(n, share, color=model_colour(model), linestyle=model_line(model), label=model)
    n = np.array([_applications(case) for case in long_writes()])
    measured = np.array(list(long_writes().values()))
    ax.fill_between(
        n,
        measured - SHARE_TOLERANCE,
        measured + SHARE_TOLERANCE,
        color=MEASURED_COLOUR,
        alpha=0.1,
        linewidth=0,
        label="tolerance",
    )
    ax.plot(n, measured, label="measured", **MEASURED)
    ax.set_ylim(-0.02, 1.02)
    _applications_axis(ax)
    ax.set_ylabel("share of writes over 5 s")
    return ax


def cache_content(ax: "Axes", simulated: Mapping[str, Sequence[float]], case: str) -> "Axes":
    """Draw how much of each file is in the page cache after each operation of Exp 1 (Fig. 4c).

    Parameters
    ----------
    ax : Axes
    simulated : mapping of str to sequence of 4 floats
        Bytes of f1 to f4 after each operation.
    case : str
        Whose measured amounts are drawn as points.

    Returns
    -------
    Axes
        Files are stacked: a band is a file, its upper edge the sum of the files below and itself.
    """
    levels = np.cumsum([simulated[operation] for operation in TASK_OPERATIONS], axis=1) / GB
    points = np.cumsum([cached_files()["measured"][case, name] for name in TASK_OPERATIONS], axis=1) / GB
    edges = np.arange(len(TASK_OPERATIONS) + 1) - 0.5
    below = np.zeros(len(TASK_OPERATIONS))
    for k, colour in enumerate(FILE_COLOURS):
        top = levels[:, k]
        ax.fill_between(edges, _held(below), _held(top), step="post", color=colour, alpha=0.3, linewidth=0)
        ax.step(edges, _held(top), where="post", color=colour, label=f"f{k + 1}, simulated", zorder=4 - k)
        shown = points[:, k] > (points[:, k - 1] if k else 0)
        ax.plot(
            np.flatnonzero(shown),
            points[shown, k],
            "o",
            color=colour,
            markeredgecolor="black",
            label=f"f{k + 1}, measured",
            zorder=6,
        )
        below = top
    _operations_axis(ax, TASK_OPERATIONS)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(bottom=0)
    ax.set_ylabel("page cache (GB)")
    return ax


def time_by_applications(ax: "Axes", runs: Iterable[CaseRun], experiment: str, operation: str) -> "Axes":
    """Draw read or write time against the number of concurrent applications (Fig. 5 and 7).

    Parameters
    ----------
    ax : Axes
    runs : iterable of CaseRun
        Of one experiment, any number of models.
    experiment : str
        "2" or "3".
    operation : str
        "read 1" and so on, or "read total", "write total" for the sum over the three tasks.
    """
    lines: dict[str, list[tuple[int, float, float, float]]] = {}
    for run in runs:
        mean, low, high = _seconds(run, operation)
        lines.setdefault(run.model, []).append((_applications(run.case), mean, low, high))
    for model, points in lines.items():
        n, mean, low, high = np.array(sorted(points)).T
        colour = model_colour(model)
        ax.plot(n, mean, color=colour, linestyle=model_line(model), label=model)
        if np.any(high > low):
            ax.fill_between(n, low, high, color=colour, alpha=0.2, linewidth=0)
    found = {key: value for key, value in measured().items() if key[0] == experiment and key[2] == operation}
    n = np.array([_applications(case) for _, case, _ in found])
    mean, low, high = np.array([(value.mean_s, value.min_s, value.max_s) for value in found.values()]).T
    ax.errorbar(
        n, mean, yerr=(mean - low, high - mean), label="measured", capsize=2, elinewidth=1, **MEASURED
    )
    ax.set_yscale("log")
    _plain_decades(ax)
    _applications_axis(ax)
    ax.set_ylabel(f"{operation.split()[0]} time (s)")
    return ax


def nighres_steps(ax: "Axes", runs: Iterable[CaseRun]) -> "Axes":
    """Draw read and write time of the steps of Nighres (Fig. 6).

    Parameters
    ----------
    ax : Axes
    runs : iterable of CaseRun
        Of Exp 4, one per model.
    """
    points = {key[2]: value.mean_s for key, value in measured().items() if key[0] == "4"}
    operations = list(points)
    for run in runs:
        left = np.arange(len(operations)) - 0.38
        seconds = [run.mean_s(operation) for operation in operations]
        ax.hlines(
            seconds,
            left,
            left + 0.76,
            color=model_colour(run.model),
            linestyle=model_line(run.model),
            label=run.model,
        )
    ax.plot(range(len(operations)), list(points.values()), label="measured", **MEASURED)
    _operations_axis(ax, operations)
    ax.set_yscale("log")
    _plain_decades(ax)
    ax.set_ylabel("time (s)")
    return ax


def simulation_time(ax: "Axes", runs: Iterable[CaseRun], experiment: str, vintage: str) -> "Axes":
    """Draw how long simulating takes against the number of applications (Fig. 8).

    Parameters
    ----------
    ax : Axes
    runs : iterable of CaseRun
        Of one experiment; what this run took, on this computer.
    experiment : str
        "2" or "3".
    vintage : str
        Of the published times, on the authors' computer.
    """
    lines: dict[str, list[tuple[int, float]]] = {}
    for run in runs:
        lines.setdefault(run.model, []).append((_applications(run.case), run.run_time_s))
    for model, taken in lines.items():
        n, seconds = np.array(sorted(taken)).T
        ax.plot(n, seconds, color=model_colour(model), linestyle=model_line(model), label=model)
    for simulator, model in REPEATED_BY.items():
        column = "wrench_cache" if simulator == "WRENCH-cache" else "wrench"
        times = published_run_times()[f"{column}_{vintage}"]
        n, seconds = np.array(sorted((n, s) for (number, n), s in times.items() if number == experiment)).T
        ax.plot(
            n,
            seconds,
            MODEL_MARKERS[model],
            color=model_colour(model),
            markerfacecolor="white",
            label=f"{simulator}, published",
        )
    ax.set_yscale("log")
    _plain_decades(ax)
    _applications_axis(ax)
    ax.set_ylabel("simulation time (s)")
    return ax


# Axes ---------------------------------------------------------------------------------------------


def _operations_axis(ax: "Axes", operations: Sequence[str]) -> None:
    ax.set_xticks(range(len(operations)), [operation.replace(" ", "\n") for operation in operations])
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False, axis="x")


def _applications_axis(ax: "Axes") -> None:
    ax.set_xlim(0, 33)
    ax.set_xticks([1, 8, 16, 24, 32])
    ax.set_xlabel("concurrent applications")


def _plain_decades(ax: "Axes") -> None:
    """Label a logarithmic axis with 0.1, 1, 10 rather than powers; in between where decades are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = ax.get_ylim()
    subs = (1, 2, 5) if high / low < 200 else (1,)
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=subs, numticks=12))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(NullLocator())  # the labels tell the scale; minor ticks cost a second a report


def _held(values: Any) -> Any:
    """Repeat the last value: a step needs one more than it has intervals."""
    return np.append(values, values[-1])


def _beside_its_twin(series: tuple[str, bool]) -> tuple[int, bool]:
    """Order models so that a published simulator stands right of the model that repeats it."""
    model, ours = series
    order = [*MODEL_LINES, "pysim"]
    model = REPEATED_BY.get(model, model)
    return order.index(model) if model in order else len(order), not ours


def _colour(model: str) -> str:
    return SEQUENCE[3] if model == "pysim" else model_colour(REPEATED_BY.get(model, model))


def _applications(case: str) -> int:
    return int(case.split()[0])


def _seconds(run: CaseRun, operation: str) -> tuple[float, float, float]:
    """Give mean, least and greatest over the seeds; "total" is the sum over the tasks of each seed."""
    kind, task = operation.split()
    names = [f"{kind} {k}" for k in (1, 2, 3)] if task == "total" else [operation]
    sums = np.sum([run.seconds[name] for name in names], axis=0)
    return float(sums.mean()), float(sums.min()), float(sums.max())
