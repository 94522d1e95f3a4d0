"""Figure of the model alone, as the paper has it: what a write costs and what is dirty, by bytes written."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pagecast.plot.style import LEVEL_COLOURS, LIMIT_COLOURS, LIMIT_LINES, MEASURED_COLOUR, model_colour
from pagecast.studies.cawl.calibration import calibration
from pagecast.studies.cawl.figures import main_series, panels
from pagecast.studies.cawl.predictions import buffered
from pagecast.studies.cawl.series import GIB

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pagecast.studies.cawl.series import Series
    from pagecast.studies.cawl.study import CawlOutcome

__all__ = ["draw_levels"]

COLUMNS = 3
HEIGHT_IN = 2.1


def draw_levels(outcome: "CawlOutcome", host: str) -> "Figure | None":
    """Draw a panel for each main series of a machine: times on the left axis, dirty bytes on the right one.

    Parameters
    ----------
    outcome : CawlOutcome
    host : str
        "host1" or "nvram1".

    Returns
    -------
    Figure or None
        None if the model was not asked, or has no series there.
    """
    if not outcome.deviations:
        return None
    return panels(main_series(outcome, host), partial(_panel, outcome), columns=COLUMNS, height_in=HEIGHT_IN)


def _panel(outcome: "CawlOutcome", ax: "Axes", series: "Series") -> None:
    seconds, dirty = buffered(series)
    written = np.cumsum(series.sizes()) / GIB
    points = outcome.points[series.name]
    measured = [point.measured_s for point in points]
    middles = [point.middle * written[0] for point in points]
    ax.plot(middles, measured, ".", color=MEASURED_COLOUR, markersize=3, label="measured")
    ax.plot(written, seconds, color=model_colour("cawl"), label="cawl")
    right = ax.twinx()
    ax.plot([], [], color=LEVEL_COLOURS["dirty"], linestyle=":", label="dirty (right axis)")
    right.plot(written, dirty / GIB, color=LEVEL_COLOURS["dirty"], linestyle=":")
    right.set_ylim(bottom=0)
    right.set_ylabel("dirty (GiB)")
    known = calibration(series)
    setpoint = (known["limit_bg"] + known["limit_hard"]) / 2
    levels = {"background_threshold": ("background limit reached", known["limit_bg"])}
    levels["setpoint"] = ("set point reached", setpoint)
    for name, (label, level) in levels.items():
        reached = np.flatnonzero(dirty >= level)
        at = written[reached[0]] if len(reached) else np.nan
        ax.axvline(at, color=LIMIT_COLOURS[name], linestyle=LIMIT_LINES[name], linewidth=1, label=label)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("written (GiB)")
    ax.set_ylabel("time (s)")
