"""Measured and forecast in one panel: measured is points, forecasts are lines, limits are thin lines."""

from typing import TYPE_CHECKING, Any, Final

from pagecast.plot.style import LIMIT_LINES, MEASURED_COLOUR, model_colour, model_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

__all__ = ["draw_forecast", "draw_limit", "draw_measured"]

_POINTS: Final[dict[str, Any]] = {
    "color": MEASURED_COLOUR, "linestyle": "none", "marker": ".", "markersize": 3,
}  # fmt: skip


def draw_measured(ax: "Axes", x: "ArrayLike", y: "ArrayLike", **style: Any) -> None:
    """Draw measured points; that is the label if no other is given."""
    ax.plot(x, y, **({"label": "measured"} | _POINTS | style))


def draw_forecast(ax: "Axes", x: "ArrayLike", y: "ArrayLike", model: str, **style: Any) -> None:
    """Draw the line of a forecast; its name is the label if no other is given."""
    style = {"label": model, "color": model_colour(model), "linestyle": model_line(model)} | style
    ax.plot(x, y, **style)


def draw_limit(
    ax: "Axes",
    x: "ArrayLike",
    y: "ArrayLike",
    limit: str,
    *,
    color: str = MEASURED_COLOUR,
    label: str | None = None,
) -> None:
    """Draw a limit of dirty memory, in its line style of every figure."""
    ax.plot(x, y, color=color, linestyle=LIMIT_LINES[limit], linewidth=0.8, label=label)
