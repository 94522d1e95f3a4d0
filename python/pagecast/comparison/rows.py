"""Compares forecast times with measured ones: rows, errors, and their summary.

An error is signed and relative to the measurement: (forecast - measured) / measured. Errors are averaged
within a case first and over the cases then, so that a case with many operations counts no more than one with
few.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

__all__ = [
    "MEASURED",
    "RIVALS",
    "SCHEMA_VERSION",
    "TOTAL",
    "Role",
    "Row",
    "Summary",
    "judged",
    "main_model",
    "summarise",
    "to_json",
]

SCHEMA_VERSION: Final = 1

RIVALS: Final = ("no-cache", "endless-cache")
"""The two simple models that stand beside every other one."""

TOTAL: Final = "total"
"""The operation of the row that has a whole repetition of a case."""

MEASURED: Final = "measured"
"""The model of levels of one run that are held against another run: the measurement's own spread."""

Role = Literal["judged", "calibration"]


@dataclass(frozen=True, slots=True)
class Row:
    """One measured point and the forecast of one model for it.

    `role` is "calibration" if this very measurement was used to describe the machine, else "judged".
    `forecast_range_s` is the least and the greatest forecast where several seeds were run; `forecast_s` is
    their mean. `range_s` is the 90 % range of the forecast, where one was drawn, and `kind` the kind of I/O
    of the case, where its errors can be learned from.
    """

    experiment: str
    case: str
    repetition: int | None
    process: str | None
    operation: str
    model: str
    machine: str
    role: Role
    measured_s: float
    forecast_s: float
    forecast_range_s: tuple[float, float] | None = None
    range_s: tuple[float, float] | None = None
    kind: str | None = None

    def __post_init__(self) -> None:
        assert self.measured_s > 0, "a point without a measured time makes no row"

    @property
    def error(self) -> float:
        """Signed relative error; 0.1 is a forecast 10 % too long."""
        return (self.forecast_s - self.measured_s) / self.measured_s

    def as_dict(self) -> dict[str, object]:
        """Give the row under the names of ``--json``."""
        range_s: dict[str, object] = {}
        if self.range_s is not None:
            range_s = {"low_s": self.range_s[0], "high_s": self.range_s[1]}
        return {
            "experiment": self.experiment,
            "case": self.case,
            "repetition": self.repetition,
            "process": self.process,
            "operation": self.operation,
            "model": self.model,
            "machine": self.machine,
            "role": self.role,
            "measured_s": self.measured_s,
            "forecast_s": self.forecast_s,
            "error": self.error,
            **range_s,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """How well one model does in one experiment.

    Each case has a mean absolute error over its operations: `mean_abs_error`, `median_abs_error` and
    `p90_abs_error` are the mean, median and 90th percentile of that over the cases. `total_error` is the
    signed error of the sum of all times of a case, mean over the cases. `n` counts rows.
    """

    experiment: str
    model: str
    mean_abs_error: float
    median_abs_error: float
    p90_abs_error: float
    total_error: float
    n: int

    def as_dict(self) -> dict[str, object]:
        """Give the summary under the names of ``--json``."""
        return {name: getattr(self, name) for name in self.__slots__}


def summarise(rows: Iterable[Row]) -> list[Summary]:
    """Average errors within each case, then over the cases.

    Returns
    -------
    list of Summary
        One per experiment and model, in the order in which they first appear.
    """
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        groups.setdefault((row.experiment, row.model), {}).setdefault(row.case, []).append(row)
    return [_summary(*key, list(cases.values())) for key, cases in groups.items()]


def _summary(experiment: str, model: str, cases: Sequence[Sequence[Row]]) -> Summary:
    absolute = [float(np.mean([abs(row.error) for row in case])) for case in cases]
    totals = [sum(r.forecast_s for r in case) / sum(r.measured_s for r in case) - 1 for case in cases]
    return Summary(
        experiment,
        model,
        mean_abs_error=float(np.mean(absolute)),
        median_abs_error=float(np.median(absolute)),
        p90_abs_error=float(np.percentile(absolute, 90)),
        total_error=float(np.mean(totals)),
        n=sum(len(case) for case in cases),
    )


def main_model(models: Sequence[str]) -> str:
    """Name the model that a run is about: the first that is no rival, if there is one."""
    return next((model for model in models if model not in RIVALS), models[0])


def judged(rows: Iterable[Row]) -> list[Row]:
    """Leave out the rows whose own measurement was used to describe the machine."""
    return [row for row in rows if row.role == "judged"]


def to_json(rows: Sequence[Row], provenance: Mapping[str, object]) -> dict[str, object]:
    """Give rows, summary and provenance in the shape of ``pagecast reproduce --json``.

    Parameters
    ----------
    rows : sequence of Row
        All of them enter the summary, those used for calibration as well; `role` tells them apart.
    provenance : mapping

    Returns
    -------
    dict
        Only what JSON can hold.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "provenance": dict(provenance),
        "rows": [row.as_dict() for row in rows],
        "summary": [summary.as_dict() for summary in summarise(rows)],
    }
