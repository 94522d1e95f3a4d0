"""The tables of the study, for the terminal and the report: times, calls, costs."""

from pagecast.comparison import tables
from pagecast.comparison.phases import phases_table
from pagecast.report.document import Table
from pagecast.studies.live_nfs.outcome import LiveNfsOutcome

__all__ = ["calibration_table", "calls_table", "summary_table", "times_table"]


def summary_table(outcome: LiveNfsOutcome) -> Table:
    """Make the table of errors of each platform and model."""
    return tables.summary_table(
        outcome.platforms,
        outcome.rows,
        title="Absolute error of time in system calls, in %",
        case="with all its repetitions",
    )


def times_table(outcome: LiveNfsOutcome, platform: str) -> Table:
    """Make the table of measured and forecast times: means over the repetitions."""
    return phases_table(
        [row for row in outcome.rows if row.experiment == platform],
        outcome.models,
        title=f"{platform}: seconds in system calls, and error in %",
        note="Means over the repetitions; ±%: (greatest - least) / mean of the measured times. total: of the "
        "case's own process; phases that took over 0.5 s, a write with the fsync and the close that end it. "
        "* The platform was calibrated on this case.",
    )


def calls_table(outcome: LiveNfsOutcome, platform: str) -> Table | None:
    """Make the table of calls, if they were counted and forecast."""
    of = [each for each in outcome.calls if each.experiment == platform]
    if not of:
        return None
    lines = [
        (each.case, each.phase, each.call, f"{each.measured:.0f}", str(each.forecast),
         "" if each.is_within else "off")
        for each in of
    ]  # fmt: skip
    return Table(
        title=f"{platform}: calls of the client",
        columns=("case", "phase", "call", "measured", "kernel", ""),
        rows=lines,
        text_columns=3,
        note="Means over the repetitions. off: by more than 20 % and more than one call.",
    )


def calibration_table(outcome: LiveNfsOutcome) -> Table:
    """Make the table of the calibrations of each platform."""
    found = {name: values for name, values in outcome.calibrations.items() if values}
    keys = list(dict.fromkeys(key for values in found.values() for key in values))
    return Table(
        title="Calibrated on m_memory and samples of memory",
        columns=("key", *found),
        rows=[(key, *(values.get(key, "") for values in found.values())) for key in keys],
        note="Of the client, under the model kernel; a server copies at the same rates.",
    )
