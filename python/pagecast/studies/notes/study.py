"""Forecast the figures of a note and hold the forecasts against them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pagecast.api import Scenario, simulate
from pagecast.arguments import shown
from pagecast.comparison.rows import RIVALS, Row
from pagecast.errors import StudyError
from pagecast.studies.notes.note import Case, Note
from pagecast.studies.notes.outcome import NoteOutcome
from pagecast.studies.notes.report import PRESENTATION
from pagecast.studies.skeleton import Asked, Study
from pagecast.workloads import as_toml

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["simulate_case", "study_of"]


def study_of(note: Note) -> Study[NoteOutcome]:
    """Make a study of a note."""
    return Study(
        name=note.name,
        source=note.source,
        experiments=note.experiments,
        models=("kernel", *RIVALS),
        forecast=partial(_forecast, note),
        simulate=simulate_case,
    )


def simulate_case(case: Case, *, model: str, machine: str, overrides: Sequence[str]) -> "Result":
    """Simulate the programs of a case on a machine under a model."""
    text = f"machine.from = {as_toml(machine)}\n\n{case.text}"
    scenario = Scenario.from_toml(text, origin=case.scenario, set=overrides)
    return simulate(scenario, model=model)


def _forecast(note: Note, asked: Asked) -> NoteOutcome:
    if asked.data is not None:
        raise StudyError(f"{note.name} has all figures of the note; leave --data {shown(asked.data)} out")
    machine = asked.machine or note.machine
    cases = [case for case in note.cases if case.experiment in asked.experiments]
    plan = [(case, model) for case in cases for model in asked.models]
    rows: list[Row] = []
    hashes: dict[tuple[str, str], str] = {}
    for case, model in asked.steps(plan, lambda step: f"{step[0].experiment}, {step[0].name}, {step[1]}"):
        result = asked.simulate(case, model=model, machine=machine, overrides=asked.overrides)
        hashes[case.experiment, machine] = result.machine_hash
        rows += _rows(case, model, machine, result, is_own=machine == note.machine)
    return NoteOutcome(
        presentation=PRESENTATION,
        note=note,
        experiments=asked.experiments,
        models=asked.models,
        machine=machine,
        rows=tuple(rows),
        provenance=asked.provenance(hashes),
    )


def _rows(case: Case, model: str, machine: str, result: "Result", *, is_own: bool) -> Iterator[Row]:
    """Give a row for each figure: the reads and writes of the scenario are the points of the case.

    Only the note's own machine was made from some of them.
    """
    operations = result.operations
    moves = [at for at, kind in enumerate(operations["operation"]) if kind in ("read", "write")]
    for at, point in zip(moves, case.points, strict=True):
        yield Row(
            case.experiment,
            case.name,
            repetition=None,
            process=None,
            operation=point.operation,
            model=model,
            machine=machine,
            role=point.role if is_own else "judged",
            measured_s=point.measured_s,
            forecast_s=float(operations["duration_s"][at]),
        )
