"""How the study is shown: in a terminal and as a report."""

from collections.abc import Iterator
from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.comparison.shapes import shapes_table
from pagecast.report.document import Report, Section, Table
from pagecast.report.svg import drawn
from pagecast.studies.ext3.conclusion import conclusion
from pagecast.studies.ext3.figures import draw
from pagecast.studies.ext3.outcome import Ext3Outcome
from pagecast.studies.ext3.results import figures_table, modes_table, parameters_table
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "A dissertation modelled Linux ext3 as coloured Petri nets, and measured a Dell PowerEdge 1850 beside "
    "them: journal modes, block and file sizes, the L2 cache, synchronous mode. Its tables are forecast from "
    "one machine file; its figures are judged by their shape."
)

CAPTION: Final = (
    "Forecast by kernel. Left: throughput of a file of 64 MiB, written and read again, for four sizes of the "
    "L2 cache. Right: over the size of the file."
)

PITFALLS: Final = (
    "The captured traces are not published. Rows of traces are forecast with generated ones, and not judged.",
    "What the dissertation does not print is in the machine file: measured rows fix three keys, the others "
    "are of its Table 1, a data sheet, or defaults of Linux 2.6.27. The kernel of the measurements is not "
    "recorded.",
    "The disk writes back without seeks. Its cache takes 8 MiB at the rate of the bus: without it the random "
    "load with its fsync could not reach the 148 MB/s of Table 6.",
    "757 MB/s of random reads is the speed of the page cache; only synchronous rows wait for the disk.",
)


def build(outcome: Ext3Outcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="ext3: forecast, measured, and the author's Petri nets",
        lead=LEAD,
        sections=_sections(outcome),
        pitfalls=PITFALLS,
    )


def _sections(outcome: Ext3Outcome) -> Iterator[Section]:
    if outcome.tables:
        yield Section("Tables 5 to 12", tables=list(_tables(outcome)))
    if outcome.shapes:
        curves = drawn("Curves", lambda: draw(outcome), CAPTION, name="figure-curves")
        yield Section("Figures", figures=curves, tables=[shapes_table(outcome.shapes)])


def _tables(outcome: Ext3Outcome) -> Iterator[Table]:
    yield figures_table(outcome)
    if outcome.rows:
        yield modes_table(outcome)
        yield parameters_table(outcome)


def _printed(outcome: Ext3Outcome) -> Iterator[Table]:
    if outcome.tables:
        yield from _tables(outcome)
    if outcome.shapes:
        yield shapes_table(outcome.shapes)


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"ext3 on {outcome.machine}",
    tables=_printed,
    conclusion=conclusion,
    report=build,
)
