"""What ``pagecast reproduce wrench-cache`` prints: forecasts beside measured times, and errors."""

from typing import TYPE_CHECKING, Final

from pagecast.report.terminal import print_ending, print_plain, print_table
from pagecast.studies.wrench_cache.conclusion import conclusion
from pagecast.studies.wrench_cache.results import (
    cached_files_table,
    deviation_table,
    long_writes_table,
    memory_table,
    producing_table,
    summary_table,
    times_table,
)

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.studies.wrench_cache.study import WrenchCacheOutcome

__all__ = ["print_outcome"]

SHOWN: Final = {"2": (1, 8, 16, 31), "3": (1, 8, 16, 32)}
"""Numbers of applications that are printed; the report and ``--json`` have all."""


def print_outcome(outcome: "WrenchCacheOutcome", console: "Console") -> None:
    """Print a table per experiment, how closely published outputs are repeated, errors, and a conclusion."""
    seeds = "seed 0" if outcome.seeds == 1 else f"mean of seeds 0 to {outcome.seeds - 1} (ranges: report)"
    print_plain(f"WRENCH-cache (Do et al., CLUSTER 2021) on {outcome.machines_text}, {seeds}", console)
    for number in outcome.experiments:
        print_table(times_table(outcome, number, applications=SHOWN.get(number, ()), ranges=False), console)
    more = (memory_table, cached_files_table, long_writes_table, producing_table, deviation_table)
    for maker in more:
        if (table := maker(outcome)) is not None:
            print_table(table, console)
    print_table(summary_table(outcome), console)
    print_ending(conclusion(outcome), outcome.left_out, console)
