"""The study as a report: dirty memory drawn, times, levels and errors, and the inputs."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from pagecast.comparison.plateaus import plateau_table
from pagecast.comparison.provenance import facts
from pagecast.report.document import Report, Section
from pagecast.report.svg import drawn
from pagecast.studies.live_kernel.conclusion import conclusion
from pagecast.studies.live_kernel.figures import draw
from pagecast.studies.live_kernel.results import (
    cached_table,
    calibration_table,
    dirty_table,
    summary_table,
    times_table,
)

if TYPE_CHECKING:
    from pagecast.studies.live_kernel.study import LiveKernelOutcome

__all__ = ["build"]

LEAD: Final = (
    "Cases recorded call by call on live Linux kernels, forecast as they were repeated. What copying costs "
    "was calibrated on one case of each platform, which is not judged; the disk's rates are those of the "
    "machine file."
)

CAPTION: Final = (
    "Dirty memory and memory under writeback, first repetition of each case. Points are samples of every "
    "100 ms, the dotted line is the first mark: what is before it is set-up. Black lines are the limit and "
    "the set point that the kernel showed, coloured ones are forecasts. Where throttling was traced, there "
    "is also the rate of a writer at each of its checks."
)

PITFALLS: Final = (
    "What the kernel has learnt of a disk outlives a case: a throttled write differs by 6 to 7 % between "
    "repetitions. Its state before each repetition is an input of the model kernel.",
    "How long looking at the page cache took is taken from the recording, as the kernel writes meanwhile.",
    "Dropping the page cache takes time that no forecast has. Removing a file takes time in the model kernel "
    "only.",
)


def build(outcome: "LiveKernelOutcome") -> Report:
    """Put the report together.

    Parameters
    ----------
    outcome : LiveKernelOutcome

    Returns
    -------
    Report
    """
    return Report(
        title="Live kernels: forecast and measured",
        lead=LEAD,
        conclusion=conclusion(outcome),
        facts=facts(outcome.provenance, outcome.models),
        sections=tuple(_sections(outcome)),
    )


def _sections(outcome: "LiveKernelOutcome") -> Iterator[Section]:
    found = (
        summary_table(outcome),
        dirty_table(outcome),
        cached_table(outcome),
        plateau_table(outcome.plateaus),
        calibration_table(outcome),
    )
    yield Section("Errors at a glance", tables=[table for table in found if table is not None and table.rows])
    for number, platform in enumerate(outcome.platforms):
        figures = drawn(platform, partial(draw, outcome, platform), CAPTION, name=f"platform-{number}")
        yield Section(platform, figures=figures, tables=[times_table(outcome, platform)])
    left_out = [f"Left out: {line}." for line in outcome.left_out]
    yield Section("What to beware of", text=[*PITFALLS, *left_out])
