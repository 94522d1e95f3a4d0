"""The figure of the study; no global style is touched."""

from typing import TYPE_CHECKING, Final

from pagecast.plot.panels import grid, style, with_legend
from pagecast.studies.ext3.outcome import Ext3Outcome
from pagecast.studies.ext3.shapes import GRID, L2_KIB

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw"]

FILES_BLOCK_KIB: Final = 64
"""The block of the curve over file size."""

WAYS: Final = {"read": "-", "write": "--"}


def draw(outcome: Ext3Outcome) -> "Figure":
    """Draw throughput over block size, for each L2 cache, and over file size."""
    with style():
        figure, (blocks, files) = grid(1, 2, size=(9, 3.4))
        for k, l2 in enumerate(L2_KIB):
            rates = outcome.curves[f"L2 of {l2} KiB"]
            for way, line in WAYS.items():
                at = [block for _, block in rates]
                rate = [one[way] / 1024 for one in rates.values()]
                blocks.plot(at, rate, line, color=f"C{k}", label=f"{way}, L2 of {l2} KiB")
        blocks.set_xlabel("block (KiB)")
        rates = {point: one for point, one in outcome.curves[GRID].items() if point[1] == FILES_BLOCK_KIB}
        for way, line in WAYS.items():
            sizes = [file / 1024 for file, _ in rates]
            files.plot(sizes, [one[way] / 1024 for one in rates.values()], line, color="C0")
        files.set_xlabel("file (MiB), blocks of 64 KiB")
        for ax in (blocks, files):
            ax.set_xscale("log", base=2)
            ax.set_ylabel("throughput (MiB/s)")
            ax.set_ylim(bottom=0)
        return with_legend(figure, [blocks, files], columns=4)
