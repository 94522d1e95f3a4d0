"""The error of the model on recorded platforms: quantiles of log(forecast / measured) of total times.

`model_error.csv` has a line for each platform and kind of I/O, written by `pagecast reproduce STUDY --learn`.
Where few cases of a kind are known, cases of other kinds count too, together as `OTHERS` cases: the range
is as wide then as any error that was seen. Only the model `kernel` was asked.
"""

import csv
import io
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, cast

import numpy as np

from pagecast.errors import ArgumentError
from pagecast.uncertainty.draws import fractions
from pagecast.uncertainty.kinds import KINDS, Kind

__all__ = ["MODEL", "SHIPPED", "Learned", "ModelError", "read_learned", "shipped", "write_learned"]

MODEL: Final = "kernel"
"""The model whose error is known."""

SHIPPED: Final = Path(__file__).parent / "model_error.csv"

OTHERS: Final = 2.0
"""As so many cases of a kind count all cases of other kinds together."""

PERCENTS: Final = tuple(range(0, 101, 5))
"""The quantiles of a line."""

_HEAD: Final = ("platform", "kind", "cases", "totals", *(f"q{percent}" for percent in PERCENTS))


@dataclass(frozen=True, slots=True)
class Learned:
    """The errors of one platform and kind.

    Attributes
    ----------
    platform : str
    kind : str
        One of `KINDS`.
    cases, totals : int
        How many cases, and how many repetitions of them.
    quantiles : tuple of float
        Of log(forecast / measured) of the totals, at `PERCENTS`.
    """

    platform: str
    kind: Kind
    cases: int
    totals: int
    quantiles: tuple[float, ...]

    @classmethod
    def of(cls, platform: str, kind: Kind, errors: Sequence[tuple[str, float]]) -> "Learned":
        """Sum up the errors of totals, each with its case."""
        values = [error for _, error in errors]
        quantiles = np.quantile(values, [percent / 100 for percent in PERCENTS]).tolist()
        return cls(platform, kind, len({case for case, _ in errors}), len(values), tuple(quantiles))


@dataclass(frozen=True, slots=True)
class ModelError:
    """What is known of the error of the model."""

    learned: tuple[Learned, ...]

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that it was learned on."""
        return tuple(dict.fromkeys(each.platform for each in self.learned))

    @property
    def cases(self) -> int:
        """How many cases stand behind it."""
        return sum(each.cases for each in self.learned)

    def without(self, platforms: Collection[str]) -> "ModelError":
        """Leave platforms out, so that they can be judged."""
        return ModelError(tuple(each for each in self.learned if each.platform not in platforms))

    def cases_of(self, kind: Kind) -> int:
        """Count the cases of a kind."""
        return sum(each.cases for each in self.learned if each.kind == kind)

    def quantiles(self, kind: Kind, at: Sequence[float]) -> list[float]:
        """Give quantiles of log(forecast / measured) for a kind of I/O.

        Parameters
        ----------
        kind : str
        at : sequence of float
            Between 0 and 1.

        Returns
        -------
        list of float
            0 where nothing was learned at all.
        """
        others = [each for each in self.learned if each.kind != kind]
        share = OTHERS / max(sum(each.cases for each in others), 1)
        weighted = [
            (error, (each.cases if each.kind == kind else share * each.cases) / len(each.quantiles))
            for each in self.learned
            for error in each.quantiles
        ]
        if not weighted:
            return [0.0] * len(at)
        weighted.sort()
        errors, weights = np.array(weighted).T
        middles = (np.cumsum(weights) - weights / 2) / weights.sum()
        return [float(error) for error in np.interp(at, middles, errors)]

    def factors(self, kind: Kind, draws: int, seed: int) -> list[float]:
        """Draw what forecast times of a kind are multiplied by to give those that may be measured.

        Parameters
        ----------
        kind : str
        draws : int
        seed : int

        Returns
        -------
        list of float
        """
        errors = self.quantiles(kind, fractions(draws, f"{seed} error of the model for {kind}"))
        return [math.exp(-error) for error in errors]


@cache
def shipped() -> ModelError:
    """Read the errors that come with the package."""
    return read_learned(SHIPPED)


def read_learned(path: Path) -> ModelError:
    """Read a file of `write_learned`.

    Raises
    ------
    ArgumentError
        It is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
        if tuple(rows[0]) != _HEAD or any(row[1] not in KINDS for row in rows[1:]):
            raise ValueError("other columns or kinds")
        return ModelError(
            tuple(
                Learned(row[0], cast("Kind", row[1]), int(row[2]), int(row[3]), tuple(map(float, row[4:])))
                for row in rows[1:]
            )
        )
    except (OSError, ValueError, IndexError) as error:
        raise ArgumentError(f"{path}: holds no errors of the model ({error})") from None


def write_learned(learned: Iterable[Learned]) -> str:
    """Give the text of a file with errors: a line for each platform and kind, sorted."""
    text = io.StringIO()
    text.write("# Quantiles of log(forecast / measured) of total times under the model kernel.\n")
    text.write("# Written by `pagecast reproduce STUDY --learn FILE` from recordings that are not shipped.\n")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_HEAD)
    for each in sorted(learned, key=lambda each: (each.platform, KINDS.index(each.kind))):
        lines.writerow(
            [each.platform, each.kind, each.cases, each.totals, *(f"{error:.4f}" for error in each.quantiles)]
        )
    return text.getvalue()
