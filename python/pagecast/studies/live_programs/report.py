"""How the study is shown: in a terminal, and as a report."""

from collections.abc import Iterator
from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section, Table
from pagecast.studies.live_programs.outcome import LiveProgramsOutcome
from pagecast.studies.live_programs.results import calibration_table, command_table, conclusion, fio_table
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "Job files run by fio, and commands run with and without strace, on live Linux kernels; forecast from "
    "the same job files, and from the traces. Costs of copying and of a request were calibrated on the cases "
    "m_memory and m_disk of each platform, which are not judged."
)

PITFALLS: Final = (
    "fio counts runtime in whole milliseconds and latencies in bins of 1.6 %.",
    "Times of strace are estimated and taken out of a trace; docs/guides/strace.md says how.",
    "The time of names (open, unlink, mkdir) is the recorded one, cold or warm.",
)


def build(outcome: LiveProgramsOutcome) -> Report:
    """Put the report together."""
    sections = (Section(name, tables=[*_tables(outcome, name)]) for name in outcome.platforms)
    return report(
        outcome,
        title="Programs: forecast and measured",
        lead=LEAD,
        sections=sections,
        pitfalls=PITFALLS,
    )


def _tables(outcome: LiveProgramsOutcome, platform: str) -> Iterator[Table]:
    makers = (fio_table, command_table, calibration_table)
    for table in (make(outcome, platform) for make in makers):
        if table.rows:
            yield table


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"Programs on {', '.join(outcome.platforms)}",
    tables=lambda outcome: [table for name in outcome.platforms for table in _tables(outcome, name)],
    conclusion=conclusion,
    report=build,
)
