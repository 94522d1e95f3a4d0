"""Forecast the measured series of writes and hold the forecasts against them."""

from collections.abc import Iterator, Sequence
from typing import Final

from pagecast.studies.cawl import recordings
from pagecast.studies.cawl.alone import unpublished
from pagecast.studies.cawl.forecast import run_series, simulate_series
from pagecast.studies.cawl.outcome import CawlOutcome
from pagecast.studies.cawl.predictions import deviations
from pagecast.studies.cawl.report import PRESENTATION
from pagecast.studies.cawl.rows import Points, rows
from pagecast.studies.cawl.series import EXPERIMENTS, MODELS, all_series, shipped_points
from pagecast.studies.skeleton import Asked, Study

__all__ = ["STUDY"]

DRAWN_MODELS: Final = ("kernel", "cawl")
"""The models that are drawn of series of which nothing was published."""


def _forecast(asked: Asked) -> CawlOutcome:
    """Forecast the series, each on its own machine by default; rows are single writes with ``--data``."""
    chosen = asked.experiments
    points: Points = recordings.points(asked.data) if asked.data else shipped_points()
    measured = [each for each in all_series().values() if each.experiment in chosen and each.name in points]
    imagined = unpublished().values() if "buffered" in chosen and asked.machine is None else ()
    plan = [(each, model) for each in measured for model in asked.models]
    plan += [(each, model) for each in imagined for model in asked.models if model in DRAWN_MODELS]
    done = [
        run_series(
            each,
            model=model,
            machine=asked.machine,
            overrides=asked.overrides,
            simulate=asked.simulate,
        )
        for each, model in asked.steps(plan, lambda step: f"{step[0].name}, {step[1]}")
    ]
    runs = [run for run in done if run.series.name in points]
    alone = [run for run in done if run.series.name not in points]
    left_out = tuple(_left_out(points, chosen, is_full=asked.data is not None))
    return CawlOutcome(
        presentation=PRESENTATION,
        experiments=chosen,
        models=asked.models,
        runs=tuple(runs),
        alone=tuple(alone),
        points=points,
        is_full=asked.data is not None,
        rows=tuple(rows(runs, points)),
        deviations=deviations(measured, points) if "cawl" in asked.models else (),
        left_out=left_out,
        provenance=asked.provenance(
            {
                **{(each.series.experiment, each.machine): each.machine_hash for each in runs},
                **{("drawn only", each.machine): each.machine_hash for each in alone},
            },
            left_out=left_out,
        ),
    )


def _left_out(points: Points, chosen: Sequence[str], *, is_full: bool) -> Iterator[str]:
    missing = [
        name for name, each in all_series().items() if each.experiment in chosen and name not in points
    ]
    if missing:
        yield f"series that are not in the recordings: {', '.join(missing)}"
    if not is_full:
        yield "single writes, which need --data; rows are means over several"


STUDY: Final = Study(
    name="cawl",
    source="Gholami, Schintke: CAWL: A Cache-aware Write Performance Model of Linux Systems, 2023; "
    "data: github.com/gongotar/iomodel at c1671d2e",
    experiments=EXPERIMENTS,
    models=MODELS,
    forecast=_forecast,
    simulate=simulate_series,
)
