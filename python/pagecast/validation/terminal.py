"""What ``pagecast validate`` prints: verdicts, times of operations, levels."""

from typing import TYPE_CHECKING

from pagecast.report.terminal import print_ending, print_plain, print_table
from pagecast.studies.plateaus import plateau_table
from pagecast.validation.furthest import furthest_lines
from pagecast.validation.plateaus import settled
from pagecast.validation.tables import (
    MOST_OPERATIONS,
    files_table,
    levels_table,
    operations_table,
    verdicts_table,
)

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.validation.outcome import Outcome

__all__ = ["print_outcome"]


def print_outcome(outcome: "Outcome", console: "Console") -> None:
    """Print the cases; of a single one its operations too; and a conclusion."""
    if len(outcome.validated) == 1:
        print_table(operations_table(outcome, outcome.validated[0], most=MOST_OPERATIONS), console)
    found = (
        levels_table(outcome, "dirty"),
        levels_table(outcome, "cached"),
        files_table(outcome),
        plateau_table(settled(outcome.validated)),
    )
    for table in found:
        if table is not None:
            print_table(table, console)
    if outcome.validated:
        print_table(verdicts_table(outcome), console)
    if len(outcome.validated) > 1:
        for line in furthest_lines(outcome):
            print_plain(f"Furthest off in {line}", console)
    for line in outcome.failures:
        print_plain(f"Failed: {line}", console)
    print_ending(outcome.conclusion(), outcome.left_out, console)
