"""The figures of the paper, redrawn from panels; no global style is touched, no window is opened."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from pagecast.comparison.rows import main_model
from pagecast.plot.panels import grid, style, with_legend
from pagecast.result import is_modelled
from pagecast.studies.wrench_cache import panels
from pagecast.studies.wrench_cache.experiments import EXPERIMENTS, TASK_OPERATIONS
from pagecast.studies.wrench_cache.forecast import CaseRun
from pagecast.studies.wrench_cache.memory import compared_levels, content
from pagecast.studies.wrench_cache.outcome import WrenchCacheOutcome
from pagecast.studies.wrench_cache.published import published_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["draw", "makers"]


def draw(outcome: WrenchCacheOutcome) -> "dict[str, Figure]":
    """Draw all figures of the experiments that were run.

    Returns
    -------
    dict
        By the names that `makers` gives.
    """
    return {name: make() for name, make in makers(outcome).items()}


def makers(outcome: WrenchCacheOutcome) -> "dict[str, Callable[[], Figure]]":
    """Give what draws each figure of the experiments that were run.

    Returns
    -------
    dict
        By the paper's number: "4a" to "8"; "4b aligned", "5 by task", "5 long writes" and "7 by task"
        are ours.
    """
    every: dict[str, tuple[str, Callable[[WrenchCacheOutcome], Figure]]] = {
        "4a": ("1", _figure_4a),
        "4b": ("1", _figure_4b),
        "4b aligned": ("1", _figure_4b_aligned),
        "4c": ("1", _figure_4c),
        "5": ("2", lambda of: _figure_times(of, "2")),
        "5 by task": ("2", lambda of: _figure_by_task(of, "2")),
        "5 long writes": ("2", _figure_long_writes),
        "6": ("4", _figure_6),
        "7": ("3", lambda of: _figure_times(of, "3")),
        "7 by task": ("3", lambda of: _figure_by_task(of, "3")),
        "8": ("23", _figure_8),
    }
    return {
        name: partial(_in_style, maker, outcome)
        for name, (experiments, maker) in every.items()
        if any(number in outcome.experiments for number in experiments)
        and (name != "4b aligned" or is_modelled(main_model(outcome.models), "dirty"))
    }


def _in_style(maker: "Callable[[WrenchCacheOutcome], Figure]", outcome: WrenchCacheOutcome) -> "Figure":
    with style():
        return maker(outcome)


def _figure_4a(outcome: WrenchCacheOutcome) -> "Figure":
    figure, axes = grid(2, 2, size=(9, 5.6))
    theirs = published_rows(["1"], outcome.vintage)
    for ax, case in zip(axes, EXPERIMENTS["1"].cases, strict=True):
        rows = [row for row in outcome.rows if row.experiment == "1" and row.case == case.name]
        panels.errors_by_operation(ax, rows, [row for row in theirs if row.case == case.name])
        ax.set_title(f"{case.name} per file")
    return with_legend(figure, axes)


def _figure_4b(outcome: WrenchCacheOutcome) -> "Figure":
    figure, axes = grid(2, 2, size=(9, 5.6))
    for ax, run in zip(axes, outcome.of("1", main_model(outcome.models)), strict=True):
        panels.memory_profile(ax, run.result.timeline, run.start_s, outcome.profiles.get(run.case))
        ax.set_title(f"{run.case} per file")
    return with_legend(figure, axes)


def _figure_4b_aligned(outcome: WrenchCacheOutcome) -> "Figure":
    figure, axes = grid(2, 4, size=(11, 5.2))
    for at, run in enumerate(outcome.of("1", main_model(outcome.models))):
        compared = compared_levels(run, outcome.profiles.get(run.case))
        for ax, level in ((axes[at], "dirty"), (axes[at + 4], "cached")):
            panels.aligned_memory(ax, compared, level)
            ax.set_title(f"{run.case}, {level}")
    return with_legend(figure, axes)


def _figure_long_writes(outcome: WrenchCacheOutcome) -> "Figure":
    figure, axes = grid(1, 1, size=(9, 3.4))
    panels.long_write_shares(axes[0], _runs(outcome, "2"))
    return with_legend(figure, axes)


def _figure_4c(outcome: WrenchCacheOutcome) -> "Figure":
    figure, axes = grid(2, 2, size=(9, 5.6))
    for ax, run in zip(axes, outcome.of("1", main_model(outcome.models)), strict=True):
        panels.cache_content(ax, content(run.result.files), run.case)
        ax.set_title(f"{run.case} per file")
    return with_legend(figure, axes)


def _figure_times(outcome: WrenchCacheOutcome, experiment: str) -> "Figure":
    figure, axes = grid(1, 2, size=(9, 3.6))
    for ax, kind in zip(axes, ("read", "write"), strict=True):
        panels.time_by_applications(ax, _runs(outcome, experiment), experiment, f"{kind} total")
        ax.set_title(f"{kind}s, sum over the three tasks")
    return with_legend(figure, axes)


def _figure_by_task(outcome: WrenchCacheOutcome, experiment: str) -> "Figure":
    figure, axes = grid(2, 3, size=(9, 5.2))
    for ax, operation in zip(axes, sorted(TASK_OPERATIONS), strict=True):
        panels.time_by_applications(ax, _runs(outcome, experiment), experiment, operation)
        ax.set_title(operation)
    return with_legend(figure, axes)


def _figure_6(outcome: WrenchCacheOutcome) -> "Figure":
    figure, axes = grid(1, 2, size=(9, 3.4))
    panels.nighres_steps(axes[0], _runs(outcome, "4"))
    axes[0].set_title("time of each step")
    rows = [row for row in outcome.rows if row.experiment == "4"]
    panels.errors_by_operation(axes[1], rows, published_rows(["4"], outcome.vintage))
    axes[1].set_title("error of each step")
    return with_legend(figure, axes)


def _figure_8(outcome: WrenchCacheOutcome) -> "Figure":
    experiments = [number for number in ("2", "3") if number in outcome.experiments]
    figure, axes = grid(1, len(experiments), size=(4.5 * len(experiments), 3.6))
    for ax, experiment in zip(axes, experiments, strict=True):
        panels.simulation_time(ax, _runs(outcome, experiment), experiment, outcome.vintage)
        ax.set_title(f"Exp {experiment}: {'local SSD' if experiment == '2' else 'NFS'}")
    return with_legend(figure, axes)


def _runs(outcome: WrenchCacheOutcome, experiment: str) -> Iterator[CaseRun]:
    return (run for run in outcome.runs if run.experiment == experiment)
