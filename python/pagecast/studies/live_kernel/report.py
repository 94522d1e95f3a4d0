"""How the study is shown: in a terminal, and as a report with dirty memory drawn."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from pagecast.comparison.coverage import coverage_table
from pagecast.comparison.outcome import Presentation
from pagecast.comparison.plateaus import plateau_table
from pagecast.report.document import Report, Section, Table
from pagecast.report.svg import drawn
from pagecast.studies.live_kernel.conclusion import conclusion
from pagecast.studies.live_kernel.figures import draw
from pagecast.studies.live_kernel.outcome import LiveKernelOutcome
from pagecast.studies.live_kernel.results import (
    cached_table,
    calibration_table,
    dirty_table,
    summary_table,
    times_table,
)
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "Cases recorded call by call on live Linux kernels, forecast as they were repeated. The costs of "
    "copying were calibrated on one case of each platform, which is not judged; the disk's rates are those "
    "of the machine file."
)

CAPTION: Final = (
    "Dirty memory and memory under writeback, first repetition of each case. Points are samples of every "
    "100 ms, the dotted line is the first mark: steps before it are set-up. Black lines are the limit and "
    "the set point that the kernel showed, coloured ones are forecasts. Where throttling was traced, there "
    "is also the rate of a writer at each of its checks."
)

PITFALLS: Final = (
    "The kernel's estimates of a disk outlive a case: a throttled write differs by 6 to 7 % between "
    "repetitions. Its state before each repetition is an input of the model kernel.",
    "How long looking at the page cache took is taken from the recording, as the kernel writes meanwhile.",
    "Dropping the page cache takes time that no forecast has. Removing a file takes time in the model kernel "
    "only.",
)


def build(outcome: LiveKernelOutcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="Live kernels: forecast and measured",
        lead=LEAD,
        sections=_sections(outcome),
        pitfalls=PITFALLS,
    )


def _sections(outcome: LiveKernelOutcome) -> Iterator[Section]:
    yield Section("Errors at a glance", tables=[summary_table(outcome), *_beside_times(outcome)])
    for number, platform in enumerate(outcome.platforms):
        figures = drawn(platform, partial(draw, outcome, platform), CAPTION, name=f"platform-{number}")
        yield Section(platform, figures=figures, tables=[times_table(outcome, platform)])


def _beside_times(outcome: LiveKernelOutcome) -> Iterator[Table]:
    """Give the tables of ranges, of levels and of calibrations, as far as they are not empty."""
    levels = (
        coverage_table(outcome.rows),
        dirty_table(outcome),
        cached_table(outcome),
        plateau_table(outcome.plateaus),
    )
    for table in (*levels, calibration_table(outcome)):
        if table is not None and table.rows:
            yield table


def _printed(outcome: LiveKernelOutcome) -> Iterator[Table]:
    for platform in outcome.platforms:
        if (times := times_table(outcome, platform)).rows:
            yield times
    yield from _beside_times(outcome)
    yield summary_table(outcome)


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"Live kernels on {', '.join(outcome.machines)}",
    tables=_printed,
    conclusion=conclusion,
    report=build,
)
