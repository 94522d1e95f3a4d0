"""Writes a forecast as a folder: tables, a trace and figures of each model, and a report of all."""

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

_FEWEST = 10
"""Percentiles are drawn where so many operations of a kind are there."""


def save_results(results: Sequence[Result], folder: Path, *, begin: Callable[[str], object]) -> None:
    """Write everything that the models gave: tables and traces in a folder for each, figures, a report.

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
    figures = {}
    for result in results:
        begin(result.model)
        figures[result.model] = save_figures(result, folder / result.model)
    if find_spec("matplotlib") and find_spec("jinja2"):
        from pagecast.outputs.report import write_report
        from pagecast.plot.saving import optional_files

        report = folder / "report.html"
        with optional_files(report.name, report):
            write_report(results, figures, report)


def save_figures(result: Result, folder: Path) -> dict[str, str]:
    """Draw the figures as PNG and SVG; without matplotlib there are none.

    What is of a host is drawn of each, one above the other. Of a figure that cannot be drawn there is a
    `FigureWarning`.

    Parameters
    ----------
    result : Result
    folder : Path

    Returns
    -------
    dict of str
        The same as elements of HTML, by their names.
    """
    if find_spec("matplotlib") is None:
        return {}
    from pagecast.plot.saving import optional_files, save_figure
    from pagecast.report.svg import to_svg

    elements = {}
    for name, draw in _figures(result).items():
        files = [folder / f"{name}.png", folder / f"{name}.svg"]
        with optional_files(f"{name} of {result.model}", *files):
            figure = draw()
            save_figure(figure, files[0], dpi=150)
            save_figure(figure, files[1], metadata={"Date": None})
            elements[name] = to_svg(figure, name=f"{result.model}-{name}")
    return elements


def _figures(result: Result) -> "dict[str, Callable[[], Figure]]":
    """Give what draws each figure."""
    from pagecast import plot
    from pagecast.plot.hosts import hosts_figure
    from pagecast.plot.stacked import latency_figure, rates_figure

    def of_table(table: str, draw: "Callable[..., Axes]") -> "Figure":
        return hosts_figure(draw, result, list(dict.fromkeys(result.table(table)["host"])))

    figures: dict[str, Callable[[], Figure]] = {
        "parts": lambda: hosts_figure(lambda result, ax, host: plot.parts(result, ax=ax), result, []),
        "rates": lambda: rates_figure(result),
        "timeline": lambda: of_table("timeline", plot.timeline),
        "cache_content": lambda: of_table("files", plot.cache_content),
    }
    if result.latency["count"].max(initial=0) >= _FEWEST:
        figures["latency"] = lambda: latency_figure(result)
    if result.slots:
        figures["gantt"] = lambda: hosts_figure(
            lambda result, ax, host: plot.gantt(result, ax=ax), result, []
        )
        figures["gantt_cores"] = lambda: hosts_figure(
            lambda result, ax, host: plot.gantt(result, ax=ax, by="core"), result, []
        )
    if len(result.devices):
        figures["devices"] = lambda: of_table("devices", plot.devices)
    if len(result.bdi):
        figures["bdi"] = lambda: of_table("bdi", plot.bdi)
    return figures
