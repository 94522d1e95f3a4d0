"""What came out of a validation, in a few sentences."""

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from pagecast.api import counted
from pagecast.pressure import MUCH_WAITING
from pagecast.studies.plateaus import plateau_sentences
from pagecast.studies.tables import percent, signed_percent
from pagecast.validation import comparing
from pagecast.validation.outcome import MEASURED, share_within
from pagecast.validation.plateaus import settled

if TYPE_CHECKING:
    from pagecast.validation.outcome import Outcome, Verdict

__all__ = ["conclusion", "reasons"]


def conclusion(outcome: "Outcome") -> tuple[str, ...]:
    """Say how far off cases are, how many are close under each model, and how far apart runs are.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    tuple of str
        A sentence each; the last says whether every case is within its tolerance.
    """
    plateaus = plateau_sentences(settled(outcome.validated))
    return (
        *_busy(outcome),
        *_errors(outcome),
        *plateaus,
        *_rivals(outcome),
        *_spread(outcome),
        *_failures(outcome),
        _verdict(outcome),
    )


def reasons(verdict: "Verdict") -> tuple[str, ...]:
    """Say why a case is not within its tolerance; nothing if it is."""
    found = []
    if not verdict.is_total_within:
        found.append(f"total time {signed_percent(verdict.error)} %, allowed is {percent(verdict.allowed)} %")
    for level, share, tolerance, is_within in (
        ("dirty", verdict.dirty_within, verdict.tolerance.dirty, verdict.is_dirty_within),
        ("cached", verdict.cached_within, verdict.tolerance.cached, verdict.is_cached_within),
    ):
        if not is_within and share is not None:
            found.append(
                f"{level} memory within {percent(tolerance)} % at only {percent(share)} % of the samples"
            )
    return tuple(found)


def _busy(outcome: "Outcome") -> Iterator[str]:
    """Say first that the machine was busy: that makes measured times longer, and no forecast knows of it."""
    share = outcome.processor_pressure
    if share > MUCH_WAITING:
        yield (
            f"This machine was busy: for {100 * share:.0f} % of the time something waited for a processor. "
            "Measured times have that in them, forecasts have not."
        )


def _errors(outcome: "Outcome") -> Iterator[str]:
    """Say how far totals are off in the middle and at worst."""
    errors = {verdict.case: verdict.error for verdict in outcome.verdicts}
    if len(errors) == 1:
        yield f"The total time is off by {signed_percent(*errors.values())} %."
    elif errors:
        worst = max(errors, key=lambda case: abs(errors[case]))
        middle = median(map(abs, errors.values()))
        yield (
            f"The total time of a case is off by {percent(middle)} % in the median; the worst is {worst} "
            f"with {signed_percent(errors[worst])} %."
        )


def _rivals(outcome: "Outcome") -> Iterator[str]:
    for model in outcome.models:
        if model == outcome.model:
            continue
        verdicts = [comparing.verdict(each, model) for each in outcome.validated if model in each.forecasts]
        errors = [verdict for verdict in verdicts if verdict is not None]
        if errors:
            close = sum(verdict.is_total_within for verdict in errors)
            cases = counted(errors, "case")
            ours = {verdict.case: abs(verdict.error) for verdict in outcome.verdicts}
            nearer = sum(abs(verdict.error) < ours[verdict.case] for verdict in errors)
            than = f"; it is nearer than {outcome.model} in {nearer}" if nearer else ""
            yield f"{model} forecasts the total time of {close} of {cases} within what is allowed{than}."


def _spread(outcome: "Outcome") -> Iterator[str]:
    spreads = [verdict.spread for verdict in outcome.verdicts if verdict.spread is not None]
    if not spreads:
        yield "Of one run nobody knows how much it differs from the next: the spread is not known (--runs 3)."
        return
    yield f"The total times of a case differ by ±{percent(max(spreads))} % at most from run to run."
    if dirty := [level for level in outcome.dirty if level.model == MEASURED]:
        tolerance = min(each.case.tolerance.dirty for each in outcome.validated)
        share = share_within(dirty, tolerance) or 0.0
        yield (
            f"Dirty memory of one run is within {percent(tolerance)} % of the limit of another at "
            f"{percent(share)} % of the samples."
        )


def _failures(outcome: "Outcome") -> Iterator[str]:
    if outcome.failures:
        yield f"{counted(outcome.failures, 'case')} could not be run or forecast."


def _verdict(outcome: "Outcome") -> str:
    verdicts = outcome.verdicts
    if not verdicts:
        return "Nothing was compared."
    outside = [verdict for verdict in verdicts if not verdict.is_within]
    by_spread = sum(verdict.is_by_spread for verdict in verdicts)
    only = "only by twice the measurement's own spread"
    if not outside and len(verdicts) == 1:
        return f"{outcome.model} forecasts the case within the tolerance{f', {only}' if by_spread else ''}."
    some = f", {by_spread} of them {only}" if by_spread else ""
    if not outside:
        return f"{outcome.model} forecasts all {len(verdicts)} cases within the tolerance{some}."
    told = "; ".join(f"{verdict.case} ({', '.join(reasons(verdict))})" for verdict in outside)
    close = f"{len(verdicts) - len(outside)} of {counted(verdicts, 'case')}"
    return f"{outcome.model} forecasts {close} within the tolerance{some}; outside: {told}."
