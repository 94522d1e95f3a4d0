"""Forecast the dissertation's figures of PVFS, and judge their shape."""

from typing import Final

from pagecast.arguments import shown
from pagecast.comparison.rows import main_model
from pagecast.errors import StudyError
from pagecast.studies.pvfs import nets, scenarios
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
    engine = [model for model in asked.models if model != nets.MODEL]
    models = [main_model(engine)] if engine else []
    models += [nets.MODEL] if nets.MODEL in asked.models else []
    hashes: dict[tuple[str, str], str] = {}
    found: dict[str, dict[str, dict[Point, Rates]]] = {model: {} for model in models}
    steps = [
        (model, experiment, point)
        for model in models
        for experiment in asked.experiments
        for point in (nets.PLAN if model == nets.MODEL else PLAN).get(experiment, ())
    ]
    for model, experiment, point in asked.steps(steps, lambda step: f"{step[2]}, {step[0]}"):
        rates, machine_hash = _rates(asked, model, machine, experiment, point)
        hashes.setdefault((experiment, machine), machine_hash)
        found[model].setdefault(experiment, {})[point] = rates
    by_nets = found.pop(nets.MODEL, {})
    by_engine = next(iter(found.values()), {})
    return PvfsOutcome(
        presentation=PRESENTATION,
        experiments=asked.experiments,
        models=tuple(models),
        machine=machine,
        forecasts=by_engine,
        shapes=judge(by_engine),
        net_forecasts=by_nets,
        net_shapes=judge(by_nets, nets.SIZES),
        rows=(),
        provenance=asked.provenance(hashes),
    )


def _rates(asked: Asked, model: str, machine: str, experiment: str, point: Point) -> tuple[Rates, str]:
    """Forecast a point; give the rates of its clients, and the hash of the machine."""
    if model == nets.MODEL:
        rates, scenario = nets.forecast(experiment, point, machine=machine, overrides=asked.overrides)
        return rates, scenario.machine_hash
    result = asked.simulate(
        scenarios.case(point.clients, point.file_kib, point.block_kib, point.draw),
        clients=point.clients,
        model=model,
        machine=machine,
        overrides=asked.overrides,
        search=point.search,
    )
    return scenarios.rates(result, point.clients, point.file_kib), result.machine_hash


STUDY: Final = Study(
    name="pvfs",
    source="a dissertation on Petri nets of ext3 and PVFS, chapters 3.3, 6 and 7",
    experiments=tuple(PLAN),
    models=("kernel", nets.MODEL),
    forecast=_forecast,
    simulate=scenarios.run,
)
