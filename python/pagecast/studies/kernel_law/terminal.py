"""What ``pagecast reproduce kernel-law`` prints."""

from typing import TYPE_CHECKING

from pagecast.report.terminal import print_ending, print_plain, print_table
from pagecast.studies.kernel_law.conclusion import conclusion
from pagecast.studies.kernel_law.results import law_table, seeks_table, throughput_table

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.studies.kernel_law.study import KernelLawOutcome

__all__ = ["print_outcome"]


def print_outcome(outcome: "KernelLawOutcome", console: "Console") -> None:
    """Print what is exact, throughputs, and a conclusion."""
    print_plain("The throttling law, against what kernels printed and mails published", console)
    if outcome.events:
        print_table(law_table(outcome), console)
    if outcome.throughputs:
        print_table(throughput_table(outcome), console)
        print_table(seeks_table(outcome), console)
    print_ending(conclusion(outcome), (), console)
