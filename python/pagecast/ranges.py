"""The ranges of a forecast, as `pagecast.simulate` with ``uncertain=N`` draws them."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Drawn", "Ranges"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What ranges come from.

    Attributes
    ----------
    draws : int
    failed : int
        Draws that could not go on, such as one with less memory than the programs need.
    first_failure : str
        Why the first of these failed; "" where none did.
    values : int
        How many values of the machine have a range.
    platforms, cases : int
        Behind the error of the model; 0 where none is known.
    kind : str
        The kind of I/O whose error the makespan has, as texts call it.
    cases_of_kind : int
        Of the cases those of that kind.
    """

    draws: int
    failed: int
    first_failure: str
    values: int
    platforms: int
    cases: int
    kind: str
    cases_of_kind: int

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of figures, and bands of curves: columns by name, as of the tables of `pagecast.Result`."""

    drawn: Drawn
    figures: dict[str, Any]
    level_bands: dict[str, Any] = field(default_factory=dict)
    latency_bands: dict[str, Any] = field(default_factory=dict)
