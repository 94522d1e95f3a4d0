"""The rates of a benchmark over the size of a call."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pagecast.benchmark.plan import call_text
from pagecast.benchmark.result import Benchmark, Measurement
from pagecast.plot.axes import plain_log_scale, quiet_frame, size_scale
from pagecast.plot.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_LINES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("buffered", "write-new"): {"color": VERMILION, "marker": "o"},
    ("buffered", "overwrite"): {"color": ORANGE, "marker": "s"},
    ("buffered", "read-cold"): {"color": BLUE, "marker": "o"},
    ("buffered", "read-warm"): {"color": GREEN, "marker": "s"},
    ("direct", "write-new"): {"color": BLACK, "marker": "o", "linestyle": "--"},
    ("direct", "overwrite"): {"color": BLACK, "marker": "s", "linestyle": ":"},
    ("direct", "read-cold"): {"color": BLACK, "marker": "o", "linestyle": "--"},
    ("direct", "read-warm"): {"color": BLACK, "marker": "s", "linestyle": ":"},
}


def draw(done: Benchmark) -> "Figure":
    """Draw medians, with bars from the least to the greatest, over the size of a call.

    A row for each direction, a column for each number of threads. A marker is filled where the device served
    most of the bytes, and hollow where memory did.

    Parameters
    ----------
    done : Benchmark

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    cells = [one.cell for one in done.measurements]
    targets = list(dict.fromkeys(cell.target for cell in cells))
    directions = [word for word in ("read", "write") if any(cell.direction == word for cell in cells)]
    threads = sorted({cell.threads for cell in cells})
    rows = [(target, direction) for target in targets for direction in directions]
    figure = Figure(figsize=(1.9 + 4.2 * len(threads), 0.8 + 3.4 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(threads), squeeze=False, sharex=True, sharey="row")
    for (target, direction), row in zip(rows, grid, strict=True):
        of_row = [
            one for one in done.measurements if (one.cell.target, one.cell.direction) == (target, direction)
        ]
        scale, unit = size_scale(max(max(*one.rates, one.copy_bytes_per_s) for one in of_row))
        row[0].set_ylabel(f"rate ({unit}/s), log scale")
        for count, ax in zip(threads, row, strict=True):
            _draw_one(ax, done, [one for one in of_row if one.cell.threads == count], scale)
            on = " of the device" if len(targets) > 1 and target == "device" else ""
            ax.set_title(f"{direction}{on}, {count} thread{'s' if count > 1 else ''}")
        row[-1].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0.0)
    for ax in grid[-1]:
        ax.set_xlabel("size of a call")
    where = done.place["device"] or done.place["file_system"]
    figure.suptitle(f"Rates of {where}: filled from the device, hollow from memory")
    return figure


def _draw_one(ax: "Axes", done: Benchmark, chosen: Sequence[Measurement], scale: float) -> None:
    copies = {(one.direction, one.call_bytes, one.threads): one for one in done.copies}
    calls = sorted({one.cell.call_bytes for one in chosen})
    places = {call: place for place, call in enumerate(calls)}
    kinds = list(dict.fromkeys((one.cell.mode, one.cell.access) for one in chosen))
    for mode, access in kinds:
        line = [one for one in chosen if (one.cell.mode, one.cell.access) == (mode, access)]
        _draw_line(ax, line, [places[one.cell.call_bytes] for one in line], scale)
    cell = chosen[0].cell
    rates = [copies[cell.direction, call, cell.threads].bytes_per_s / scale for call in calls]
    ax.plot([*places.values()], rates, color=GREY, linewidth=2.5, alpha=0.5, label="copying memory")
    limit = chosen[0].device_bytes_per_s
    if limit is not None:
        ax.axhline(limit / scale, color=PURPLE, linewidth=1.0, linestyle="-.", label="device, at most")
    plain_log_scale(ax, "y")
    ax.set_xticks([*places.values()], list(map(call_text, calls)))
    quiet_frame(ax)


def _draw_line(ax: "Axes", line: Sequence[Measurement], x: Sequence[int], scale: float) -> None:
    cell = line[0].cell
    style = _LINES[cell.mode, cell.access]
    y = [one.bytes_per_s / scale for one in line]
    below = [(one.bytes_per_s - min(one.rates)) / scale for one in line]
    above = [(max(one.rates) - one.bytes_per_s) / scale for one in line]
    label = f"{cell.mode} {cell.access.replace('-', ' ')}"
    ax.errorbar(x, y, yerr=[below, above], capsize=2, linewidth=1.4, **(style | {"marker": ""}), label=label)
    for at, value, one in zip(x, y, line, strict=True):
        inside = style["color"] if one.served_by == "device" else "white"
        ax.plot([at], [value], marker=style["marker"], color=style["color"], markerfacecolor=inside, zorder=3)
