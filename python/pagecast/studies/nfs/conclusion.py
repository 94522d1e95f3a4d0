"""Sums the study up in a few sentences."""

from collections.abc import Iterator
from statistics import mean

from pagecast.studies.nfs.outcome import NfsOutcome

__all__ = ["WITHIN", "conclusion"]

WITHIN = 0.2
"""The most that a forecast may be off."""


def conclusion(outcome: NfsOutcome) -> tuple[str, ...]:
    """Say how far throughputs and COMMITs are off, and the rival that keeps the disk busy."""
    return tuple(_sentences(outcome))


def _sentences(outcome: NfsOutcome) -> Iterator[str]:
    judged = [one for one in outcome.forecasts if one.case != outcome.server]
    errors = [abs(one.mib_per_s / one.case.mib_per_s - 1) for one in judged]
    if errors:
        rival = mean(abs(outcome.disk_mib_per_s / one.case.mib_per_s - 1) for one in judged)
        yield f"{_judged('Throughput', errors)}; a disk that is always busy {100 * rival:.0f} %."
    sizes = [
        abs(one.commit_mib / one.case.commits.size_mib - 1)
        for one in judged
        if one.case.commits is not None and one.commit_mib is not None
    ]
    if sizes:
        yield f"{_judged('Size of a COMMIT', sizes)}."
    round_trips = [
        abs(one.round_trip_s / one.case.commits.round_trip_s - 1)
        for one in judged
        if one.case.commits is not None and one.round_trip_s is not None
    ]
    if round_trips:
        yield f"{_judged('Round trip of a COMMIT', round_trips)}."


def _judged(figure: str, errors: list[float]) -> str:
    within = sum(error <= WITHIN for error in errors)
    shares = f"within {100 * WITHIN:.0f} %, mean {100 * mean(errors):.0f} %"
    return f"{figure}: {within} of {len(errors)} cases {shares}"
