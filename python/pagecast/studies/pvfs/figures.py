"""The figures of the study, one for each experiment but `starts`; no global style is touched."""

from collections.abc import Callable, Iterable, Mapping
from statistics import mean
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pagecast.plot.panels import grid, style, with_legend
from pagecast.plot.style import BLUE, GREY, VERMILION
from pagecast.studies.pvfs.plan import (
    CLIENTS_FILE_KIB,
    GIB,
    LONG_FILE_KIB,
    MEMORY_KIB,
    Curve,
    Forecasts,
    as_curves,
    by_clients,
)
from pagecast.studies.pvfs.results import size
from pagecast.studies.pvfs.scenarios import CONSTANT
from pagecast.studies.pvfs.shapes import AXES, BARS, WAYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DRAWN"]

MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
"""A marker for each curve, so that a print in grey can be read as well."""

HOLLOW: Final[dict[str, Any]] = {"linestyle": "none", "markerfacecolor": "white", "markersize": 6}
"""What points of the longer files look like."""

OF_CLIENTS: Final = (BLUE, VERMILION)
"""One client, and eight."""


def draw_clients(forecasts: Forecasts) -> "Figure":
    """Draw throughput over the block by clients; below, two figures of the dissertation on their own axes."""
    short, long = (by_clients(forecasts, file_kib=file) for file in (CLIENTS_FILE_KIB, LONG_FILE_KIB))
    looks = dict(zip(short, _looks(len(short)), strict=True))
    with style():
        figure, panels = grid(2, 2, size=(9, 6.6))
        for ax, way in zip(panels[:2], WAYS, strict=True):
            for clients, look in looks.items():
                _line(ax, short[clients], way, label=_clients(clients), **look)
                _line(ax, long[clients], way, **look | HOLLOW)
            ax.plot([], [], color=GREY, marker=MARKERS[0], label="files of 512 MiB", **HOLLOW)
            _blocks_axis(ax, short.values())
            ax.set_ylabel(f"{way}s of each client (MiB/s)")
            ax.set_ylim(bottom=0)
        for ax, name in zip(panels[2:], ("67", "66"), strict=True):
            clients = AXES[name][1]
            _on_axes(ax, name, short[clients], **looks[clients])
            _on_axes(ax, name, long[clients], **looks[clients] | HOLLOW)
            _blocks_axis(ax, short.values())
        return with_legend(figure, panels[:2], columns=5)


def _on_axes(ax: "Axes", name: str, curve: Curve, **look: Any) -> None:
    """Draw a curve with the bars of the dissertation's figure, on its axis of KB/s."""
    way, clients, end = AXES[name]
    rates = np.array([mean(rates[way]) for rates in curve.values()])
    ax.errorbar(list(curve), rates, BARS * rates, capsize=3, **look)
    ax.set_title(f"{_clients(clients)}, on the axes of Figure {name}")
    ax.set_ylabel(f"{way}s of each client (KB/s)")
    ax.set_ylim(0, end)
    ax.yaxis.set_major_formatter("{x:,.0f}")


def draw_buffer(forecasts: Forecasts) -> "Figure":
    """Draw throughput over the block with receive buffers of constant cost, and linear ones."""
    curves = as_curves(
        forecasts, line=lambda point: (point.clients, point.search), at=lambda point: point.block_kib
    )
    searches = dict.fromkeys(search for _, search in curves)
    lines = dict(zip(searches, ("-", "--", ":"), strict=True))
    colours = dict(zip(dict.fromkeys(clients for clients, _ in curves), OF_CLIENTS, strict=True))
    with style():
        figure, panels = grid(1, 2, size=(9, 3.8))
        for ax, way in zip(panels, WAYS, strict=True):
            for (clients, search), curve in curves.items():
                buffer = "constant" if search == CONSTANT else f"linear, {search} a request"
                _line(
                    ax,
                    curve,
                    way,
                    label=f"{_clients(clients)}, {buffer}",
                    color=colours[clients],
                    linestyle=lines[search],
                )
            _blocks_axis(ax, curves.values())
            ax.set_ylabel(f"{way}s of each client (MiB/s)")
            ax.set_ylim(bottom=0)
        return with_legend(figure, panels, columns=3)


