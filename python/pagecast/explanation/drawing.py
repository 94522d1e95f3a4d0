"""One picture of an explanation: dirty memory against its limits, the disks, and what was under way.

The instant or the operation is shaded; the time around it is as long as twice what is shaded, and at least a
second.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.kinds import NO_IO
from pagecast.plot.axes import outside_legend, quiet_frame, say, size_scale
from pagecast.plot.limits import LIMIT_LINE, LIMIT_NAMES
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import (
    ACTIVITY_COLOURS,
    BLUE,
    LEVEL_COLOURS,
    LIMIT_COLOURS,
    LIMIT_LINES,
    PART_COLOURS,
    PART_HATCHES,
    VERMILION,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.explanation.instant import InstantExplained
    from pagecast.explanation.levels import Tables
    from pagecast.explanation.operation import OperationExplained

__all__ = ["draw", "save_picture"]

_LEAST_S = 1.0
_MOST_PROCESSES = 12
_MOST_BARS = 5_000


def save_picture(result: "Tables", of: "OperationExplained | InstantExplained", path: Path) -> None:
    """Draw an explanation into a file (.png, .svg or .pdf); raises `OSError` if it cannot be written."""
    from matplotlib.figure import Figure

    from pagecast.plot.saving import save_figure

    figure = Figure(figsize=(8.6, 7.2), layout="constrained")
    draw(result, of, figure)
    if path.suffix.lower() == ".png":
        save_figure(figure, path, dpi=150)
    else:
        save_figure(figure, path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def draw(result: "Tables", of: "OperationExplained | InstantExplained", figure: "Figure") -> None:
    """Draw an explanation into a figure.

    Parameters
    ----------
    result : Result or SavedResult
        That it explains.
    of : OperationExplained or InstantExplained
    figure : matplotlib.figure.Figure
        It gets three axes.
    """
    from pagecast.explanation.operation import OperationExplained

    if isinstance(of, OperationExplained):
        begin_s, end_s, host = of.start_s, of.end_s, of.host
        number = "" if of.number is None else f" #{of.number}"
        title = f"{of.process} {of.operation}{number} and what happened around it, {result.made_by}"
    else:
        begin_s = end_s = of.at_s
        host = of.levels[0].host if of.levels else ""
        title = f"At {of.at_s:g} s, {result.made_by}"
    margin_s = max(end_s - begin_s, _LEAST_S / 2)
    window = max(begin_s - margin_s, 0.0), min(end_s + margin_s, result.end_s)
    axes = figure.subplots(3, sharex=True, height_ratios=(1.2, 1.0, 1.4))
    _levels(result, host, window, axes[0])
    _disks(result, host, window, axes[1])
    _under_way(result, host, window, axes[2])
    for ax in axes:
        if end_s > begin_s:
            ax.axvspan(begin_s, end_s, color="#F3E9D2", zorder=0)
        else:
            ax.axvline(begin_s, color="#4D4D4D", linewidth=1.2)
        ax.set_xlim(*window)
        quiet_frame(ax)
        draw_names_as_they_are(ax)
    axes[0].set_title(title).set_parse_math(False)
    axes[2].set_xlabel("time (s)")


def _levels(result: "Tables", host: str, window: tuple[float, float], ax: "Axes") -> None:
    table = result.timeline
    rows = np.array([name == host for name in table["host"]], dtype=bool)
    time_s = table["time_s"][rows]
    dirty = table["dirty_bytes"][rows]
    inside = (time_s >= window[0]) & (time_s <= window[1])
    scale, unit = size_scale(float(dirty.max(initial=0)))
    style = "default" if result.changes_evenly else "steps-post"
    names = ["dirty"]
    ax.plot(
        time_s, dirty / scale, color=LEVEL_COLOURS["dirty"], label="dirty", drawstyle=style, linewidth=1.8
    )
    for limit in ("background_threshold", "setpoint", "dirty_limit"):
        if f"{limit}_bytes" in table:
            values = table[f"{limit}_bytes"][rows]
            look: dict[str, Any] = {"color": LIMIT_COLOURS[limit], "linestyle": LIMIT_LINES[limit]}
            ax.plot(time_s, values / scale, label=LIMIT_NAMES[limit], **look, **LIMIT_LINE)
            names.append(limit)
    if not inside.any():
        say(ax, "no level is known in this time", aside=True)
    ax.set_ylabel(f"dirty memory ({unit})")
    ax.set_ylim(bottom=0)
    outside_legend(ax, names)


def _disks(result: "Tables", host: str, window: tuple[float, float], ax: "Axes") -> None:
    table = result.devices
    names = dict.fromkeys(zip(table["host"], table["device"], strict=True))
    disks = [name for of, name in names if of == host]
    rates = {what: table[f"{what}_bytes"] / table["window_s"] for what in ("write", "read")}
    scale, unit = size_scale(max(float(rate.max(initial=0)) for rate in rates.values()))
    drawn = []
    for number, disk in enumerate(disks):
        rows = [at for at, of in enumerate(table["device"]) if of == disk and table["host"][at] == host]
        time_s = np.append(table["time_s"][rows], table["time_s"][rows][-1] + table["window_s"][rows][-1])
        for what, colour in (("write", VERMILION), ("read", BLUE)):
            rate = rates[what][rows]
            if not rate.any():
                continue
            ax.plot(
                time_s,
                np.append(rate, rate[-1]) / scale,
                drawstyle="steps-post",
                color=colour,
                linestyle=("-", "--", ":")[number % 3],
                linewidth=1.5,
                label=f"{disk} {what}s",
            )
            drawn.append(disk)
    ax.set_ylabel(f"disk ({unit}/s)")
    ax.set_ylim(bottom=0)
    if not drawn:
        say(ax, "no disk is known", aside=True)
    outside_legend(ax, drawn)


def _under_way(result: "Tables", host: str, window: tuple[float, float], ax: "Axes") -> None:
    """Draw a row for each process, its operations coloured by the part that most of their time went to."""
    table, parts = result.operations, result.parts
    is_in = (table["end_s"] > window[0]) & (table["start_s"] < window[1]) & (table["duration_s"] > 0)
    rows = [row for row in np.flatnonzero(is_in).tolist() if table["host"][row] == host][:_MOST_BARS]
    busy = {table["process"][row] for row in rows if table["operation"][row] not in NO_IO}
    names = [name for name in dict.fromkeys(table["process"][row] for row in rows) if name in busy]
    names = names[:_MOST_PROCESSES]
    columns = [name for name in parts if name.endswith("_s")]
    seen = set()
    for row in rows:
        if table["process"][row] not in names:
            continue
        part = max(columns, key=lambda name: float(parts[name][row])).removesuffix("_s")
        label = "_" if part in seen else part.replace("_", " ")
        seen.add(part)
        ax.barh(
            names.index(table["process"][row]),
            table["duration_s"][row],
            left=table["start_s"][row],
            height=0.6,
            color=PART_COLOURS.get(part, ACTIVITY_COLOURS["waiting"]),
            hatch=PART_HATCHES.get(part),
            edgecolor="white",
            linewidth=0.4,
            label=label,
        )
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_title("operations in the colour of their longest part", fontsize=9, loc="left")
    outside_legend(ax, seen)
