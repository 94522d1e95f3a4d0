"""Shared by all figures: new axes, units, grids and legends."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from pagecast.arguments import check_text
from pagecast.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pagecast.result import Result

__all__ = [
    "chosen_host",
    "duration_axis",
    "given_or_new",
    "of_host",
    "outside_legend",
    "plain_log_scale",
    "quiet_frame",
    "say",
    "size_scale",
    "time_axis",
]

_SCALES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def given_or_new(ax: "Axes | None") -> "Axes":
    """Give these axes, or new ones in a new figure of pyplot, as a notebook expects."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(8, 4.5), layout="constrained")[1]


def chosen_host(result: "Result", host: str | None) -> str:
    """Give the host that was asked for, or the first one.

    Parameters
    ----------
    result : Result
    host : str or None

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        There is no such host.
    """
    hosts = _hosts(result)
    if host is not None and check_text("host", host) not in hosts:
        raise ArgumentError(f"there is no host {host!r}; there are {', '.join(hosts)}")
    return host if host is not None else next(iter(hosts), "")


def of_host(result: "Result", host: str) -> str:
    """Give " of HOST" for a title, nothing if there is only one."""
    return f" of {host}" if len(_hosts(result)) > 1 else ""


def _hosts(result: "Result") -> list[str]:
    return list(dict.fromkeys(result.timeline["host"]))


def size_scale(largest_bytes: float) -> tuple[float, str]:
    """Give the unit in which sizes up to this one read best.

    Parameters
    ----------
    largest_bytes : float

    Returns
    -------
    tuple of float and str
        Bytes of the unit, and its name.
    """
    return next(((scale, unit) for scale, unit in _SCALES if largest_bytes >= scale), (1.0, "B"))


def time_axis(ax: "Axes", end_s: float) -> None:
    """Make the horizontal axis the time of a result, from its start to its end."""
    ax.set_xlabel("time (s)")
    ax.set_xlim(0, max(end_s, 1e-9))


def plain_log_scale(ax: "Axes", which: Literal["x", "y"]) -> None:
    """Make one of the axes logarithmic, its numbers written out: 200 and not 2 x 10^2."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())


def duration_axis(ax: "Axes", which: Literal["x", "y"]) -> None:
    """Make one of the axes logarithmic, in units of time: 10 µs, 1 ms, 100 s."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set(**{f"{which}scale": "log"})
    axis = ax.xaxis if which == "x" else ax.yaxis
    low_s, high_s = sorted(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1,) if high_s > 1e3 * low_s else (1, 2, 5), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda time_s, _: _duration(time_s)))
    axis.set_minor_locator(NullLocator())


def _duration(time_s: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if time_s >= 0.9999 * scale:
            return f"{time_s / scale:.10g} {unit}"
    return f"{time_s / 1e-9:.10g} ns"


def quiet_frame(ax: "Axes") -> None:
    """Take away the lines that carry no data, and draw a light grid behind those that do."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="both", color="#E5E5E5", linewidth=0.8)
    ax.set_axisbelow(True)


def say(ax: "Axes", text: str, *, aside: bool = False) -> None:
    """Write into the axes why there is nothing to see, or aside in a corner why there is little.

    Where there is nothing to see there is no scale either.
    """
    place: dict[str, Any] = (
        {"x": 0.02, "y": 0.98, "va": "top"} if aside else {"x": 0.5, "y": 0.5, "ha": "center"}
    )
    if not aside:
        ax.set(xticks=[], yticks=[])
    ax.text(s=text, transform=ax.transAxes, color="#4D4D4D", **place)


def outside_legend(ax: "Axes", entries: Iterable[object], *, columns: int = 1) -> None:
    """Put a legend to the right of the axes, where it hides nothing."""
    if list(entries):
        ax.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, ncols=columns, borderaxespad=0.0
        )
