"""How the study is shown: in a terminal and as a report."""

from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section
from pagecast.studies.nfs.conclusion import conclusion
from pagecast.studies.nfs.outcome import NfsOutcome
from pagecast.studies.nfs.results import tables
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "Throughput of dd over NFS by the dirty limit of the client, how much a COMMIT had and how long it "
    "took, as published when Linux changed how it throttles writers."
)

PITFALLS: Final = (
    "The server, its disk and its file system are not named. The link is taken as Gigabit Ethernet; the "
    "disk has the rate that gives the published throughput with the largest limit, which is not judged.",
    "Published runs are single; the same case of a local disk differs by 2.9 % on average, 6.5 % at most.",
    "Patches of the client that were not merged are shown for trends; they are not forecast.",
)


def build(outcome: NfsOutcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="NFS: published throughputs and COMMITs",
        lead=LEAD,
        sections=[Section("Figures", tables=list(tables(outcome)))],
        pitfalls=PITFALLS,
    )


PRESENTATION: Final = Presentation(
    headline=lambda _: "Writing over NFS, against what mails published in 2011",
    tables=tables,
    conclusion=conclusion,
    report=build,
)
