"""The levels of memory that a figure draws."""

from typing import TypeAlias

import numpy as np

__all__ = ["Levels", "levels_to_draw"]

Levels: TypeAlias = "dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]"
"""Bytes over time, by the column's name without ``_bytes``."""


def levels_to_draw(levels: Levels) -> Levels:
    """Leave out levels that are 0 throughout, and used memory that is all cached.

    Parameters
    ----------
    levels : Levels

    Returns
    -------
    Levels
        All of them if each is 0 throughout.
    """
    drawn = {level: values for level, values in levels.items() if values.any()}
    if "used" in drawn and "cached" in drawn and np.array_equal(drawn["used"], drawn["cached"]):
        del drawn["used"]
    return drawn or levels