def draw_files(forecasts: Forecasts) -> "Figure":
    """Draw throughput of one client over the block, by the size of its file."""
    curves = as_curves(forecasts, line=lambda point: point.file_kib, at=lambda point: point.block_kib)
    with style():
        figure, panels = grid(1, 2, size=(9, 3.9))
        for ax, way, name in zip(panels, WAYS, ("17", "18"), strict=True):
            for (file, curve), look in zip(curves.items(), _looks(len(curves)), strict=True):
                _line(ax, curve, way, label=f"file of {size(file)}", **look)
            _blocks_axis(ax, curves.values())
            ax.set_title(f"Figure {name}: {way}s")
            ax.set_ylabel(f"{way}s of one client (MiB/s)")
            ax.set_ylim(bottom=0)
        return with_legend(figure, panels, columns=6)


def draw_memory(forecasts: Forecasts) -> "Figure":
    """Draw throughput over the size of all files together, with a line at the memory of the servers."""
    curves = as_curves(
        forecasts, line=lambda point: point.clients, at=lambda point: point.clients * point.file_kib
    )
    with style():
        figure, panels = grid(1, 2, size=(9, 3.5))
        for ax, way, name in zip(panels, WAYS, ("17", "18"), strict=True):
            for (clients, curve), colour, marker in zip(curves.items(), OF_CLIENTS, MARKERS, strict=False):
                _line(ax, curve, way, label=_clients(clients), color=colour, marker=marker)
            ax.axvline(MEMORY_KIB, color=GREY, linestyle="--", linewidth=1, label="memory of the servers")
            at = list(next(iter(curves.values())))
            ax.set_xticks(at, [str(kib // GIB) for kib in at])
            ax.set_title(f"Figure {name}: {way}s")
            ax.set_xlabel("files of all clients together (GiB)")
            ax.set_ylabel(f"{way}s of each client (MiB/s)")
            ax.set_ylim(bottom=0)
        return with_legend(figure, panels, columns=3)


DRAWN: Final[Mapping[str, tuple[str, "Callable[[Forecasts], Figure]", str]]] = {
    "clients": (
        "Clients",
        draw_clients,
        "Forecast by kernel: throughput of each client over the block (Figures 55 to 70), files of 64 MiB; "
        "hollow: of 512 MiB. Below, the clients of Figures 67 and 66 on their axes, with bars of 20 % as the "
        "dissertation draws them.",
    ),
    "buffer": (
        "Receive buffers",
        draw_buffer,
        "Forecast by kernel: receive buffers of constant cost, and linear ones.",
    ),
    "files": (
        "Files",
        draw_files,
        "Forecast by kernel: throughput of one client over the block, by its file (Figures 17 and 18).",
    ),
    "memory": (
        "Files larger than memory",
        draw_memory,
        "Forecast by kernel: throughput in blocks of 1 MiB over all files together (Figures 17 and 18).",
    ),
}
"""Title, function and caption of each experiment's figure."""


def _looks(curves: int) -> list[dict[str, Any]]:
    """Give a colour and a marker for each of some curves that have an order."""
    from matplotlib import colormaps

    colours = colormaps["viridis"](np.linspace(0, 0.9, curves))
    return [{"color": colour, "marker": marker} for colour, marker in zip(colours, MARKERS, strict=False)]


def _line(ax: "Axes", curve: Curve, way: str, **look: Any) -> None:
    ax.plot(list(curve), [mean(rates[way]) / 1024 for rates in curve.values()], **look)


def _blocks_axis(ax: "Axes", curves: Iterable[Curve]) -> None:
    """Label the axis of blocks, whose places are powers of two."""
    blocks = sorted({block for curve in curves for block in curve})
    ax.set_xscale("log", base=2)
    ax.set_xticks(blocks, [str(block) for block in blocks])
    ax.set_xlabel("block (KiB)")


def _clients(clients: int) -> str:
    return "1 client" if clients == 1 else f"{clients} clients"
