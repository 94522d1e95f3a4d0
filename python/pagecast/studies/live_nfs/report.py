"""How the study is shown: in a terminal, and as a report."""

from collections.abc import Iterator
from typing import Final

from pagecast.comparison.coverage import coverage_table
from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section, Table
from pagecast.studies.live_nfs.conclusion import conclusion
from pagecast.studies.live_nfs.outcome import LiveNfsOutcome
from pagecast.studies.live_nfs.results import calibration_table, calls_table, summary_table, times_table
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "Cases recorded call by call at a client of NFS, forecast with the page caches of client and server. "
    "Hosts, link and the server's disk are what the platform said of itself. The costs of copying were "
    "calibrated on the case m_memory, which is not judged."
)

PITFALLS: Final = (
    "What a writer sends before its last write() differs by up to 26 % between repetitions. So a write is "
    "judged with the fsync and the close that end it.",
    "A server in the client's kernel shares its processor. The forecast has a processor of its own for it.",
    "A limiter of the server's disk lets 100 ms worth of bytes pass after idle time (block/blk-throttle.c).",
)


def build(outcome: LiveNfsOutcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="NFS on live kernels: forecast and measured",
        lead=LEAD,
        sections=_sections(outcome),
        pitfalls=PITFALLS,
    )


def _sections(outcome: LiveNfsOutcome) -> Iterator[Section]:
    ranges = coverage_table(outcome.rows)
    yield Section(
        "Errors at a glance", tables=[summary_table(outcome), *([ranges] if ranges is not None else [])]
    )
    for platform in outcome.platforms:
        of_calls = calls_table(outcome, platform)
        tables = [times_table(outcome, platform), *([of_calls] if of_calls is not None else [])]
        yield Section(platform, tables=tables)
    yield Section("Calibration", tables=[calibration_table(outcome)])


def _tables(outcome: LiveNfsOutcome) -> Iterator[Table | None]:
    for platform in outcome.platforms:
        yield times_table(outcome, platform)
        yield calls_table(outcome, platform)
    yield coverage_table(outcome.rows)
    yield summary_table(outcome)


PRESENTATION: Final = Presentation(tables=_tables, conclusion=conclusion, report=build)
