"""What ``pagecast reproduce`` prints of a note."""

from typing import TYPE_CHECKING

from pagecast.report.terminal import print_ending, print_plain, print_table
from pagecast.studies.notes.conclusion import conclusion
from pagecast.studies.notes.results import figures_table, summary_table

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.studies.notes.study import NoteOutcome

__all__ = ["print_outcome"]


def print_outcome(outcome: "NoteOutcome", console: "Console") -> None:
    """Print all figures, errors, and a conclusion."""
    print_plain(f"{outcome.note.name} on {outcome.machine}", console)
    print_table(figures_table(outcome), console)
    print_table(summary_table(outcome), console)
    print_ending(conclusion(outcome), (), console)
