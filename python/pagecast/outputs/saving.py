"""Writes a forecast as a folder: tables, a trace and figures of each model."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pagecast.export import save_provenance, save_tables
from pagecast.result import Result
from pagecast.trace import save_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["save_figures", "save_results"]


def save_results(results: Sequence[Result], folder: Path, *, begin: Callable[[str], object]) -> None:
    """Write everything that the models gave, a folder for each: tables and traces of all, then figures.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario.
    folder : Path
    begin : callable
        Is told of which model something is written next.
    """
    save_provenance(results, folder)
    for result in results:
        begin(result.model)
        (folder / result.model).mkdir()
        save_tables(result, folder / result.model)
        save_trace(result, folder / result.model / "trace.json")
    for result in results:
        begin(result.model)
        save_figures(result, folder / result.model)


def save_figures(result: Result, folder: Path) -> None:
    """Draw the figures as PNG and SVG; without matplotlib there are none.

    What is of a host is drawn of each, one above the other. Of a figure that cannot be drawn there is a
    `FigureWarning`.

    Parameters
    ----------
    result : Result
    folder : Path
    """
    if find_spec("matplotlib") is None:
        return
    from pagecast.plot.saving import optional_files, save_figure

    for name, draw in _figures(result).items():
        files = [folder / f"{name}.png", folder / f"{name}.svg"]
        with optional_files(f"{name} of {result.model}", *files):
            figure = draw()
            save_figure(figure, files[0], dpi=150)
            save_figure(figure, files[1], metadata={"Date": None})


def _figures(result: Result) -> "dict[str, Callable[[], Figure]]":
    """Give what draws each figure."""
    from pagecast import plot
    from pagecast.plot.hosts import hosts_figure

    def of_table(table: str, draw: "Callable[..., Axes]") -> "Figure":
        return hosts_figure(draw, result, list(dict.fromkeys(result.table(table)["host"])))

    figures: dict[str, Callable[[], Figure]] = {
        "parts": lambda: hosts_figure(lambda result, ax, host: plot.parts(result, ax=ax), result, []),
        "timeline": lambda: of_table("timeline", plot.timeline),
        "cache_content": lambda: of_table("files", plot.cache_content),
    }
    if result.slots:
        figures["gantt"] = lambda: hosts_figure(
            lambda result, ax, host: plot.gantt(result, ax=ax), result, []
        )
        figures["gantt_cores"] = lambda: hosts_figure(
            lambda result, ax, host: plot.gantt(result, ax=ax, by="core"), result, []
        )
    if len(result.devices):
        figures["rates"] = lambda: of_table("devices", plot.rates)
    return figures
