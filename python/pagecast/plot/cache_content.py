"""How much of each file is in memory."""

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pagecast.plot.axes import (
    chosen_host,
    given_or_new,
    of_host,
    outside_legend,
    quiet_frame,
    say,
    size_scale,
)
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import SEQUENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["cache_content"]

_MOST_FILES = 8
_MOST_BARS = 100
_MOST_LABELS = 30
_LEAST_ROWS = 3
_OTHER_COLOUR = "#C8C8C8"


def cache_content(result: "Result", ax: "Axes | None" = None, *, host: str | None = None) -> "Axes":
    """Draw how much of each file is in memory, as stacked bars, the dirty share hatched.

    One bar after each file operation if the simulation was asked for that (``residency="operation"``), else
    one for each file at the end. Of very many operations, one in so many has a bar. Of very many files, those
    whose paths differ in their first number only are drawn as one, and the smallest of the others too.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional
    host : str, optional
        Whose memory; the first one with files if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        There is no such host.
    """
    ax = given_or_new(ax)
    host = chosen_host(result, next(iter(result.files["host"]), None) if host is None else host)
    bars, files = _content(result, host)
    height = sum((cached for cached, _ in files.values()), np.zeros(len(bars)))
    scale, unit = size_scale(float(height.max(initial=0)))
    title = f"Files in memory{of_host(result, host)}{{}}, {result.made_by} (hatched: dirty)"
    quiet_frame(ax)
    if not files:
        say(ax, f"{result.model} keeps no file in memory")
    if len(bars) <= 1:
        _draw_end(ax, files, scale)
        ax.set(xlabel=f"cached ({unit})", title=title.format(" at the end"))
        draw_names_as_they_are(ax)
        return ax
    position, bottom = np.arange(len(bars)), np.zeros(len(bars))
    for number, (path, (cached, dirty)) in enumerate(files.items()):
        colour = _OTHER_COLOUR if path == _OTHERS else SEQUENCE[number % len(SEQUENCE)]
        style: dict[str, Any] = {"width": 0.72, "color": colour, "edgecolor": "white", "linewidth": 0.4}
        ax.bar(position, (cached - dirty) / scale, bottom=bottom / scale, label=path, **style)
        ax.bar(position, dirty / scale, bottom=(bottom + cached - dirty) / scale, hatch="///", **style)
        bottom += cached
    _label_bars(ax, bars)
    ax.set_ylim(0, max(1.05 * float(height.max(initial=0)) / scale, 1e-9))
    ax.set(ylabel=f"cached ({unit})", title=title.format(""))
    ax.grid(visible=False, axis="x")
    outside_legend(ax, files)
    draw_names_as_they_are(ax)
    return ax


def _draw_end(ax: "Axes", files: "dict[str, _Levels]", scale: float) -> None:
    """Draw a bar for each file; as high as in a figure with several, so that a single one is no wall."""
    for number, (path, (cached, dirty)) in enumerate(files.items()):
        colour = _OTHER_COLOUR if path == _OTHERS else SEQUENCE[number % len(SEQUENCE)]
        style: dict[str, Any] = {"height": 0.6, "color": colour, "edgecolor": "white", "linewidth": 0.4}
        clean = float(cached[-1] - dirty[-1]) / scale
        ax.barh(number, clean, **style)
        ax.barh(number, float(dirty[-1]) / scale, left=clean, hatch="///", **style)
    ax.set_yticks(range(len(files)), list(files))
    spare = max(_LEAST_ROWS - len(files), 0) / 2
    ax.set_ylim(len(files) - 0.4 + spare, -0.6 - spare)
    ax.set_xlim(0, max(1.03 * ax.get_xlim()[1], 1e-9) if files else 1)
    ax.grid(visible=False, axis="y")


def _label_bars(ax: "Axes", bars: list[str]) -> None:
    ax.set_xlim(-0.6, max(len(bars), 3) - 0.4)
    if len(bars) > _MOST_LABELS:
        ax.set_xticks([])
        ax.set_xlabel("after each file operation, in the order of their ends")
    elif len(bars) > 2:
        ax.set_xticks(range(len(bars)), bars, rotation=45, ha="right", rotation_mode="anchor")
    else:
        ax.set_xticks(range(len(bars)), bars)


_OTHERS = "other files"
_Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
_Levels: TypeAlias = tuple[_Bytes, _Bytes]


def _content(result: "Result", host: str) -> tuple[list[str], dict[str, _Levels]]:
    """Give a label for each bar, and cached and dirty bytes of each file at each bar."""
    table = result.files
    rows = [row for row, name in enumerate(table["host"]) if name == host]
    steps = list(dict.fromkeys((table["process"][row], int(table["index"][row])) for row in rows))
    steps = [*steps[: -1 : 1 + len(steps) // _MOST_BARS], *steps[-1:]]
    number = {step: position for position, step in enumerate(steps)}
    files: dict[str, _Levels] = {}
    for row in rows:
        cached, dirty = files.setdefault(table["path"][row], (np.zeros(len(steps)), np.zeros(len(steps))))
        step = number.get((table["process"][row], int(table["index"][row])))
        if step is not None:
            cached[step] = table["cached_bytes"][row]
            dirty[step] = table["dirty_bytes"][row]
    return _labels(result, steps), _few(files)


def _few(files: dict[str, _Levels]) -> dict[str, _Levels]:
    """Keep the files that are there, and make few of many."""
    files = {path: levels for path, levels in files.items() if levels[0].any()}
    if len(files) > _MOST_FILES:
        files = _added(files, {path: re.sub(r"\d+", "{n}", path, count=1) for path in files})
    if len(files) > _MOST_FILES:
        by_size = sorted(files, key=lambda path: -float(files[path][0].max()))
        kept = by_size[: _MOST_FILES - 1]
        files = _added(files, {path: path if path in kept else _OTHERS for path in files})
    return files


def _added(files: dict[str, _Levels], names: dict[str, str]) -> dict[str, _Levels]:
    """Add up the files that have the same new name; the other files come last."""
    sums: dict[str, _Levels] = {}
    for path in sorted(files, key=lambda path: names[path] == _OTHERS):
        cached, dirty = sums.get(names[path], (0.0, 0.0))
        sums[names[path]] = (cached + files[path][0], dirty + files[path][1])
    return sums


def _labels(result: "Result", steps: list[tuple[str, int]]) -> list[str]:
    operations = result.operations
    columns = (operations[name] for name in ("process", "index", "operation", "path"))
    names = {
        (process, int(index)): f"{process} {operation} {path.rsplit('/', 1)[-1]}".rstrip()
        for process, index, operation, path in zip(*columns, strict=True)
    }
    return [names.get(step, "end") for step in steps]
