"""How the study is shown: in a terminal and as a report."""

from collections.abc import Iterator, Sequence
from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section, Table
from pagecast.report.svg import drawn
from pagecast.studies.kernel_law.conclusion import conclusion
from pagecast.studies.kernel_law.figures import draw_law, draw_throughput
from pagecast.studies.kernel_law.outcome import KernelLawOutcome
from pagecast.studies.kernel_law.results import law_table, seeks_table, throughput_table
from pagecast.studies.kernel_law.throughput import Throughput
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "The law by which Linux slows writers down, against numbers that kernels printed, through the functions "
    "that the model kernel calls; and the throughput of many writers on one disk that was published when it "
    "was merged."
)

LAW_CAPTION: Final = (
    "Events of one trace (Linux 3.3-rc1). Left: the rate of a task, printed and by the law as the kernel "
    "rounds. Right: the same law in real numbers."
)

THROUGHPUT_CAPTION: Final = (
    "Write-back by the flushers, as a part of the highest of the same disk and file system. Points are "
    "published, single runs or means of several kernels, one kind for each dirty limit; the line is the "
    "forecast, mean over the limits."
)

WRITTEN_BACK: Final = "Written back, as a part of the most of the same disk and file system"
IN_FOREGROUND: Final = (
    "The same before the law (Linux 3.1), where writers over the limit write back by themselves"
)

PITFALLS: Final = (
    "The disks seek as data sheets of their class say. Free space and places of metadata are left out.",
    "btrfs with a limit of 1 MiB writes next to nothing: the blocks of its trees fill it.",
    "Published runs are single; the same case on near-identical kernels differs by 2.9 % on average.",
    "The kernels are 3.1 with the patches that became 3.2, and 3.1 itself before the law.",
)


def build(outcome: KernelLawOutcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="The throttling law: printed and published",
        lead=LEAD,
        sections=_sections(outcome),
        pitfalls=PITFALLS,
    )


def _sections(outcome: KernelLawOutcome) -> Iterator[Section]:
    if outcome.events:
        law = drawn("Law", lambda: draw_law(outcome), LAW_CAPTION, name="figure-law")
        yield Section("The law", figures=law, tables=[law_table(outcome)])
    if outcome.throughputs:
        throughput = drawn(
            "Throughput", lambda: draw_throughput(outcome), THROUGHPUT_CAPTION, name="figure-throughput"
        )
        yield Section("Throughput", figures=throughput, tables=_of(outcome.throughputs, WRITTEN_BACK))
    if outcome.foreground:
        yield Section("Before the law", tables=_of(outcome.foreground, IN_FOREGROUND))


def _printed(outcome: KernelLawOutcome) -> Iterator[Table]:
    if outcome.events:
        yield law_table(outcome)
    if outcome.throughputs:
        yield from _of(outcome.throughputs, WRITTEN_BACK)
    if outcome.foreground:
        yield from _of(outcome.foreground, IN_FOREGROUND)


def _of(throughputs: Sequence[Throughput], title: str) -> tuple[Table, Table]:
    """Give the tables of throughputs."""
    return throughput_table(throughputs, title), seeks_table(throughputs)


PRESENTATION: Final = Presentation(
    headline=lambda _: "The throttling law, against what kernels printed and mails published",
    tables=_printed,
    conclusion=conclusion,
    report=build,
)
