"""Figures of a description; needs matplotlib."""

from typing import TYPE_CHECKING, Final

import numpy as np

from pagecast.description.describing import size_text
from pagecast.plot.axes import given_or_new, outside_legend, plain_log_scale, quiet_frame, say, size_scale
from pagecast.plot.saving import draw_names_as_they_are
from pagecast.plot.style import BLUE, GREEN, GREY, SEQUENCE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.description.describing import Description

__all__ = ["FIGURES", "hit_ratio", "places", "sizes", "working_set"]

_MOST_FILES: Final = 7
"""So many files have colours of their own in `places`."""

_MOST_SIZES: Final = 40
"""With more different sizes than this, bars stand for powers of two."""


def hit_ratio(description: "Description", ax: "Axes | None" = None) -> "Axes":
    """Draw the hit ratio of an LRU cache against its size.

    Parameters
    ----------
    description : Description
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = given_or_new(ax)
    curve = description.table("hit_ratio")
    if len(curve) == 0:
        say(ax, "nothing is read or written")
        return ax
    scale, unit = size_scale(float(curve["memory_bytes"].max()))
    memory = curve["memory_bytes"] / scale
    for name, label, colour in (
        ("read_hit_ratio", "reads", BLUE),
        ("hit_ratio", "reads and writes", VERMILION),
    ):
        ratio = 100 * curve[name]
        if np.isnan(ratio).all():
            continue
        ax.plot(memory, ratio, drawstyle="steps-post", color=colour, label=label)
        error = 200 * curve["error"]
        if error.any():
            ax.fill_between(
                memory, ratio - error, ratio + error, step="post", color=colour, alpha=0.2, linewidth=0
            )
    plain_log_scale(ax, "x")
    if memory[-1] > 1000 * memory[0]:
        from matplotlib.ticker import LogLocator

        ax.xaxis.set_major_locator(LogLocator(subs=(1,)))
    ax.set_ylim(0, 102)
    ax.set_xlabel(f"memory ({unit}), log scale")
    ax.set_ylabel("hits among pages (%)")
    ax.set_title("Hit ratio of an LRU cache by its size")
    quiet_frame(ax)
    outside_legend(ax, ["reads", "reads and writes"])
    return ax


def working_set(description: "Description", ax: "Axes | None" = None) -> "Axes":
    """Draw the different bytes that are used in each window, and those that have been used so far.

    Parameters
    ----------
    description : Description
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = given_or_new(ax)
    table = description.table("working_set")
    if len(table) == 0:
        say(ax, "nothing is read or written")
        return ax
    has_times = not np.isnan(table["end_s"]).any()
    ends = table["end_s"] if has_times else table["requests"]
    scale, unit = size_scale(float(table["footprint_bytes"].max()))
    ax.plot(ends, table["footprint_bytes"] / scale, color=GREY, label="used so far")
    ax.plot(
        ends,
        table["working_set_bytes"] / scale,
        drawstyle="steps-pre",
        color=GREEN,
        label=f"used in each of {len(table)} windows",
    )
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    ax.set_xlabel("time (s)" if has_times else "request")
    ax.set_ylabel(f"different bytes ({unit})")
    ax.set_title("Working set")
    quiet_frame(ax)
    outside_legend(ax, ["so far", "windows"])
    return ax


def places(description: "Description", ax: "Axes | None" = None) -> "Axes":
    """Draw the place of requests in their files against their numbers.

    Parameters
    ----------
    description : Description
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    from matplotlib.ticker import StrMethodFormatter

    ax = given_or_new(ax)
    points = description.table("points")
    if len(points) == 0:
        say(ax, "nothing is read or written")
        return ax
    offsets = points["offset_bytes"].astype(np.float64)
    scale, unit = size_scale(float(offsets.max()))
    names = list(dict.fromkeys(name for name in description.table("files")["name"]))[:_MOST_FILES]
    files = np.array(points["file"], dtype=object)
    labels = []
    for name, colour in [*zip(names, SEQUENCE, strict=False), (None, GREY)]:
        rows = files == name if name is not None else ~np.isin(files, names)
        label = name if name is not None else "other files"
        for is_write, marker in ((False, "."), (True, "x")):
            chosen = rows & (points["is_write"] == is_write)
            if chosen.any():
                labels.append(f"{label}, {'written' if is_write else 'read'}")
                ax.plot(
                    points["request"][chosen],
                    offsets[chosen] / scale,
                    marker,
                    markersize=3 if is_write else 2.5,
                    color=colour,
                    label=labels[-1],
                    rasterized=len(points) > 2000,
                )
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_xlabel("request")
    ax.set_ylabel(f"offset in the file ({unit})")
    ax.set_title("Where requests go")
    quiet_frame(ax)
    outside_legend(ax, labels)
    draw_names_as_they_are(ax)
    return ax


def sizes(description: "Description", ax: "Axes | None" = None) -> "Axes":
    """Draw how many requests have each size.

    Parameters
    ----------
    description : Description
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = given_or_new(ax)
    table = description.table("sizes")
    if len(table) == 0:
        say(ax, "nothing is read or written")
        return ax
    size = table["bytes"]
    exponent = np.floor(np.log2(np.maximum(size, 1))).astype(int)
    few = len(table) <= _MOST_SIZES
    keys = list(range(len(table))) if few else sorted(set(exponent.tolist()))
    bars = np.arange(len(keys))
    of_row = bars if few else np.searchsorted(keys, exponent)
    reads = np.bincount(of_row, weights=table["reads"], minlength=len(keys))
    writes = np.bincount(of_row, weights=table["writes"], minlength=len(keys))
    ax.bar(bars, reads, color=BLUE, label="reads")
    ax.bar(bars, writes, bottom=reads, color=VERMILION, hatch="//", label="writes")
    texts = [size_text(int(value)) for value in size] if few else [f"≥ {size_text(2**key)}" for key in keys]
    step = max(1, len(keys) // 12)
    ax.set_xticks(bars[::step], texts[::step])
    ax.set_ylabel("requests")
    ax.set_xlabel("size of a request")
    ax.set_title("Sizes of requests")
    quiet_frame(ax)
    outside_legend(ax, ["reads", "writes"])
    return ax


FIGURES: Final = {
    "places": places,
    "hit_ratio": hit_ratio,
    "working_set": working_set,
    "sizes": sizes,
}
"""All figures by name, in the order of the report."""
