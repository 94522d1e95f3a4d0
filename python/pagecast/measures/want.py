"""Conditions on measures: ``p99(db fsync) < 20 ms``, or ``makespan(backup) < 1.2x`` against a baseline."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pagecast.arguments import check_text, shown
from pagecast.errors import MeasureError
from pagecast.measures.language import Measure, parse_measure
from pagecast.quantities import parse_quantity, shown_quantity

__all__ = ["Want", "parse_want"]

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = re.compile(r"(?P<measure>.+?)\s*(?P<sign><=|>=|<|>)\s*(?P<limit>[^<>=]+)", re.DOTALL)
_FACTOR = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*[x×]")

_EXAMPLES: Final = {
    "s": "20 ms",
    "bytes": "2 GB",
    "bytes_per_s": "400 MB/s",
    "share": "10 %",
    "": "100",
}


@dataclass(frozen=True)
class Want:
    """A condition on a measure.

    Attributes
    ----------
    measure : Measure
    sign : {"<", "<=", ">", ">="}
    limit : float
        In the unit of the measure, or a factor.
    is_factor : bool
        Whether `limit` is a multiple of the value of a baseline.
    """

    measure: Measure
    sign: str
    limit: float
    is_factor: bool = False

    def limit_of(self, baseline: float | None = None) -> float:
        """Give the limit in the unit of the measure.

        Parameters
        ----------
        baseline : float, optional
            Value of the measure that a factor is relative to.

        Raises
        ------
        MeasureError
            The limit is a factor, and there is no baseline.
        """
        if not self.is_factor:
            return self.limit
        if baseline is None:
            raise MeasureError(f"`{self}` is relative, and `{self.measure.text}` has no value to start from")
        return self.limit * baseline

    def holds(self, value: float | None, baseline: float | None = None) -> bool:
        """Tell whether a value fulfils the condition; no value does not.

        Parameters
        ----------
        value : float or None
            In the unit of the measure.
        baseline : float, optional
            As for `limit_of`.
        """
        return value is not None and _COMPARE[self.sign](value, self.limit_of(baseline))

    def excess(self, value: float | None, baseline: float | None = None) -> float:
        """Tell how far a value is beyond the limit, as a fraction of the limit; 0 or less within it.

        Parameters
        ----------
        value : float or None
            No value is infinitely far.
        baseline : float, optional
            As for `limit_of`.
        """
        if value is None:
            return float("inf")
        limit = self.limit_of(baseline)
        beyond = value - limit if self.sign.startswith("<") else limit - value
        return beyond / abs(limit) if limit else beyond

    def __str__(self) -> str:
        limit = f"{self.limit:g}x" if self.is_factor else shown_quantity(self.limit, self.measure.unit)
        return f"{self.measure.text} {self.sign} {limit}"


def parse_want(text: str) -> Want:
    """Read a condition.

    Parameters
    ----------
    text : str
        MEASURE, a sign, and a limit with the unit of the measure, or a factor such as ``1.2x``.

    Returns
    -------
    Want

    Raises
    ------
    MeasureError
        It cannot be understood, or the limit has another unit than the measure.
    """
    form = _FORM.fullmatch(check_text("want", text).strip())
    if form is None:
        raise MeasureError(f"`{shown(text)}` is no condition; write for example p99(db fsync) < 20 ms")
    measure, limit = parse_measure(form["measure"]), form["limit"].strip()
    if factor := _FACTOR.fullmatch(limit):
        return Want(measure, form["sign"], float(factor[1]), is_factor=True)
    quantity = parse_quantity(limit)
    units = {measure.unit, ""} if measure.unit == "share" else {measure.unit}
    if quantity is None or quantity.unit not in units:
        example = _EXAMPLES[measure.unit]
        raise MeasureError(
            f"`{shown(text)}`: `{shown(limit)}` is no limit of `{measure.text}`; write for example "
            f"{measure.text} {form['sign']} {example}, or 1.2x"
        )
    return Want(measure, form["sign"], quantity.value)
