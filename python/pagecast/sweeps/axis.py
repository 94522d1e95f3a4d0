"""Reads what one key is varied over: a list, or a range.

A list is ``a,b,c``; a range ``a..b:N`` or ``a..b:lin:N`` in equal steps, ``a..b:log:N`` in equal factors. For
a sample a range needs no N.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pagecast.arguments import check_text, shown, written
from pagecast.errors import ArgumentError, ArgumentTypeError
from pagecast.quantities import Quantity, parse_quantity

__all__ = ["Axis", "Setting", "Value", "axis_names", "make_axis"]

Value: TypeAlias = int | float | bool | str

_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>[^:]+?)(?::(?P<scale>log|lin))?(?::(?P<count>\d+))?")
_DIGITS = 4
"""Significant digits of a value inside a range; its ends are exact."""

_MOST_VALUES = 100_000


@dataclass(frozen=True)
class Setting:
    """One value of a key.

    Attributes
    ----------
    text : str
        As after ``--set KEY=``.
    value : int, float, bool or str
        In the base unit, for tables.
    """

    text: str
    value: Value


@dataclass(frozen=True)
class Axis:
    """A key and what it is varied over.

    Attributes
    ----------
    key : str
        As for ``--set``.
    unit : str
        ``bytes``, ``s``, ``bytes_per_s``, ``share``, or ``""``.
    settings : tuple of Setting
        The values of a grid; none of a range without a count.
    low, high : int or float
        Ends of a range; of a list 0.
    is_log, is_range : bool
    """

    key: str
    unit: str
    settings: tuple[Setting, ...]
    low: float = 0
    high: float = 0
    is_log: bool = False
    is_range: bool = False

    def at(self, fraction: float) -> Setting:
        """Give the value at a fraction of the range, or of the list.

        Parameters
        ----------
        fraction : float
            0 to 1.

        Returns
        -------
        Setting
        """
        if not self.is_range:
            return self.settings[min(int(fraction * len(self.settings)), len(self.settings) - 1)]
        if fraction <= 0 or fraction >= 1:
            return _setting(self.low if fraction <= 0 else self.high, self.unit)
        if self.is_log:
            value = self.low * (self.high / self.low) ** fraction
        else:
            value = self.low + (self.high - self.low) * fraction
        if isinstance(self.low, int) and isinstance(self.high, int):
            whole = round(value)
            digits = _DIGITS if self.unit else len(str(abs(whole)))
            return _setting(round(whole, digits - len(str(abs(whole)))), self.unit)
        return _setting(float(f"{value:.{_DIGITS}g}"), self.unit)


def make_axis(key: str, spec: object) -> Axis:
    """Read a key and its values.

    Parameters
    ----------
    key : str
    spec : str, or sequence of str, int, float or bool
        A text is a range or a list with commas.

    Returns
    -------
    Axis

    Raises
    ------
    ArgumentError, ArgumentTypeError
        It cannot be understood.
    """
    key = check_text("key", key).strip()
    if not key:
        raise ArgumentError(f"vary `{written(spec)}`: there is no key; write for example KEY=1,2,3")
    if not isinstance(spec, str):
        return _listed(key, _texts_of(key, spec))
    form = _RANGE.fullmatch(check_text(key, spec).strip())
    if form is not None and (low := parse_quantity(form["low"])) is not None:
        return _ranged(key, spec, form, low)
    return _listed(key, _split_at_commas(spec))


def axis_names(axes: Sequence[Axis]) -> list[str]:
    """Give a column for each axis: the last two words of its key, all where two are alike, and its unit.

    Parameters
    ----------
    axes : sequence of Axis

    Returns
    -------
    list of str
    """
    short = [_name(axis, 2) for axis in axes]
    return [
        name if short.count(name) == 1 else _name(axis, None) for name, axis in zip(short, axes, strict=True)
    ]


def _name(axis: Axis, most: int | None) -> str:
    words = [word for word in re.split(r"\W+", axis.key) if word]
    name = "_".join(words[-most:] if most else words) or "value"
    return name if not axis.unit or name.endswith(f"_{axis.unit}") else f"{name}_{axis.unit}"


def _ranged(key: str, spec: str, form: "re.Match[str]", low: Quantity) -> Axis:
    """Read a range whose lower end is understood."""
    high = parse_quantity(form["high"])
    where = f"vary {shown(key)}={shown(spec)}"
    if high is None:
        raise ArgumentError(
            f"{where}: `{shown(form['high'])}` is no number; write for example 64MB..8GB:log:12"
        )
    if low.unit != high.unit:
        raise ArgumentError(f"{where}: the ends have different units; write for example 64MB..8GB:log:12")
    if not low.value < high.value:
        raise ArgumentError(f"{where}: the second end is not above the first one; swap them")
    is_log = form["scale"] == "log"
    if is_log and low.value <= 0:
        raise ArgumentError(f"{where}: equal factors begin above 0; write lin instead of log")
    axis = Axis(key, low.unit, (), low.value, high.value, is_log, is_range=True)
    if form["count"] is None:
        return axis
    count = int(form["count"])
    if not 2 <= count <= _MOST_VALUES:
        raise ArgumentError(f"{where}: a range has 2 to {_MOST_VALUES} values")
    settings = tuple(dict.fromkeys(axis.at(step / (count - 1)) for step in range(count)))
    return Axis(key, low.unit, settings, low.value, high.value, is_log, is_range=True)


def _listed(key: str, texts: Sequence[str]) -> Axis:
    if not texts or not all(texts):
        raise ArgumentError(f"vary {shown(key)}: a value is empty; write for example {shown(key)}=1,2,3")
    if len(texts) > _MOST_VALUES:
        raise ArgumentError(f"vary {shown(key)}: a list has at most {_MOST_VALUES} values")
    quantities = [parse_quantity(text) for text in texts]
    units = {quantity.unit if quantity else None for quantity in quantities}
    if len(units) == 1 and None not in units:
        values: list[Value] = [quantity.value for quantity in quantities if quantity]
        if any(isinstance(value, float) for value in values):
            values = [float(value) for value in values]
        unit = units.pop() or ""
    else:
        unit = ""
        is_flag = all(text in ("true", "false") for text in texts)
        values = [text == "true" if is_flag else _unquoted(text) for text in texts]
    settings = tuple(Setting(text, value) for text, value in zip(texts, values, strict=True))
    repeated = next((each for each in values if values.count(each) > 1), None)
    if repeated is not None:
        raise ArgumentError(f"vary {shown(key)}: {written(repeated)} is there twice; remove one")
    return Axis(key, unit, settings)


def _setting(value: float, unit: str) -> Setting:
    """Write a number of a range with its unit."""
    match unit:
        case "bytes":
            return Setting(f"{value} B", value)
        case "bytes_per_s":
            return Setting(f"{value} B/s", value)
        case "s":
            return Setting(f"{value:.12g} s", value)
        case "share":
            return Setting(f"{100 * value:.10g} %", value)
    return Setting(repr(value), value)


def _texts_of(key: str, spec: object) -> list[str]:
    """Give the values of a list of Python or TOML as texts."""
    if not isinstance(spec, Sequence) or isinstance(spec, bytes):
        raise ArgumentTypeError(
            f"vary {shown(key)}: {written(spec)} is no text or list; write '1,2,3' or [1, 2, 3]"
        )
    return [_text(key, value) for value in spec]


def _text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        return check_text(key, value).strip()
    raise ArgumentTypeError(f"vary {shown(key)}: {written(value)} is no text, number, True or False")


def _split_at_commas(text: str) -> list[str]:
    """Split at commas outside of quotes and brackets."""
    parts, depth, quote = [""], 0, ""
    for one in text:
        if quote:
            quote = "" if one == quote else quote
        elif one in "\"'":
            quote = one
        elif one in "[{":
            depth += 1
        elif one in "]}":
            depth -= 1
        elif one == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += one
    return [part.strip() for part in parts]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
