"""The limits of dirty memory, as thin lines: limits and the set point."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from pagecast.plot.style import LIMIT_COLOURS

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["FAR", "LIMIT_LINE", "LIMIT_NAMES", "SAME", "limits_in_reach"]

LIMIT_NAMES: Final = {
    "background_threshold": "background threshold",
    "setpoint": "set point",
    "dirty_limit": "dirty limit",
    "hard_limit": "hard limit",
}
"""How figures call them, by the column's name without ``_bytes``."""

LIMIT_LINE: Final[dict[str, Any]] = {"linewidth": 1.1, "zorder": 1.8}
"""Thin, and below the levels."""

FAR: Final = 2.0
"""A limit this many times above all levels is not drawn: it would press them flat."""

SAME: Final = 0.01
"""Limits that are closer, as a share of themselves, are one line."""

_Rows: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]] | slice"
_Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"


def limits_in_reach(result: "Result", rows: _Rows, top_bytes: float) -> dict[str, _Bytes]:
    """Give the limits that a result knows and that are worth drawing.

    Parameters
    ----------
    result : Result
    rows : ndarray of bool or slice
        Of its timeline.
    top_bytes : float
        The highest of the levels that are drawn: limits far above it are left out.

    Returns
    -------
    dict of str to ndarray
        By the column's name without ``_bytes``; the hard limit only if it is another than the dirty limit.
    """
    table = result.timeline
    known = {limit: table[f"{limit}_bytes"][rows] for limit in LIMIT_COLOURS if f"{limit}_bytes" in table}
    if known and np.allclose(known["hard_limit"], known["dirty_limit"], rtol=SAME):
        del known["hard_limit"]
    return {limit: values for limit, values in known.items() if values.max(initial=0) <= FAR * top_bytes}
