"""How the study is shown: in a terminal, and as a report with every main series drawn."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from pagecast.comparison.outcome import Presentation
from pagecast.report.document import Report, Section, Table
from pagecast.report.svg import drawn
from pagecast.studies.cawl.conclusion import conclusion
from pagecast.studies.cawl.figures import draw
from pagecast.studies.cawl.outcome import CawlOutcome
from pagecast.studies.cawl.paper_figures import paper_figures
from pagecast.studies.cawl.results import (
    deviations_table,
    groups_table,
    parameters_table,
    phases_table,
    series_table,
    summary_table,
)
from pagecast.studies.skeleton import report

__all__ = ["PRESENTATION"]

LEAD: Final = (
    "Long series of writes on two machines, published with the CAWL paper, forecast write by write. Each "
    "machine was calibrated on its series without pause; the others were not looked at."
)

HOSTS: Final = {"host1": "Host 1 of the paper, 800 GiB per series", "nvram1": "nvram1, 100 GiB per series"}

PITFALLS: Final = (
    "Each setting was run once. Pairs of series that differ in libc buffering only are practically "
    "repetitions; they differ by 5 to 8 % per write on host1 (16 % with a pause of 0.5 s) and by 2 to 6 % on "
    "nvram1.",
    "nvram1 is not the paper's Host 2. Its memory and its dirty limits are recovered from the predictions "
    "that the authors stored, its processor and disk are not known.",
    "The storage of host1 was in several states: series of groups A, B and C differ in the rates of disk and "
    "copying. Group B has no series without pause that reaches the disk, so both its rates are the authors'.",
    "The range that nv_random_b rewrote is not recorded; its times fit the same 1 GiB again and again.",
    "The real pause is not recorded, only the nominal one.",
)


FIGURES_TEXT: Final = (
    "Cost of a write by bytes written, or by its size; dirty bytes after it on the right axis, as the models "
    "have them: they were not recorded. Vertical lines show where background flushing and throttling begin "
    "in a model, signs at the top where the measured times show it. For cawl the lines are where its "
    "background limit and its set point are reached; periodic write-back of kernel has no line. Series "
    "without public data are drawn from the models alone."
)


def build(outcome: CawlOutcome) -> Report:
    """Put the report together."""
    return report(
        outcome,
        title="CAWL: forecast and measured",
        lead=LEAD,
        sections=_sections(outcome),
        pitfalls=PITFALLS,
    )


def _sections(outcome: CawlOutcome) -> Iterator[Section]:
    at_a_glance = [summary_table(outcome), *(groups_table(outcome, each) for each in outcome.experiments)]
    if "buffered" in outcome.experiments:
        at_a_glance.append(phases_table(outcome))
    yield Section("Errors at a glance", tables=[*at_a_glance, parameters_table(outcome)])
    for host, title in HOSTS.items():
        each = "Points are single writes." if outcome.is_full else "Points are means of 5 or 25 writes."
        caption = f"Time of each write of 1 GiB. {each} n = 1 run per series. Lines are forecasts."
        if figures := drawn(host, partial(draw, outcome, host), caption, name=f"figure-{host}"):
            yield Section(title, figures=figures)
    figures = [
        figure
        for index, (of_paper, draw_it) in enumerate(paper_figures(outcome))
        for figure in drawn(
            f"paper-{index}",
            draw_it,
            f"Figure {of_paper.number}. {of_paper.caption}",
            name=f"figure-paper-{index}",
        )
    ]
    yield Section("The figures of the paper", [FIGURES_TEXT], figures)
    if outcome.deviations:
        heading = "The model alone, and its authors' predictions"
        yield Section(heading, tables=[deviations_table(outcome, is_long=True)])
    tables = [series_table(outcome, experiment, is_long=True) for experiment in outcome.experiments]
    yield Section("Series by series", tables=tables)


def _printed(outcome: CawlOutcome) -> Iterator[Table]:
    for experiment in outcome.experiments:
        yield series_table(outcome, experiment)
        yield groups_table(outcome, experiment)
    if "buffered" in outcome.experiments:
        yield phases_table(outcome)
    if outcome.deviations:
        yield deviations_table(outcome)
    yield parameters_table(outcome)
    yield summary_table(outcome)


PRESENTATION: Final = Presentation(
    headline=lambda outcome: f"CAWL (Gholami, Schintke 2023) on {', '.join(outcome.machines)}",
    tables=_printed,
    conclusion=conclusion,
    report=build,
)
