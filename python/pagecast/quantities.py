"""Reads quantities with units: sizes, times, rates and shares, as a scenario has them.

Sizes and percentages are read by the core. Units of time are those of ``crates/pagecast-core/src/units.rs``.
"""

import math
import re
from dataclasses import dataclass
from typing import Final

from pagecast._core import format_bytes, format_rate, parse_bytes, parse_percent
from pagecast.durations import seconds
from pagecast.errors import ScenarioError

__all__ = ["Quantity", "parse_quantity", "shown_quantity"]

_TIMES: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

_NUMBER = re.compile(r"[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_MOST_WHOLE = 1e15
"""Up to there a float that is a whole number is one without doubt."""


@dataclass(frozen=True)
class Quantity:
    """A number in the base unit of its kind.

    Attributes
    ----------
    value : int or float
        Bytes are whole numbers.
    unit : str
        ``bytes``, ``s``, ``bytes_per_s``, ``share``, or ``""`` for a number without a unit.
    """

    value: int | float
    unit: str


def parse_quantity(text: str) -> Quantity | None:
    """Read "20 ms", "64MB", "400 MB/s", "15 %" or "0.5".

    Parameters
    ----------
    text : str

    Returns
    -------
    Quantity or None
        None if it is no quantity.
    """
    text = text.strip()
    number = _NUMBER.match(text)
    if number is None:
        return None
    digits, unit = number[0].replace("_", ""), text[number.end() :].strip()
    if unit == "":
        return _plain(digits)
    if unit in _TIMES:
        return Quantity(float(f"{float(digits) * _TIMES[unit]:.15g}"), "s")
    try:
        if unit == "%":
            return Quantity(parse_percent(text), "share")
        if unit.endswith("/s"):
            return Quantity(parse_bytes(f"{digits} {unit[:-2].strip()}"), "bytes_per_s")
        return Quantity(parse_bytes(text), "bytes")
    except ScenarioError:
        return None


def _plain(digits: str) -> Quantity | None:
    if re.fullmatch(r"[+-]?\d+", digits) and abs(float(digits)) < _MOST_WHOLE:
        return Quantity(int(digits), "")
    value = float(digits)
    return Quantity(value, "") if math.isfinite(value) else None


def shown_quantity(value: float | None, unit: str) -> str:
    """Give a value of a unit as a person reads it: "20.0 ms", "64 MB", "400 MB/s", "15 %".

    Parameters
    ----------
    value : float or None
        In the base unit; None is an empty text.
    unit : str
        As in `Quantity`.

    Returns
    -------
    str
    """
    if value is None:
        return ""
    match unit:
        case "s":
            return seconds(value) if value >= 0 else f"-{seconds(-value)}"
        case "bytes":
            return format_bytes(round(value))
        case "bytes_per_s":
            return format_rate(float(f"{value:.3g}"))
        case "share":
            return f"{100 * value:.3g} %"
    if float(value).is_integer() and abs(value) < _MOST_WHOLE:
        return f"{int(value):,}"
    return f"{value:.4g}"
