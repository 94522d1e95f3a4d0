"""Sums the study up in a few sentences."""

from collections.abc import Iterator
from statistics import mean

from pagecast.studies.nfs.outcome import NfsOutcome

__all__ = ["WITHIN", "conclusion"]

WITHIN = 0.2
"""What a forecast may be off."""


def conclusion(outcome: NfsOutcome) -> tuple[str, ...]:
    """Say how far throughputs and COMMITs are off, and the rival that keeps the disk busy."""
    return tuple(_sentences(outcome))


def _sentences(outcome: NfsOutcome) -> Iterator[str]:
    judged = [one for one in outcome.forecasts if one.case != outcome.server]
    errors = [abs(one.mib_per_s / one.case.mib_per_s - 1) for one in judged]
    if errors:
        rival = mean(abs(outcome.disk_mib_per_s / one.case.mib_per_s - 1) for one in judged)
        yield (
            f"Throughput: {_within(errors)} of {len(errors)} cases within {100 * WITHIN:.0f} %, mean "
            f"{100 * mean(errors):.0f} %; a disk that is always busy {100 * rival:.0f} %."
        )
    sizes = [
        abs(one.commit_mib / one.case.commits.size_mib - 1)
        for one in judged
        if one.case.commits is not None and one.commit_mib is not None
    ]
    if sizes:
        yield (
            f"Size of a COMMIT: {_within(sizes)} of {len(sizes)} cases within {100 * WITHIN:.0f} %, mean "
            f"{100 * mean(sizes):.0f} %."
        )
    round_trips = [
        abs(one.round_trip_s / one.case.commits.round_trip_s - 1)
        for one in judged
        if one.case.commits is not None and one.round_trip_s is not None
    ]
    if round_trips:
        yield (
            f"Round trip of a COMMIT: {_within(round_trips)} of {len(round_trips)} cases within "
            f"{100 * WITHIN:.0f} %, mean {100 * mean(round_trips):.0f} %."
        )


def _within(errors: list[float]) -> int:
    return sum(error <= WITHIN for error in errors)
