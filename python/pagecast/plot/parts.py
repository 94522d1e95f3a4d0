"""Where the time of the operations goes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pagecast.plot.axes import given_or_new, outside_legend, quiet_frame
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import PART_COLOURS, PART_HATCHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = ["parts"]

_MOST_BARS = 40


def parts(result: "Result", ax: "Axes | None" = None) -> "Axes":
    """Draw the parts of the operations' durations as stacked bars.

    One bar for each operation in the order of their starts. With more than 40 of them, one bar for the sum of
    each kind of operation. Operations that take no time are left out.

    Parameters
    ----------
    result : Result
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = given_or_new(ax)
    labels, times, of_what = _bars(result)
    left = np.zeros(len(labels))
    position = np.arange(len(labels))
    shown = [part for part in PART_COLOURS if times[part].any()]
    for part in shown:
        ax.barh(
            position,
            times[part],
            left=left,
            height=0.72,
            label=part.replace("_", " "),
            color=PART_COLOURS[part],
            hatch=PART_HATCHES.get(part),
            edgecolor="white",
            linewidth=0.4,
        )
        left += times[part]
    ax.set_yticks(position, labels, fontsize=_label_size(len(labels)))
    ax.invert_yaxis()
    ax.set_xlim(0, max(1.03 * left.max(initial=0), 1e-9))
    ax.set(xlabel="time (s)", title=f"Where the time goes{of_what}, {result.made_by}")
    quiet_frame(ax)
    ax.grid(visible=False, axis="y")
    outside_legend(ax, shown)
    draw_names_as_they_are(ax)
    return ax


def _bars(result: "Result") -> tuple[list[str], dict[str, "np.ndarray[Any, Any]"], str]:
    """Give a label for each bar, the times of each part, and over what they are summed."""
    operations, table = result.operations, result.parts
    taken = np.flatnonzero(operations["duration_s"] > 0)
    taken = taken[np.argsort(operations["start_s"][taken], kind="stable")]
    times = {part: table[f"{part}_s"][taken] for part in PART_COLOURS}
    if len(taken) <= _MOST_BARS:
        return [_label(operations, row) for row in taken.tolist()], times, ""
    kinds = [operations["operation"][row] for row in taken]
    names = list(dict.fromkeys(kinds))
    number = np.array([names.index(kind) for kind in kinds])
    sums = {part: np.bincount(number, weights=values, minlength=len(names)) for part, values in times.items()}
    processes = len({operations["process"][row] for row in taken})
    of_what = (
        f", summed over {processes} processes" if processes > 1 else f", summed over {len(taken)} operations"
    )
    counts = np.bincount(number, minlength=len(names))
    return [f"{name} ×{count}" for name, count in zip(names, counts, strict=True)], sums, of_what


def _label(operations: Any, row: int) -> str:
    file = operations["path"][row].rsplit("/", 1)[-1]
    return f"{operations['process'][row]}  {operations['operation'][row]} {file}".rstrip()


def _label_size(bars: int) -> float:
    return 9.0 if bars <= 20 else 6.5
