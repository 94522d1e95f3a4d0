"""Forecast the figures of a note and hold the forecasts against them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagecast.api import Scenario, simulate
from pagecast.comparison import machines
from pagecast.comparison.provenance import provenance
from pagecast.comparison.rows import Row, to_json
from pagecast.errors import StudyError
from pagecast.progress import Progress, teller
from pagecast.studies.asked import check_seeds, experiments_of, models_of
from pagecast.studies.notes.note import MODELS, Case, Note

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.result import Result

__all__ = ["NoteOutcome", "Simulate", "run_note", "simulate_case"]

Simulate = Callable[..., "Result"]
"""Like `simulate_case`; tests put their own in its place."""


@dataclass(frozen=True, slots=True)
class NoteOutcome:
    """What came out: a row per figure and model."""

    note: Note
    experiments: tuple[str, ...]
    models: tuple[str, ...]
    machine: str
    rows: tuple[Row, ...]
    provenance: dict[str, object]

    @property
    def cases(self) -> list[Case]:
        """The cases that were forecast."""
        return [case for case in self.note.cases if case.experiment in self.experiments]

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance."""
        return to_json(self.rows, self.provenance)

    def print_to(self, console: "Console") -> None:
        """Print the tables for a reader at a terminal."""
        from pagecast.studies.notes.terminal import print_outcome

        print_outcome(self, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report import write
        from pagecast.studies.notes.report import build

        write(build(self), path)


def simulate_case(case: Case, *, model: str, machine: str, overrides: Sequence[str]) -> "Result":
    """Simulate the programs of a case on a machine under a model."""
    text = f"machine.from = {machines.as_toml(machine)}\n\n{case.text}"
    scenario = Scenario.from_toml(text, origin=case.scenario, set=overrides)
    return simulate(scenario, model=model)


def run_note(
    note: Note,
    *,
    experiments: Sequence[str] = (),
    models: Sequence[str] = (),
    machine: str | None = None,
    data: Path | None = None,
    seeds: int | None = None,
    overrides: Sequence[str] = (),
    command: str = "",
    progress: Progress | None = None,
    simulate: Simulate = simulate_case,
) -> NoteOutcome:
    """Forecast the cases of a note and compare.

    Parameters
    ----------
    note : Note
    experiments : sequence of str
        Nothing means all of them.
    models : sequence of str
        Nothing means `MODELS`.
    machine : str, optional
        A shipped machine or a machine file; by default that of the note.
    data : None
        There are no recordings: the study has all figures of the note.
    seeds : int, optional
        Only 1: nothing here is random.
    overrides : sequence of str
        ``key=value`` for the scenarios, such as ``machine.memory.cost.page_insert="1 us"``.
    command : str
        What the report names as the command that made it.
    progress : callable, optional
    simulate : callable, optional
        How a case is forecast; tests put their own in its place.

    Returns
    -------
    NoteOutcome

    Raises
    ------
    StudyError
        There is no such experiment, or recordings are given.
    ScenarioError
        The machine or an override cannot be understood.
    """
    from pagecast.arguments import shown

    check_seeds(note.name, seeds)
    if data is not None:
        raise StudyError(f"{note.name} has all figures of the note; leave --data {shown(data)} out")
    chosen = experiments_of(note.name, experiments, note.experiments)
    models = models_of(models, MODELS)
    machine = machine or note.machine
    tell = teller(progress)
    plan = [(case, model) for case in note.cases if case.experiment in chosen for model in models]
    rows: list[Row] = []
    hashes: dict[tuple[str, str], str] = {}
    for done, (case, model) in enumerate(plan):
        tell(done / len(plan), f"{case.experiment}, {case.name}, {model}")
        result = simulate(case, model=model, machine=machine, overrides=overrides)
        hashes[case.experiment, machine] = result.machine_hash
        rows += _rows(case, model, machine, result, is_own=machine == note.machine)
    tell(1.0, "")
    return NoteOutcome(
        note,
        chosen,
        models,
        machine,
        tuple(rows),
        provenance(
            note.name,
            source=note.source,
            command=command,
            machines=hashes,
            seeds=1,
            overrides=overrides,
            data=None,
            left_out=(),
        ),
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
