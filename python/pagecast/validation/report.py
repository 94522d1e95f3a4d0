"""Shows a validation: tables in a terminal, and a report with each case drawn beside its forecasts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pagecast.comparison import provenance
from pagecast.comparison.coverage import coverage_table
from pagecast.comparison.outcome import Presentation
from pagecast.comparison.plateaus import plateau_table
from pagecast.comparison.rows import TOTAL
from pagecast.comparison.standing import Standing
from pagecast.comparison.tables import MOST_OPERATIONS, percent, signed_percent
from pagecast.report.document import Figure, Report, Section, Table
from pagecast.report.svg import drawn
from pagecast.throttling import throttling
from pagecast.validation.conclusion import conclusion, reasons
from pagecast.validation.drawing import memory_figure, operations_figure
from pagecast.validation.drawing_latency import MOST_PANELS, latency_figure
from pagecast.validation.furthest import furthest_lines
from pagecast.validation.outcome import Outcome
from pagecast.validation.plateaus import settled
from pagecast.validation.tables import (
    files_table,
    latency_table,
    levels_table,
    operations_table,
    verdicts_table,
)

if TYPE_CHECKING:
    from pagecast.comparison.rows import Row
    from pagecast.validation.case import Validated

__all__ = ["PRESENTATION", "build"]

LEAD: Final = (
    "The same scenarios, run by this machine's kernel and forecast by each model from its machine file."
)

MEMORY: Final = (
    "Points are measured, in all runs; lines are forecasts. Thin lines are the limits of dirty memory: "
    "black as the kernel showed it in the first run, coloured as the model reckons. Bytes are "
    "those of the scenario's own files; where the kernel does not tell of files, dirty memory is that of the "
    "whole machine."
)

RATES: Final = (
    " Rates are traced (balance_dirty_pages): a point is the rate of a writer at one of its checks; "
    "forecast is the mean rate of a writer in each 0.2 s. Dashed is the base rate of the device."
)

TIMES: Final = "How long each operation took: a point for each run, and the forecast of each model."

LATENCY: Final = (
    "The duration that so many percent of the operations do not exceed: black in each run, coloured as "
    f"forecast. Of more than {MOST_PANELS} kinds, those that took most time."
)


_SAID: Final = {
    Standing.WITHIN: "Within the tolerance",
    Standing.BY_SPREAD: "Within what the runs differ",
    Standing.NOT_JUDGED: "Not judged, repeat when quiet",
    Standing.OUTSIDE: "Outside the tolerance",
}

_FACTS: Final = {
    "runs": "Runs of each case",
    "kernel": "Kernel",
    "machine": "Architecture",
    "processors": "Processors",
    "file_system": "File system",
    "sample_hz": "Samples per second",
}


def build(outcome: Outcome) -> Report:
    """Put the report together."""
    *others, verdict = outcome.conclusion()
    return Report(
        title=f"Validation: {outcome.name}",
        lead=LEAD,
        conclusion=(verdict, *others),
        facts=_facts(outcome),
        sections=tuple(_sections(outcome)),
    )


def _facts(outcome: Outcome) -> list[tuple[str, str]]:
    """Write the provenance as the names and values at the head of the report."""
    of = outcome.provenance
    facts = [fact for fact in provenance.facts(of, outcome.models) if fact[0] != "Recordings"]
    measured_on = of.get("measured_on")
    known = {"runs": of.get("runs")} | (measured_on if isinstance(measured_on, dict) else {})
    facts += [(called, str(known[name])) for name, called in _FACTS.items() if known.get(name) is not None]
    if outcome.validated:
        busy = percent(outcome.processor_pressure)
        facts.append(("Waiting for a processor", f"{busy} % of the time, in the worst run"))
    return facts


def _sections(outcome: Outcome) -> Iterator[Section]:
    found = (
        verdicts_table(outcome),
        coverage_table(outcome.rows),
        levels_table(outcome, "dirty"),
        levels_table(outcome, "cached"),
        files_table(outcome),
    )
    yield Section("All cases", tables=[table for table in found if table is not None])
    for number, validated in enumerate(outcome.validated):
        yield _case(outcome, validated, f"case-{number}")
    notes = [
        *(f"Failed: {line}." for line in outcome.failures),
        *(f"Left out: {line}." for line in outcome.left_out),
    ]
    if notes:
        yield Section("What is missing", text=notes)


def _case(outcome: Outcome, validated: "Validated", name: str) -> Section:
    """Make the section of one case; `name` is unique in the report."""
    case = validated.case
    rows = [row for row in outcome.rows if row.case == case.name and row.operation != TOTAL]
    found = (
        plateau_table(settled([validated])),
        operations_table(outcome, validated) if rows else None,
        latency_table(outcome, validated),
    )
    return Section(
        case.name,
        text=[*([case.what] if case.what else []), *_verdict(outcome, case.name)],
        figures=list(_figures(validated, rows, name)),
        tables=[table for table in found if table is not None],
    )


def _verdict(outcome: Outcome, case: str) -> Iterator[str]:
    for verdict in outcome.verdicts:
        if verdict.case == case:
            is_within = verdict.standing is Standing.WITHIN
            why = f": {'; '.join(found)}" if (found := reasons(verdict)) else ""
            within = f": total time {signed_percent(verdict.error)} % of at most {percent(verdict.allowed)} %"
            yield f"{_SAID[verdict.standing]}{within if is_within else why}."


def _figures(validated: "Validated", rows: "list[Row]", name: str) -> Iterator[Figure]:
    is_traced = any(throttling(run) is not None for run in validated.measured)
    caption = MEMORY + (RATES if is_traced else "")
    yield from drawn("Memory over time", lambda: memory_figure(validated), caption, name=f"{name}-memory")
    if rows:
        yield from drawn("Operations", lambda: operations_figure(rows), TIMES, name=f"{name}-operations")
    yield from drawn("Percentiles", lambda: latency_figure(validated), LATENCY, name=f"{name}-percentiles")


def printed(outcome: Outcome) -> Iterator[Table | None]:
    """Give the tables of a terminal; those of operations of a single case only."""
    if len(outcome.validated) == 1:
        yield operations_table(outcome, outcome.validated[0], most=MOST_OPERATIONS)
        yield latency_table(outcome, outcome.validated[0], most=MOST_OPERATIONS)
    yield levels_table(outcome, "dirty")
    yield levels_table(outcome, "cached")
    yield files_table(outcome)
    yield plateau_table(settled(outcome.validated))
    yield coverage_table(outcome.rows)
    if outcome.validated:
        yield verdicts_table(outcome)


def notes(outcome: Outcome) -> Iterator[str]:
    """Give the lines below the tables: operations that are furthest off, cases that failed."""
    if len(outcome.validated) > 1:
        yield from (f"Furthest off in {line}" for line in furthest_lines(outcome))
    yield from (f"Failed: {line}" for line in outcome.failures)


PRESENTATION: Final = Presentation(tables=printed, notes=notes, conclusion=conclusion, report=build)
