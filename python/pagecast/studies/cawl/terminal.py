"""What ``pagecast reproduce cawl`` prints: errors by series, by group of series and by phase."""

from typing import TYPE_CHECKING

from pagecast.report.terminal import print_ending, print_plain, print_table
from pagecast.studies.cawl.conclusion import conclusion
from pagecast.studies.cawl.results import (
    deviations_table,
    groups_table,
    parameters_table,
    phases_table,
    series_table,
    summary_table,
)

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.studies.cawl.study import CawlOutcome

__all__ = ["print_outcome"]


def print_outcome(outcome: "CawlOutcome", console: "Console") -> None:
    """Print a table per experiment, errors by group and phase, and a conclusion."""
    print_plain(f"CAWL (Gholami, Schintke 2023) on {', '.join(outcome.machines)}", console)
    for experiment in outcome.experiments:
        print_table(series_table(outcome, experiment), console)
        print_table(groups_table(outcome, experiment), console)
    if "buffered" in outcome.experiments:
        print_table(phases_table(outcome), console)
    if outcome.deviations:
        print_table(deviations_table(outcome), console)
    print_table(parameters_table(outcome), console)
    print_table(summary_table(outcome), console)
    print_ending(conclusion(outcome), outcome.left_out, console)
