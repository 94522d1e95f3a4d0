"""How the study is shown: in a terminal and as a report."""

from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section
from pagecast.report.svg import drawn
from pagecast.studies.pvfs.conclusion import conclusion
from pagecast.studies.pvfs.figures import draw
from pagecast.studies.pvfs.outcome import PvfsOutcome
from pagecast.studies.pvfs.results import tables
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "A dissertation measured PVFS with four I/O servers and one to eight clients, and modelled it as a "
    "coloured Petri net. It prints no throughput, so its figures are judged by what its text says of them."
)

CAPTION: Final = (
    "Forecast by kernel: throughput of each client over the block, and of one over the size of its file."
)

PITFALLS: Final = (
    "Constants of the network stack, the wire delay, the array's chunk and iozone's options are not printed.",
    "Servers and clients are the machine dell-pe1850 of the study ext3; servers have its disk five times as "
    "RAID 5.",
    "The dissertation's model of its server puts a client's whole write together first, and cuts reads into "
    "chunks of 64 KiB by rules of its own (Figure 46). Here a payload moves in the flow buffers of PVFS2, "
    "256 KiB each.",
)


def build(outcome: PvfsOutcome) -> Report:
    """Put the report together."""
    figures = drawn("Curves", lambda: draw(outcome), CAPTION, name="figure-curves")
    return report(
        outcome,
        title="PVFS: forecasts by the statements of a dissertation",
        lead=LEAD,
        sections=[Section("Figures", figures=figures, tables=list(tables(outcome)))],
        pitfalls=PITFALLS,
    )


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"PVFS, servers and clients are {outcome.machine}",
    tables=tables,
    conclusion=conclusion,
    report=build,
)
