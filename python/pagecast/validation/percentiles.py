"""Percentiles of operations that are done again and again: measured and forecast.

Under `FEWEST` operations a median says little. The median is judged, as times are; the others are where a
scenario asks for it: what a few of a hundred take hangs on what else the machine does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from pagecast.comparison.standing import Check
from pagecast.comparison.verdicts import LatencyVerdict
from pagecast.kinds import NO_IO

if TYPE_CHECKING:
    from pagecast.result import Columns, Result
    from pagecast.tolerance import Tolerance
    from pagecast.validation.case import Validated

__all__ = ["FEWEST", "NAMES", "Percentile", "done_often", "judged", "percentiles"]

FEWEST: Final = 100
"""So many operations of a kind, of a process on a file, have percentiles."""

NAMES: Final = ("p50", "p90", "p99", "p99_9", "max")

_Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of the operations of a kind, of a process on a file.

    Attributes
    ----------
    name : str
        One of `NAMES`.
    n : int
        How many operations, in the run that has fewest.
    measured_s, forecast_s : float
        Means over the runs.
    between_runs : float or None
        The range of the runs by their median; None of one run.
    """

    case: str
    process: str
    operation: str
    path: str
    model: str
    name: str
    n: int
    measured_s: float
    forecast_s: float
    between_runs: float | None

    @property
    def error(self) -> float:
        """Signed, of what was measured."""
        return self.forecast_s / self.measured_s - 1

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        return {
            "case": self.case,
            "process": self.process,
            "operation": self.operation,
            "path": self.path,
            "model": self.model,
            "percentile": self.name,
            "n": self.n,
            "measured_s": self.measured_s,
            "forecast_s": self.forecast_s,
            "error": self.error,
            "between_runs": self.between_runs,
        }


def done_often(results: "Sequence[Result]") -> list[_Key]:
    """Give process, kind and path of the operations on files that all of these have enough of."""
    first, *others = (_by_key(result) for result in results)
    return [key for key in first if all(key in other for other in others)]


def percentiles(validated: "Validated") -> Iterator[Percentile]:
    """Give the percentiles of a case that both the runs and the forecasts have, model by model.

    Parameters
    ----------
    validated : Validated

    Yields
    ------
    Percentile
    """
    measured = [_by_key(run) for run in validated.measured]
    keys = done_often(validated.measured)
    for model, forecasts in validated.forecasts.items():
        forecast = [_by_key(each) for each in forecasts]
        for key in keys:
            if not all(key in each for each in forecast):
                continue
            for name in NAMES:
                found = [run[key][name] for run in measured]
                if min(found) <= 0:
                    continue
                yield Percentile(
                    validated.case.name,
                    *key,
                    model,
                    name,
                    n=int(min(run[key]["n"] for run in measured)),
                    measured_s=float(np.mean(found)),
                    forecast_s=float(np.mean([each[key][name] for each in forecast])),
                    between_runs=(max(found) - min(found)) / float(np.median(found))
                    if len(found) > 1
                    else None,
                )


def _by_key(result: "Result") -> dict[_Key, dict[str, float]]:
    """Give what is known of operations that there are enough of, by process, kind and path."""
    table: Columns = result.latency
    found: dict[_Key, dict[str, float]] = {}
    for row in np.flatnonzero(table["count"] >= FEWEST).tolist():
        key = (table["process"][row], table["operation"][row], table["path"][row])
        if key[1] not in NO_IO:
            found[key] = {
                "n": table["count"][row],
                **{name: float(table[f"{name}_s"][row]) for name in NAMES},
            }
    return found


def judged(validated: "Validated", model: str, tolerance: "Tolerance") -> LatencyVerdict | None:
    """Judge the percentile that is furthest beyond its tolerance; None where nothing is done often enough.

    Parameters
    ----------
    validated : Validated
    model : str
    tolerance : Tolerance
        Percentiles without one are not judged.

    Returns
    -------
    LatencyVerdict or None
    """
    found = [
        LatencyVerdict(one.name, Check(abs(one.error), allowed, one.between_runs))
        for one in percentiles(validated)
        if one.model == model and (allowed := getattr(tolerance, one.name)) is not None
    ]
    return max(found, key=lambda one: (one.check.off - one.check.allowed) / one.check.tolerance, default=None)
