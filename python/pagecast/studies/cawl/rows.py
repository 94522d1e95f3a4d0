"""Rows of this study: a forecast for each measured point, ours or CAWL's own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pagecast.comparison.rows import Row
from pagecast.studies.cawl.forecast import SeriesRun
from pagecast.studies.cawl.series import Point, Series
from pagecast.studies.cawl.states import is_calibration, machine_of

__all__ = ["CAWL", "Points", "published_rows", "rows"]

CAWL: Final = "CAWL"
"""Name of the authors' own predictions."""

Points = Mapping[str, Sequence[Point]]


def rows(runs: Iterable[SeriesRun], points: Points) -> Iterator[Row]:
    """Hold forecasts against measured times; a time of 0 makes no row."""
    for run in runs:
        for point in points[run.series.name]:
            if point.measured_s > 0:
                yield _row(run.series, point, run.model, run.machine, run.forecast_s(point))


def published_rows(series: Iterable[Series], points: Points) -> Iterator[Row]:
    """Hold the authors' predictions against the same times, like a model of ours."""
    for each in series:
        for point in points[each.name]:
            if point.measured_s > 0:
                yield _row(each, point, CAWL, "", point.cawl_s)


def _row(series: Series, point: Point, model: str, machine: str, forecast_s: float) -> Row:
    went_in = machine == machine_of(series) and is_calibration(series, point.first)
    return Row(
        series.experiment,
        series.name,
        repetition=1,
        process=None,
        operation=series.operation(point),
        model=model,
        machine=machine,
        role="calibration" if went_in else "judged",
        measured_s=point.measured_s,
        forecast_s=forecast_s,
    )
