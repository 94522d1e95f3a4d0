"""How a note is shown: in a terminal and as a report."""

from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section
from pagecast.report.svg import drawn
from pagecast.studies.notes.conclusion import conclusion
from pagecast.studies.notes.figures import draw
from pagecast.studies.notes.outcome import NoteOutcome
from pagecast.studies.notes.results import figures_table, summary_table
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

CAPTION: Final = "Time of each operation. Circles are measured, one run each (n = 1); the rest is forecast."


def build(outcome: NoteOutcome) -> Report:
    """Put the report together."""
    note = outcome.note
    times = drawn("Times", lambda: draw(outcome), CAPTION, name="figure-times")
    sections = (
        Section("Forecast and measured", figures=times, tables=[figures_table(outcome)]),
        Section("Errors at a glance", tables=[summary_table(outcome)]),
    )
    return report(outcome, title=note.title, lead=note.lead, sections=sections, pitfalls=note.pitfalls)


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"{outcome.note.name} on {outcome.machine}",
    tables=lambda outcome: (figures_table(outcome), summary_table(outcome)),
    conclusion=conclusion,
    report=build,
)
