"""One colour for one thing, in every figure.

The eight colours are those of Okabe and Ito (2008, "Color Universal Design"), which readers with any kind of
colour vision can tell apart; lighter and darker shades of them where eight are not enough. Nothing is said by
colour alone: models also differ in line style, parts in hatching.
"""

from typing import Final

__all__ = [
    "ACTIVITY_COLOURS",
    "ACTIVITY_HATCHES",
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "LEVEL_COLOURS",
    "LIMIT_COLOURS",
    "LIMIT_LINES",
    "MEASURED_COLOUR",
    "MODEL_COLOURS",
    "MODEL_LINES",
    "MODEL_MARKERS",
    "ORANGE",
    "PART_COLOURS",
    "PART_HATCHES",
    "PURPLE",
    "SEQUENCE",
    "SKY",
    "VERMILION",
    "YELLOW",
    "model_colour",
    "model_line",
]

BLACK: Final = "#000000"
ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
YELLOW: Final = "#F0E442"
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
GREY: Final = "#8C8C8C"

SEQUENCE: Final = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, YELLOW, GREY)
"""For things without a colour of their own, such as files; repeats when there are more."""

MEASURED_COLOUR: Final = BLACK
"""Measured on a real machine: points with spread."""

LEVEL_COLOURS: Final = {
    "used": "#4D4D4D",
    "anonymous": PURPLE,
    "cached": GREEN,
    "dirty": VERMILION,
}
"""Levels of memory, by the column's name without ``_bytes``."""

LIMIT_COLOURS: Final = {
    "background_threshold": SKY,
    "setpoint": BLUE,
    "dirty_limit": BLACK,
    "hard_limit": GREY,
}
"""Limits of dirty memory, by the column's name without ``_bytes``."""

LIMIT_LINES: Final = {
    "background_threshold": (0, (1, 1.5)),
    "setpoint": (0, (5, 2, 1, 2)),
    "dirty_limit": "-",
    "hard_limit": (0, (2, 1)),
}
"""Their line styles; the lines are thin."""

MODEL_COLOURS: Final = {
    "kernel": BLUE,
    "wrench": ORANGE,
    "cawl": GREEN,
    "no-cache": GREY,
    "endless-cache": SKY,
}
"""The models; forecasts are lines."""

MODEL_LINES: Final = {
    "kernel": "-",
    "wrench": "-",
    "cawl": "-.",
    "no-cache": "--",
    "endless-cache": ":",
}
"""A line style for each model, so that a print in grey can be read as well."""

MODEL_MARKERS: Final = {
    "kernel": "o",
    "wrench": "s",
    "cawl": "D",
    "no-cache": "^",
    "endless-cache": "x",
}
"""A marker for each model, for figures with points."""

PART_COLOURS: Final = {
    "cpu_copy": GREEN,
    "page_allocation": "#7FCEB9",
    "device_read": BLUE,
    "device_write": VERMILION,
    "queueing": "#8C5A00",
    "throttled": YELLOW,
    "reclaim": PURPLE,
    "journal": "#6A3D5C",
    "network": SKY,
    "server": "#00496F",
    "compute": GREY,
    "sleep": "#D9D9D9",
    "wait": "#BDBDBD",
}
"""The parts of a duration, by the column's name without ``_s``."""

PART_HATCHES: Final = {"throttled": "//", "queueing": "..", "journal": "xx", "server": "\\\\", "wait": "..."}
"""Hatching of the parts whose colour is close to that of another."""


ACTIVITY_COLOURS: Final = {"computing": GREY, "waiting": "#E3E3E3", "reading": BLUE, "writing": VERMILION}
"""What a process does, in the order of drawing."""

ACTIVITY_HATCHES: Final = {"waiting": "...."}
"""Hatching of what is close to the page's colour."""


def model_colour(model: str) -> str:
    """Give the colour of a model, black for one that is not known here.

    Parameters
    ----------
    model : str

    Returns
    -------
    str
        As ``#RRGGBB``.
    """
    return MODEL_COLOURS.get(model, BLACK)


def model_line(model: str) -> str:
    """Give the line style of a model, a full line for one that is not known here.

    Parameters
    ----------
    model : str

    Returns
    -------
    str
        As matplotlib takes it.
    """
    return MODEL_LINES.get(model, "-")
