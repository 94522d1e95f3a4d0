"""The figure of the study; no global style is touched."""

from statistics import mean
from typing import TYPE_CHECKING

from pagecast.plot.panels import grid, style, with_legend
from pagecast.studies.pvfs.outcome import PvfsOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]


def draw(outcome: PvfsOutcome) -> "Figure":
    """Draw throughput of a client over the block, for each number of clients, and over the size of a file."""
    curves = [(f"{clients} clients", curve, "block (KiB)") for clients, curve in outcome.by_block.items()]
    with style():
        figure, panels = grid(1, 2, size=(9, 3.6))
        for ax, way in zip(panels, ("read", "write"), strict=True):
            for k, (label, curve, axis) in enumerate(curves):
                ax.plot(
                    list(curve), [mean(one[way]) / 1024 for one in curve.values()], color=f"C{k}", label=label
                )
                ax.set_xlabel(axis)
            if outcome.by_file:
                rates = [mean(one[way]) / 1024 for one in outcome.by_file.values()]
                ax.plot(
                    list(outcome.by_file), rates, ":", color="black", label="1 client, by file of so many KiB"
                )
            ax.set_xscale("log", base=2)
            ax.set_ylabel(f"{way}s of each client (MiB/s)")
            ax.set_ylim(bottom=0)
        return with_legend(figure, panels, columns=5)
