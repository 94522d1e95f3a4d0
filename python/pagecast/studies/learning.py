"""Learns the error of the model from the totals of recorded cases, for ranges of other forecasts."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from pagecast.comparison.rows import TOTAL, Row, judged
from pagecast.errors import StudyError
from pagecast.uncertainty.kinds import Kind
from pagecast.uncertainty.model_error import MODEL, Learned, read_learned, write_learned

__all__ = ["learn", "learn_into"]


def learn(rows: Iterable[Row]) -> list[Learned]:
    """Sum up the errors of judged totals by platform and kind of I/O.

    Parameters
    ----------
    rows : iterable of Row
        Those under other models, and of other operations, are left alone.

    Returns
    -------
    list of Learned
    """
    errors: dict[tuple[str, Kind], list[tuple[str, float]]] = {}
    for row in judged(rows):
        if row.operation == TOTAL and row.model == MODEL and row.kind is not None and row.forecast_s > 0:
            of = errors.setdefault((row.experiment, cast("Kind", row.kind)), [])
            of.append((row.case, math.log(row.forecast_s / row.measured_s)))
    return [Learned.of(*key, of) for key, of in errors.items()]


def learn_into(path: Path, rows: Iterable[Row]) -> str:
    """Give the text of a file of errors, in which these platforms replace those of their names.

    Parameters
    ----------
    path : Path
        Need not be there.
    rows : iterable of Row

    Raises
    ------
    StudyError
        The rows have no total whose kind of I/O is known.
    ArgumentError
        The file is there, and holds something else.
    """
    learned = learn(rows)
    if not learned:
        raise StudyError("there is no judged total under kernel whose kind of I/O is known: nothing to learn")
    platforms = {each.platform for each in learned}
    before = read_learned(path).without(platforms).learned if path.exists() else ()
    return write_learned([*before, *learned])
