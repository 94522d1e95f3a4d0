"""Forecast the dissertation's tables and the shape of its figures."""

from collections.abc import Iterator, Sequence
from typing import Final

from pagecast.arguments import shown
from pagecast.comparison.rows import RIVALS, Row, main_model
from pagecast.errors import StudyError
from pagecast.studies.ext3 import nets, scenarios, shapes
from pagecast.studies.ext3.outcome import Ext3Outcome, Reported
from pagecast.studies.ext3.published import RANDOM, figures
from pagecast.studies.ext3.report import PRESENTATION
from pagecast.studies.skeleton import Asked, Study

__all__ = ["STUDY"]

MACHINE: Final = "dell-pe1850"


def _forecast(asked: Asked) -> Ext3Outcome:
    if asked.data is not None:
        raise StudyError(f"ext3 has all figures of the dissertation; leave --data {shown(asked.data)} out")
    machine = asked.machine or MACHINE
    hashes: dict[tuple[str, str], str] = {}
    tables = tuple(_tables(asked, machine, hashes))
    curves = _curves(asked, machine, hashes) if "figures" in asked.experiments else {}
    asked.tell(1.0, "")
    return Ext3Outcome(
        presentation=PRESENTATION,
        experiments=asked.experiments,
        models=asked.models,
        machine=machine,
        tables=tables,
        shapes=tuple(shapes.judge(curves)) if curves else (),
        curves=curves,
        rows=tuple(_rows(tables, machine)),
        provenance=asked.provenance(hashes),
    )


def _tables(asked: Asked, machine: str, hashes: dict[tuple[str, str], str]) -> Iterator[Reported]:
    """Forecast the rows of the tables that were asked for: of the random load, or of traces.

    Petri nets have values of their own: no key of a machine is one of them.
    """
    wanted = {"tables": True, "traces": False}
    for experiment in (name for name in wanted if name in asked.experiments):
        for figure in (one for one in figures() if (one.load == RANDOM) is wanted[experiment]):
            for model in asked.models:
                asked.tell(figure.table / 24, f"{figure.case}, {model}")
                if model == nets.MODEL:
                    yield Reported(figure, model, nets.rate_kib_per_s(figure))
                    continue
                case = scenarios.load_case(figure)
                result = asked.simulate(case, model=model, machine=machine, overrides=asked.overrides)
                hashes[experiment, machine] = result.machine_hash
                rate = _rate(result.operations["duration_s"], scenarios.load_bytes(figure))
                yield Reported(figure, model, rate)


def _curves(asked: Asked, machine: str, hashes: dict[tuple[str, str], str]) -> dict[str, shapes.Rates]:
    """Forecast the curves, by the model that the run is about."""
    model = main_model(asked.models)
    found: dict[str, shapes.Rates] = {}
    for done, curve in enumerate(shapes.CURVES):
        asked.tell(0.5 + done / (2 * len(shapes.CURVES)), curve.name)
        found[curve.name] = {}
        for file_kib, block_kib in curve.points:
            case = scenarios.grid_case(file_kib, block_kib)
            overrides = (*curve.overrides, *asked.overrides)
            result = asked.simulate(case, model=model, machine=machine, overrides=overrides)
            hashes.setdefault(("figures", machine), result.machine_hash)
            seconds = result.operations["duration_s"]
            found[curve.name][file_kib, block_kib] = {
                way: file_kib / float(seconds[at]) for at, way in enumerate(("write", "read"))
            }
    return found


def _rate(seconds: Sequence[float], moved_bytes: int) -> float:
    return moved_bytes / 1024 / float(sum(seconds))


def _rows(tables: Sequence[Reported], machine: str) -> Iterator[Row]:
    """Give a row for each figure of the random load. Those of traces are shown only."""
    for one in tables:
        figure = one.figure
        if figure.load == RANDOM:
            kib = scenarios.load_bytes(figure) / 1024
            yield Row(
                "tables",
                figure.case,
                repetition=None,
                process=None,
                operation=figure.operation,
                model=one.model,
                machine=machine,
                role="calibration" if figure.fixes and machine == MACHINE else "judged",
                measured_s=kib / figure.measured_kib_per_s,
                forecast_s=kib / one.forecast_kib_per_s,
            )


STUDY: Final = Study(
    name="ext3",
    source="a dissertation on Petri nets of ext3 and PVFS, Tables 2 and 5 to 12 and its figures",
    experiments=("tables", "traces", "figures"),
    models=("kernel", nets.MODEL, *RIVALS),
    forecast=_forecast,
    simulate=scenarios.run,
)
