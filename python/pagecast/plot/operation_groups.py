"""Which operations share a line of a figure, and its colour: those of a kind, of copies of a process."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pagecast.kinds import NO_IO
from pagecast.plot.style import SEQUENCE
from pagecast.repeated import generic_name

if TYPE_CHECKING:
    from pagecast.result import Columns, Result

__all__ = ["Groups", "groups", "windows"]

MOST_GROUPS: Final = len(SEQUENCE)
"""So many have colours; of more, those that took most time in sum."""


@dataclass(frozen=True)
class Groups:
    """The groups of a result.

    Attributes
    ----------
    labels : tuple of str
    left_out : int
        How many groups are not drawn.
    """

    labels: tuple[str, ...]
    left_out: int
    _places: dict[tuple[str, str], int]

    def of(self, table: "Columns") -> NDArray[np.int64]:
        """Give the group of each row of a table with `process` and `operation`; -1 of what is not drawn."""
        keys = zip(table["process"], table["operation"], strict=True)
        return np.fromiter((self._places.get(key, -1) for key in keys), dtype=np.int64, count=len(table))

    @property
    def note(self) -> str:
        """A sentence about what is not drawn, "" where all is."""
        what = "kind of operation that takes" if self.left_out == 1 else "kinds of operations that take"
        return f"{self.left_out} more {what} less time in sum" if self.left_out else ""


def groups(result: "Result") -> Groups:
    """Put the operations on files together that share a line.

    Parameters
    ----------
    result : Result

    Returns
    -------
    Groups
        The same for every figure of a result. What takes no time has none.
    """
    table = result.latency
    total_s: dict[tuple[str, str], float] = {}
    members: dict[tuple[str, str], set[tuple[str, str]]] = {}
    columns = (table[name] for name in ("process", "operation", "total_s"))
    for process, operation, time_s in zip(*columns, strict=True):
        if operation not in NO_IO and time_s > 0:
            group = (generic_name(process), operation)
            total_s[group] = total_s.get(group, 0.0) + float(time_s)
            members.setdefault(group, set()).add((process, operation))
    most = set(sorted(total_s, key=lambda group: -total_s[group])[:MOST_GROUPS])
    drawn = [group for group in total_s if group in most]
    places = {key: place for place, group in enumerate(drawn) for key in members[group]}
    return Groups(tuple(_labels(drawn, members)), len(total_s) - len(drawn), places)


def windows(result: "Result") -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the window of each row of `Result.rates`, and the edges of all; the last one is cut at the end.

    Parameters
    ----------
    result : Result
        With at least one row in `rates`.

    Returns
    -------
    tuple of ndarray
        Shapes (rows,) and (windows + 1,).
    """
    table = result.rates
    width_s = float(table["window_s"][0])
    at = np.round(table["time_s"] / width_s).astype(np.int64)
    return at, np.minimum(width_s * np.arange(at.max() + 2), result.end_s)


def _labels(drawn: list[tuple[str, str]], members: dict[tuple[str, str], set[tuple[str, str]]]) -> list[str]:
    """Name kinds alone where there is one process, else processes as well."""
    if len({process for process, _ in drawn}) == 1:
        return [operation for _, operation in drawn]
    named = []
    for group in drawn:
        alone = next(iter(members[group]))[0] if len(members[group]) == 1 else group[0]
        named.append(f"{alone or 'others'}  {group[1]}")
    return named
