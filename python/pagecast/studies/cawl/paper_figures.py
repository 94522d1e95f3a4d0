"""Figures 4 to 9 of the paper, redrawn from the published measurements and the models.

Series without published measurements are drawn from the models alone, and labelled so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from pagecast.plot.panels import grid, style, with_legend
from pagecast.studies.cawl.cost_panels import by_bytes_written, by_size
from pagecast.studies.cawl.outcome import CawlOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.studies.cawl.forecast import SeriesRun

__all__ = ["FIGURES", "PaperFigure", "paper_figures"]

COLUMNS: Final = 3
HEIGHT_IN: Final = 2.6
LEGEND_COLUMNS: Final = 5


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure: its number, its subject, and the titles of its panels by series."""

    number: str
    caption: str
    panels: dict[str, str]
    sizes: bool = False


def _pauses(prefix: str, host: str) -> dict[str, str]:
    return {f"{prefix}_p{pause}": f"{host}, pause {pause} s" for pause in ("0", "0.1", "0.2")}


def _rewriting(host: str, title: str) -> dict[str, str]:
    return {
        f"{host}_rewrite{part}_p{pause}": f"{title}, {part} % rewritten, pause {pause} s"
        for part in ("25", "75")
        for pause in ("0", "0.2")
    }


ALONE: Final = "Model alone, no public data: nothing was published of"

FIGURES: Final = (
    PaperFigure(
        "4(a)",
        "O_DIRECT, 1 KiB. nvram1 stands in for the paper's Host 2.",
        {"h1_direct_1k": "Host 1", "nv_direct_1k": "nvram1"},
    ),
    PaperFigure(
        "4(b)",
        "O_DIRECT, sizes. nvram1 stands in for the paper's Host 2; its write cache is full after 1.4 GB, "
        "which is seen on the right.",
        {
            "h1_direct_sizes": "Host 1",
            "nv_direct_sizes": "nvram1",
            "nv_direct_sizes_512_4m": "nvram1, 512 B to 4 MiB",
        },
        sizes=True,
    ),
    PaperFigure(
        "5(a)",
        "O_SYNC, 1 KiB. nvram1 stands in for the paper's Host 2.",
        {"h1_sync_1k": "Host 1", "nv_sync_1k": "nvram1"},
    ),
    PaperFigure(
        "5(b)",
        "O_SYNC, sizes; which files belong to the paper's figure is not sure.",
        {
            "h1_sync_sizes": "Host 1",
            "nv_sync_sizes": "nvram1",
            "nv_sync_sizes_16m": "nvram1, 16 to 512 MiB",
        },
        sizes=True,
    ),
    PaperFigure("6(a)", "Buffered writes of 1 GiB on Host 1.", _pauses("h1_async", "Host 1")),
    PaperFigure(
        "6(a), nvram1", "The same on nvram1, which is not in the paper.", _pauses("nv_async", "nvram1")
    ),
    PaperFigure("6(b)", f"Buffered writes of 128 MB. {ALONE} Host 2.", _pauses("host2_async", "Host 2")),
    PaperFigure(
        "7, Host 1", f"Writes over what is there. {ALONE} these series.", _rewriting("host1", "Host 1")
    ),
    PaperFigure(
        "7, Host 2", f"Writes over what is there. {ALONE} these series.", _rewriting("host2", "Host 2")
    ),
    PaperFigure(
        "7, nvram1",
        "What was published of random offsets: nvram1, not in the paper. The second is simulated as "
        "rewriting the same 1 GiB.",
        {"nv_random_a": "nvram1, random offsets", "nv_random_b": "nvram1, rewriting"},
    ),
    PaperFigure("8(a)", "Writes of 1 GiB with fwrite(3) on Host 1.", _pauses("h1_libc", "Host 1")),
    PaperFigure(
        "8(a), nvram1", "The same on nvram1, which is not in the paper.", _pauses("nv_libc", "nvram1")
    ),
    PaperFigure("8(b)", f"Writes of 128 MB with fwrite(3). {ALONE} Host 2.", _pauses("host2_libc", "Host 2")),
    PaperFigure(
        "9",
        "fwrite(3) of 512 B: the buffer of 4096 B is written when it is full. nvram1 stands in for the "
        "paper's Host 2.",
        {"h1_libc_512b_fig": "Host 1", "nv_libc_512b": "nvram1"},
    ),
)
"""In the order of the paper; series without measurements are those of `alone.unpublished`."""


def paper_figures(outcome: CawlOutcome) -> "Iterator[tuple[PaperFigure, Callable[[], Figure]]]":
    """Give every figure of which a series was forecast, and what draws it.

    Yields
    ------
    tuple of PaperFigure and callable
        Which gives the figure.
    """
    runs: dict[str, list[SeriesRun]] = {}
    for run in (*outcome.runs, *outcome.alone):
        runs.setdefault(run.series.name, []).append(run)
    for figure in FIGURES:
        names = [name for name in figure.panels if name in runs]
        draws = [_panel(outcome, figure, runs[name]) for name in names]
        if draws:
            yield figure, partial(_figure, [figure.panels[name] for name in names], draws)


def _panel(outcome: CawlOutcome, figure: PaperFigure, runs: "list[SeriesRun]") -> "Callable[[Axes], Axes]":
    points = outcome.points.get(runs[0].series.name, ())
    draw = by_size if figure.sizes else by_bytes_written
    return lambda ax: draw(ax, runs, points)


def _figure(titles: Sequence[str], draws: "Sequence[Callable[[Axes], Axes]]") -> "Figure":
    columns = 2 if len(titles) in (2, 4) else COLUMNS
    rows = -(-len(titles) // columns)
    with style():
        figure, axes = grid(rows, columns, size=(10, 1.1 + HEIGHT_IN * rows))
        for ax, title, draw in zip(axes, titles, draws, strict=False):
            draw(ax)
            ax.set_title(title)
        for ax in axes[len(titles) :]:
            ax.set_axis_off()
        return with_legend(figure, axes, columns=LEGEND_COLUMNS)
