"""Figures of the study; no global style is touched."""

from typing import TYPE_CHECKING

import numpy as np

from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import MEASURED_COLOUR, model_colour
from pagecast.studies.kernel_law.outcome import KernelLawOutcome
from pagecast.studies.kernel_law.throughput import by_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


__all__ = ["draw_law", "draw_throughput"]

MARKERS = "osD^vP*X<>"


def draw_law(outcome: KernelLawOutcome) -> "Figure":
    """Draw the position ratio of each event over the dirty pages, printed and ours.

    Parameters
    ----------
    outcome : KernelLawOutcome
        With events.
    """
    with style():
        figure, axes = grid(1, 2, size=(9, 3.4))
        dirty = np.array([one.dirty_pages for one in outcome.events]) / 1000
        printed = [one.printed for one in outcome.events]
        ours = [one.ours for one in outcome.events]
        axes[0].plot(printed, printed, color=MEASURED_COLOUR, linewidth=0.8, label="the same")
        axes[0].plot(printed, ours, ".", color=model_colour("kernel"), label="kernel")
        axes[0].set_xlabel("printed rate of a task (pages/s)")
        axes[0].set_ylabel("by the law (pages/s)")
        errors = [100 * one.real_error for one in outcome.events]
        axes[1].plot(dirty, errors, ".", color=model_colour("kernel"), label="kernel")
        axes[1].axhspan(-0.25, 0.25, color=MEASURED_COLOUR, alpha=0.08, linewidth=0, label="tolerance")
        axes[1].set_xlabel("dirty pages (thousands)")
        axes[1].set_ylabel("law in real numbers, error (%)")
        return with_legend(figure, axes)


def draw_throughput(outcome: KernelLawOutcome) -> "Figure":
    """Draw throughput over the number of writers: a panel for each file system, a colour for each limit.

    Parameters
    ----------
    outcome : KernelLawOutcome
        With throughputs.
    """
    filesystems = sorted({one.case.filesystem for one in outcome.throughputs})
    with style():
        figure, axes = grid(1, len(filesystems), size=(2.6 * len(filesystems), 3.4))
        for ax, filesystem in zip(axes, filesystems, strict=True):
            _throughput(ax, outcome, filesystem)
            ax.set_title(filesystem)
        return with_legend(figure, axes)


def _throughput(ax: "Axes", outcome: KernelLawOutcome, filesystem: str) -> None:
    from matplotlib import colormaps

    groups = by_limit(outcome.throughputs)
    limits = list(dict.fromkeys(limit for limit, _, _ in groups))
    colours = colormaps["viridis"](np.linspace(0, 0.95, len(limits)))
    for at, limit in enumerate(limits):
        found = {
            writers: of for (size, writers, name), of in groups.items() if (size, name) == (limit, filesystem)
        }
        mean = [np.mean([one.case.published for one in of]) for of in found.values()]
        # Side by side: many limits have as many writers. Without points too, for the order of the legend.
        ax.plot(
            [writers * 1.05 ** (at - len(limits) / 2) for writers in found],
            mean,
            marker=MARKERS[at % len(MARKERS)],
            color=colours[at],
            linestyle="none",
            label=f"{limit} MiB, published",
        )
    forecast = {
        writers: [one.forecast for key, of in groups.items() if key[1] == writers for one in of]
        for writers in sorted({writers for _, writers, _ in groups})
    }
    means = [np.mean(values) for values in forecast.values()]
    ax.plot(list(forecast), means, color=model_colour("kernel"), label="kernel, all limits")
    ax.set_xscale("log")
    ax.set_xticks([1, 2, 10, 100], ["1", "2", "10", "100"])
    ax.minorticks_off()
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("writers")
    ax.set_ylabel("part of the most written back")
