"""The outcome of forecasting a note."""

from dataclasses import dataclass

from pagecast.comparison import outcome
from pagecast.studies.notes.note import Case, Note

__all__ = ["NoteOutcome"]


@dataclass(frozen=True, kw_only=True)
class NoteOutcome(outcome.Outcome):
    """Outcome: a row per figure and model."""

    note: Note
    experiments: tuple[str, ...]
    machine: str

    @property
    def cases(self) -> list[Case]:
        """The cases that were forecast."""
        return [case for case in self.note.cases if case.experiment in self.experiments]
