"""The study as a report: every main series drawn, errors, and the inputs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pagecast.report.document import Figure, Report, Section
from pagecast.report.svg import to_svg
from pagecast.studies.cawl.conclusion import conclusion
from pagecast.studies.cawl.figures import draw
from pagecast.studies.cawl.levels import draw_levels
from pagecast.studies.cawl.results import (
    deviations_table,
    groups_table,
    parameters_table,
    phases_table,
    series_table,
    summary_table,
)
from pagecast.studies.provenance import facts

if TYPE_CHECKING:
    from pagecast.studies.cawl.study import CawlOutcome

__all__ = ["build"]

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
    "Nothing says what nv_random_b rewrote; its times fit the same 1 GiB again and again.",
    "The real pause is not recorded, only the nominal one.",
)


NO_DATA: Final = (
    "Figures 6(b), 7 and 8(b) of the paper show a host of which no measurement was published; they are not "
    "drawn."
)


def build(outcome: "CawlOutcome") -> Report:
    """Put the report together.

    Parameters
    ----------
    outcome : CawlOutcome

    Returns
    -------
    Report
    """
    return Report(
        title="CAWL: forecast and measured",
        lead=LEAD,
        conclusion=conclusion(outcome),
        facts=facts(outcome.provenance, outcome.models),
        sections=tuple(_sections(outcome)),
    )


def _sections(outcome: "CawlOutcome") -> Iterator[Section]:
    at_a_glance = [summary_table(outcome), *(groups_table(outcome, each) for each in outcome.experiments)]
    if "buffered" in outcome.experiments:
        at_a_glance.append(phases_table(outcome))
    yield Section("Errors at a glance", tables=[*at_a_glance, parameters_table(outcome)])
    for host, title in HOSTS.items():
        if (drawn := draw(outcome, host)) is not None:
            each = "Points are single writes." if outcome.is_full else "Points are means of 5 or 25 writes."
            caption = f"Time of each write of 1 GiB. {each} n = 1 run per series. Lines are forecasts."
            yield Section(title, figures=[Figure(host, to_svg(drawn, name=f"figure-{host}"), caption)])
    if outcome.deviations:
        yield _model_alone(outcome)
    tables = [series_table(outcome, experiment, is_long=True) for experiment in outcome.experiments]
    yield Section("Series by series", tables=tables)
    yield Section("What to beware of", text=[*PITFALLS, *(f"Left out: {each}." for each in outcome.left_out)])


def _model_alone(outcome: "CawlOutcome") -> Section:
    """Show the model by itself: as in the paper's Figures 6 and 8, and against its authors' predictions."""
    figures = []
    for host, title in HOSTS.items():
        if (drawn := draw_levels(outcome, host)) is not None:
            caption = (
                f"{title}: time of a write and dirty bytes after it, by bytes written, as the model has them "
                "in the reading of the paper. n = 1 run per series; the dirty bytes were not recorded."
            )
            figures.append(Figure(f"levels-{host}", to_svg(drawn, name=f"figure-levels-{host}"), caption))
    heading = "The model alone, and its authors' predictions"
    return Section(heading, [NO_DATA], figures, [deviations_table(outcome, is_long=True)])
