"""Sums the study up in a few sentences."""

from collections.abc import Iterator, Sequence

import numpy as np

from pagecast.studies.kernel_law.outcome import KernelLawOutcome
from pagecast.studies.kernel_law.throughput import Throughput, by_kind

__all__ = ["conclusion"]


def conclusion(outcome: KernelLawOutcome) -> tuple[str, ...]:
    """Give the exact part of the law, and its part in the throughput."""
    sentences = []
    if outcome.events:
        exact = sum(one.is_exact for one in outcome.events)
        limits = sum(one.is_exact for one in outcome.thresholds)
        sentences.append(
            f"The law gives {exact} of {len(outcome.events)} printed rates and {limits} of "
            f"{len(outcome.thresholds)} printed pairs of limits to the last digit."
        )
    sentences += _apart(outcome.throughputs, "Of the most of its disks")
    sentences += _apart(outcome.foreground, "Before the law, on Linux 3.1")
    return tuple(sentences)


def _apart(throughputs: Sequence[Throughput], opening: str) -> Iterator[str]:
    """Say how far cases of each kind are from what was published."""
    for kind, found in by_kind(throughputs).items():
        away = 100 * float(np.mean([abs(one.difference) for one in found]))
        busy = 100 * float(np.mean([1 - one.case.published for one in found]))
        yield (
            f"{opening}, {_cases(len(found))} ({kind}) {_away(away, len(found))}; "
            f"a disk that is always busy would be {busy:.1f} % too fast."
        )


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def _away(percent: float, count: int) -> str:
    return f"is {percent:.1f} % apart" if count == 1 else f"are {percent:.1f} % apart on average"
