"""Numbers for the distinct values of long columns, so that what is done for each row is done in arrays."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["combined", "first_rows", "numbered"]


def numbered(column: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Give the distinct values of a column in the order of their first rows, and the number of each row's.

    Parameters
    ----------
    column : sequence of str
        Shape (n,).

    Returns
    -------
    tuple of list of str and ndarray
        Shapes (k,) and (n,).
    """
    numbers = {value: number for number, value in enumerate(dict.fromkeys(column))}
    rows = np.fromiter(map(numbers.__getitem__, column), dtype=np.int64, count=len(column))
    return list(numbers), rows


def combined(*columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows of several columns of numbers in the order of their first rows.

    Parameters
    ----------
    columns : ndarray
        Each of shape (n,), not negative.

    Returns
    -------
    tuple of ndarray
        The number of each row, shape (n,), and the first row of each number, shape (k,).
    """
    key = columns[0]
    for column in columns[1:]:
        # Numbers below the count of distinct rows, so that products stay small.
        key = np.unique(key, return_inverse=True)[1] * (1 + column.max(initial=0)) + column
    _, first, rows = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks[rows], first[order]


def first_rows(groups: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the first row of each pair of a group and a value, by group, and in a group in the order of rows.

    Parameters
    ----------
    groups, values : ndarray
        Shape (n,), not negative.

    Returns
    -------
    ndarray
    """
    _, first = combined(groups, values)
    return first[np.argsort(groups[first], kind="stable")]
