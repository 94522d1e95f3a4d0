"""Sums the study up in a few sentences."""

from typing import Final

import numpy as np

from pagecast.studies.kernel_law.outcome import KernelLawOutcome

__all__ = ["conclusion"]

STREAMS: Final = {True: "one stream", False: "several files"}


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
    if outcome.throughputs:
        forecasts = [one.forecast for one in outcome.throughputs]
        away = {
            kind: 100 * float(np.mean([abs(one.difference) for one in found]))
            for kind in (True, False)
            if (found := [one for one in outcome.throughputs if one.case.has_no_seeks == kind])
        }
        sentences.append(
            f"Whatever the limit and the number of writers, kernel keeps the disk "
            f"{100 * min(forecasts):.0f} to {100 * max(forecasts):.0f} % busy: throttling by itself costs no "
            "throughput."
        )
        if True in away:
            sentences.append(
                f"Where the disk has one stream to write the published throughput says the same, "
                f"{away[True]:.1f} % apart on average."
            )
        if False in away:
            sentences.append(
                f"That of several files falls with their number and with a small limit, {away[False]:.0f} % "
                "below the forecast on average: the model has neither seeks nor file systems, and no trend "
                "there."
            )
    if outcome.foreground:
        away = {
            kind: 100 * float(np.mean([abs(one.difference) for one in found]))
            for kind in (True, False)
            if (found := [one for one in outcome.foreground if one.case.has_no_seeks == kind])
        }
        each = " and ".join(
            f"{away[kind]:.1f} % for {text}" for kind, text in STREAMS.items() if kind in away
        )
        sentences.append(f"Before the law, on Linux 3.1, the forecast differs by {each} on average.")
    return tuple(sentences)
