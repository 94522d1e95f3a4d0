"""Forecast the dissertation's figures of PVFS, and judge their shape."""

from typing import Final

from pagecast.arguments import shown
from pagecast.comparison.rows import main_model
from pagecast.errors import StudyError
from pagecast.studies.pvfs import scenarios
from pagecast.studies.pvfs.outcome import PvfsOutcome
from pagecast.studies.pvfs.plan import PLAN, Point, Rates
from pagecast.studies.pvfs.report import PRESENTATION
from pagecast.studies.pvfs.shapes import judge
from pagecast.studies.skeleton import Asked, Study

__all__ = ["STUDY"]

MACHINE: Final = "dell-pe1850-raid5"
"""Of servers and clients; the text does not describe clients."""


def _forecast(asked: Asked) -> PvfsOutcome:
    if asked.data is not None:
        raise StudyError(f"pvfs has what the dissertation prints; leave --data {shown(asked.data)} out")
    machine = asked.machine or MACHINE
    model = main_model(asked.models)
    hashes: dict[tuple[str, str], str] = {}
    found: dict[str, dict[Point, Rates]] = {experiment: {} for experiment in asked.experiments}
    steps = [(experiment, point) for experiment in asked.experiments for point in PLAN[experiment]]
    for experiment, point in asked.steps(steps, lambda step: str(step[1])):
        result = asked.simulate(
            scenarios.case(point.clients, point.file_kib, point.block_kib, point.draw),
            clients=point.clients,
            model=model,
            machine=machine,
            overrides=asked.overrides,
            search=point.search,
        )
        hashes.setdefault((experiment, machine), result.machine_hash)
        found[experiment][point] = scenarios.rates(result, point.clients, point.file_kib)
    return PvfsOutcome(
        presentation=PRESENTATION,
        experiments=asked.experiments,
        models=(model,),
        machine=machine,
        forecasts=found,
        shapes=judge(found),
        rows=(),
        provenance=asked.provenance(hashes),
    )


STUDY: Final = Study(
    name="pvfs",
    source="a dissertation on Petri nets of ext3 and PVFS, chapters 3.3, 6 and 7",
    experiments=tuple(PLAN),
    models=("kernel",),
    forecast=_forecast,
    simulate=scenarios.run,
)
