"""A note as a report."""

from typing import TYPE_CHECKING, Final

from pagecast.comparison.provenance import facts
from pagecast.report.document import Report, Section
from pagecast.report.svg import drawn
from pagecast.studies.notes.conclusion import conclusion
from pagecast.studies.notes.figures import draw
from pagecast.studies.notes.results import figures_table, summary_table

if TYPE_CHECKING:
    from pagecast.studies.notes.study import NoteOutcome

__all__ = ["build"]

CAPTION: Final = "Time of each operation. Circles are measured, one run each (n = 1); the rest is forecast."


def build(outcome: "NoteOutcome") -> Report:
    """Put the report together.

    Parameters
    ----------
    outcome : NoteOutcome

    Returns
    -------
    Report
    """
    times = drawn("Times", lambda: draw(outcome), CAPTION, name="figure-times")
    return Report(
        title=outcome.note.title,
        lead=outcome.note.lead,
        conclusion=conclusion(outcome),
        facts=facts(outcome.provenance, outcome.models),
        sections=(
            Section("Forecast and measured", figures=times, tables=[figures_table(outcome)]),
            Section("Errors at a glance", tables=[summary_table(outcome)]),
            Section("What to beware of", text=outcome.note.pitfalls),
        ),
    )
