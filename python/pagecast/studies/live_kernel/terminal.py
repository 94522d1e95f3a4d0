"""What ``pagecast reproduce live-kernel`` prints: times of each platform, levels, errors."""

from typing import TYPE_CHECKING

from pagecast.comparison.plateaus import plateau_table
from pagecast.report.terminal import print_ending, print_plain, print_table
from pagecast.studies.live_kernel.conclusion import conclusion
from pagecast.studies.live_kernel.results import (
    cached_table,
    calibration_table,
    dirty_table,
    summary_table,
    times_table,
)

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.studies.live_kernel.study import LiveKernelOutcome

__all__ = ["print_outcome"]


def print_outcome(outcome: "LiveKernelOutcome", console: "Console") -> None:
    """Print a table per platform, levels of memory, errors, and a conclusion."""
    print_plain(f"Live kernels on {', '.join(outcome.machines)}", console)
    tables = [times_table(outcome, platform) for platform in outcome.platforms]
    levels = (dirty_table(outcome), cached_table(outcome), plateau_table(outcome.plateaus))
    for table in (*tables, *levels, calibration_table(outcome)):
        if table is not None and table.rows:
            print_table(table, console)
    print_table(summary_table(outcome), console)
    print_ending(conclusion(outcome), outcome.left_out, console)
