"""Thins series for a page: of each stretch the least and the greatest value of each stay."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_POINTS", "kept_rows"]

MOST_POINTS: Final = 1_000
"""Of one picture: about one for each of its columns of pixels."""


def kept_rows(columns: Sequence[NDArray[Any]], most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Choose rows of several series over one time.

    Parameters
    ----------
    columns : sequence of ndarray, shape (n,)
        Without NaN.
    most : int
        Rows to choose at most; at least 2 for each column, and 2 more.

    Returns
    -------
    ndarray of int
        Ascending; all rows if there are no more than `most`, otherwise with the first and the last one. A
        peak stays whatever its width: rows are put into stretches of equal number, and of each stretch the
        rows with the least and the greatest value of each column are kept.
    """
    n = len(columns[0]) if columns else 0
    if n <= most:
        return np.arange(n)
    stretches = most // 3
    while True:
        rows = _extremes(columns, n, max(stretches, 1))
        if len(rows) <= most or stretches <= 1:
            return rows
        stretches = min(stretches - 1, int(0.95 * stretches * most / len(rows)))


def _extremes(columns: Sequence[NDArray[Any]], n: int, stretches: int) -> NDArray[np.int64]:
    width = -(-n // stretches)
    padding = width * -(-n // width) - n
    begins = np.arange(0, n, width)
    found = [np.array([0, n - 1])]
    for column in columns:
        # The last row stands for those that are missing in the last stretch.
        values = np.append(column, np.repeat(column[-1:], padding)).reshape(-1, width)
        found += [np.minimum(begins + each, n - 1) for each in (values.argmin(axis=1), values.argmax(axis=1))]
    return np.unique(np.concatenate(found))
