"""Says from the spread of the rounds how far a later run on the machine may be from a value.

A prediction interval for one more round (Hahn and Meeker, Statistical Intervals, section 4.7), on logarithms:
Student's t of n - 1 degrees of freedom, times the standard deviation of the rounds, times the square root of
1 + pi / 2n, as a median varies. From `ENOUGH` rounds on those that are `FAR` away count as that far, so that
one disturbed round changes little; of normal rounds the interval then holds 89 to 90 % of later ones. Left
out: that values move together, such as all costs of copies on a busy machine.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

__all__ = ["spread_of_rounds"]

ENOUGH: Final = 6
"""Of fewer rounds the quartiles say too little."""

FAR: Final = 4.0
"""In standard deviations by the quartiles."""

NORMAL_RANGE: Final = 1.349
"""The interquartile range of a normal distribution, in standard deviations."""

MOST: Final = 1.0
"""A value of which the rounds say less is taken as known within a factor of two; it is named as unsure."""

_T95: Final = (
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
    1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
)  # fmt: skip
"""The 95th percentile of Student's t for 1 to 30 degrees of freedom."""


def spread_of_rounds(rounds: Sequence[float]) -> float | None:
    """Give the spread s of a value: 90 of 100 later rounds lie between value / (1 + s) and value (1 + s).

    Parameters
    ----------
    rounds : sequence of float
        Without NaN.

    Returns
    -------
    float or None
        At most `MOST`. None of one round, and where the median is not above 0. A round that is not above 0
        counts as far below the median as it is on a linear scale.
    """
    values = np.array(rounds)
    n = len(values)
    if n < 2 or np.median(values) <= 0:
        return None
    scaled = values / np.median(values)
    logs = np.where(scaled > 0, np.log(np.maximum(scaled, 1e-12)), scaled - 1)
    if n >= ENOUGH:
        lower, upper = np.percentile(logs, [25, 75])
        most = FAR * (upper - lower) / NORMAL_RANGE
        logs = np.clip(logs, -most, most)
    later = _T95[min(n - 1, len(_T95)) - 1] * float(logs.std(ddof=1)) * math.sqrt(1 + math.pi / 2 / n)
    return min(math.expm1(min(later, 1.0)), MOST)
