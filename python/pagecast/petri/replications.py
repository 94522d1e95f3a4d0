"""Several runs of a net, and what their monitors say together."""

import math
import os
import statistics
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pagecast.petri.run import Run, Stepper
from pagecast.result import Columns

__all__ = ["Replications", "replicated"]

_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""97.5 % quantiles of Student's t for 1 to 30 degrees of freedom."""

_STRETCH = 2_000_000
"""Occurrences between two looks whether to go on."""


@dataclass(frozen=True)
class Replications:
    """Runs of a net that differ in their seeds.

    Attributes
    ----------
    runs : sequence of Run
        In the order of their seeds.
    """

    runs: Sequence[Run]

    @property
    def monitors(self) -> Columns:
        """The means of each monitor over all runs.

        Columns `monitor`, `kind`, `runs` (with values), `mean` (of the runs' means; of a count, the mean
        number), `half_width` (of the 95 % confidence interval by Student's t; None with one run), `min` and
        `max`.
        """
        tables = [run.monitors for run in self.runs]
        rows = [_row(tables, at) for at in range(len(tables[0]))]
        names = ("monitor", "kind", "runs", "mean", "half_width", "min", "max")
        return Columns({name: [row[at] for row in rows] for at, name in enumerate(names)})

    @property
    def ends(self) -> Columns:
        """Columns `ended`, `time` and `steps`, a row for each run."""
        return Columns(
            {name: [getattr(run, name) for run in self.runs] for name in ("ended", "time", "steps")}
        )


def replicated(
    steppers: Sequence[Stepper], *, until: float | None, steps: int | None, steps_at_one_time: int | None
) -> Replications:
    """Run nets to their ends, on all processors. Ctrl-C ends them all soon.

    Parameters
    ----------
    steppers : sequence of Stepper
        At least one.
    until, steps, steps_at_one_time
        As for `Stepper.run`.

    Returns
    -------
    Replications
    """
    stops = threading.Event()

    def one(stepper: Stepper) -> Run:
        done = 0
        while True:
            done = done + _STRETCH if steps is None else min(done + _STRETCH, steps)
            run = stepper.run(until=until, steps=done, steps_at_one_time=steps_at_one_time)
            if run.ended != "steps" or done == steps or stops.is_set():
                return run

    with ThreadPoolExecutor(min(len(steppers), os.cpu_count() or 1)) as pool:
        try:
            return Replications(tuple(pool.map(one, steppers)))
        except BaseException:
            stops.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _row(
    tables: Sequence[Columns], at: int
) -> tuple[str, str, int, float | None, float | None, float | None, float | None]:
    name, kind = tables[0]["monitor"][at], tables[0]["kind"][at]
    column = "count" if kind == "count" else "mean"
    values = [table[column][at] for table in tables if table[column][at] is not None]
    if not values:
        return name, kind, 0, None, None, None, None
    half = None
    if len(values) > 1:
        half = _student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return name, kind, len(values), statistics.fmean(values), half, min(values), max(values)


def _student(freedom: int) -> float:
    """The 97.5 % quantile; beyond the table by the first terms of the expansion around the normal one."""
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    normal = statistics.NormalDist().inv_cdf(0.975)
    first = (normal**3 + normal) / (4 * freedom)
    return normal + first + (5 * normal**5 + 16 * normal**3 + 3 * normal) / (96 * freedom**2)
