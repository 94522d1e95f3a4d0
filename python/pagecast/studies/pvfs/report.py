"""How the study is shown: in a terminal and as a report."""

from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Figure, Report, Section
from pagecast.report.svg import drawn
from pagecast.studies.pvfs.conclusion import conclusion
from pagecast.studies.pvfs.figures import DRAWN
from pagecast.studies.pvfs.outcome import PvfsOutcome
from pagecast.studies.pvfs.plan import Forecasts
from pagecast.studies.pvfs.results import tables
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "A dissertation measured PVFS with four I/O servers and one to eight clients, and modelled it as a "
    "coloured Petri net. It prints no throughput, so its figures are judged by what its text says of them."
)

PITFALLS: Final = (
    "Constants of the network stack, the wire delay, the array's chunk and iozone's options are not printed.",
    "Servers are the machine dell-pe1850-raid5 (Table 3); so are clients, which the text does not describe.",
    "The time to pass a request in a linear receive buffer is free: 10 us, and 100 us for comparison.",
    "Each server writes to its array at the rate of whole stripes, so writes do not drop at its memory.",
    "Petri nets have shorter files, and servers with 1/1024 of their memory; their writes end without an "
    "fsync, and their reads find all files cached, or none where they exceed the memory.",
)


def build(outcome: PvfsOutcome) -> Report:
    """Put the report together."""
    figures = [
        figure
        for experiment, forecasts in outcome.forecasts.items()
        for figure in _drawn(experiment, forecasts)
    ]
    return report(
        outcome,
        title="PVFS: forecasts by the statements of a dissertation",
        lead=LEAD,
        sections=[Section("Figures", figures=figures, tables=list(tables(outcome)))],
        pitfalls=PITFALLS,
    )


def _drawn(experiment: str, forecasts: Forecasts) -> list[Figure]:
    if experiment not in DRAWN:
        return []
    title, draw, caption = DRAWN[experiment]
    return drawn(title, lambda: draw(forecasts), caption, name=f"figure-{experiment}")


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"PVFS, servers and clients are {outcome.machine}",
    tables=tables,
    conclusion=conclusion,
    report=build,
)
