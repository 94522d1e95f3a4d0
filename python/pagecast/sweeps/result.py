"""The result of a sweep: a row for each point."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagecast.result import Columns
from pagecast.sweeps.axis import Value
from pagecast.sweeps.plan import SweepPlan
from pagecast.sweeps.point import Outcome
from pagecast.sweeps.table import KeyColumn, MeasureColumn, SweepTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sweep", "row_of"]


class Sweep:
    """Measures of all points.

    Parameters
    ----------
    plan : SweepPlan
    rows : sequence of tuple
        Of the points that are there, in their order: the number, the values of the keys, those of the
        measures (None where there is none), and why the point failed (``""`` if it did not).
    """

    def __init__(self, plan: SweepPlan, rows: Sequence[tuple[Any, ...]]) -> None:
        self.plan = plan
        self._rows = rows

    @property
    def is_whole(self) -> bool:
        """Whether all points are there."""
        return len(self._rows) == len(self.plan.design.points)

    @property
    def failed(self) -> int:
        """How many points have failed."""
        return sum(1 for row in self._rows if row[-1])

    @property
    def points(self) -> list[dict[str, Value]]:
        """The values of the keys of each point, by column."""
        names = self.plan.design.names
        return [dict(zip(names, row[1:], strict=False)) for row in self._rows]

    @cached_property
    def columns(self) -> Columns:
        """The table: `point`, a column for each key and each measure, and `error`.

        Names end in the unit. A measure without a value is NaN.
        """
        import numpy as np

        names = self.plan.columns
        columns: dict[str, Any] = {}
        for number, name in enumerate(names):
            values = [row[number] for row in self._rows]
            if any(isinstance(value, str) for value in values) or name == "error":
                columns[name] = values
            elif any(value is None or isinstance(value, float) for value in values):
                columns[name] = np.array(
                    [np.nan if value is None else value for value in values], dtype=np.float64
                )
            elif values and all(isinstance(value, bool) for value in values):
                columns[name] = np.array(values, dtype=np.bool_)
            else:
                columns[name] = np.array(values, dtype=np.int64)
        return Columns(columns)

    @property
    def table(self) -> "pd.DataFrame":
        """The same as a DataFrame; needs pandas."""
        return self.columns.to_pandas()

    @property
    def data(self) -> SweepTable:
        """The columns that figures draw."""
        design = self.plan.design
        axes = tuple(
            KeyColumn(name, axis.key, axis.unit, axis.is_log)
            for name, axis in zip(design.names, design.axes, strict=True)
        )
        measures = tuple(
            MeasureColumn(measure.name, measure.text, measure.unit, measure.more_is_better)
            for measure in self.plan.task.measures
        )
        model = self.plan.task.model
        return SweepTable(axes, measures, self.columns, model, is_sample=bool(design.sample))

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Everything needed to repeat the sweep."""
        return self.plan.provenance

    @property
    def rows(self) -> Sequence[tuple[Any, ...]]:
        """The rows, as `plan.columns` names their values."""
        return self._rows

    def to_dict(self) -> dict[str, Any]:
        """Give everything as ``pagecast sweep --json`` prints it.

        Returns
        -------
        dict
        """
        names = self.plan.columns
        return {
            "schema_version": 1,
            "provenance": dict(self.provenance),
            "design": self.plan.design.to_dict(),
            "measures": [
                {"column": measure.name, "measure": measure.text, "unit": measure.unit}
                for measure in self.plan.task.measures
            ],
            "rows": {name: [row[number] for row in self._rows] for number, name in enumerate(names)},
        }

    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it as ``--out`` does: `sweep.json` and a Parquet data set.

        Parameters
        ----------
        directory : path-like
            Must not exist, be empty, or hold the same sweep.
        force : bool
            Replace another sweep.

        Raises
        ------
        OutputError
            It cannot be written.
        MissingPackageError
            pyarrow is not installed.
        """
        from pagecast.sweeps.dataset import Dataset

        dataset = Dataset.begin(Path(directory), self.plan, force=force)
        for row in self._rows:
            dataset.add(row)

    def __repr__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"<Sweep of {len(self._rows)} points: {', '.join(self.plan.columns[1:-1])}{failed}>"


def row_of(plan: SweepPlan, index: int, outcome: Outcome) -> tuple[Any, ...]:
    """Make the row of a point.

    Parameters
    ----------
    plan : SweepPlan
    index : int
        Of the point.
    outcome : Outcome
    """
    values = outcome.values or (None,) * len(plan.task.measures)
    return (index, *(setting.value for setting in plan.design.points[index]), *values, outcome.error)
