"""Sums a validation up in a few sentences."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from pagecast.arguments import counted
from pagecast.comparison.coverage import coverage_of, coverage_sentences
from pagecast.comparison.levels import share_within
from pagecast.comparison.plateaus import plateau_sentences
from pagecast.comparison.rows import MEASURED
from pagecast.comparison.standing import Standing
from pagecast.comparison.tables import percent, signed_percent
from pagecast.pressure import MUCH_WAITING
from pagecast.validation import comparing
from pagecast.validation.plateaus import settled

if TYPE_CHECKING:
    from pagecast.comparison.verdicts import LatencyVerdict, LevelVerdict, Verdict
    from pagecast.validation.outcome import Outcome

__all__ = ["conclusion", "reasons"]

_REPEAT = "not judged: repeat when quiet"


def conclusion(outcome: "Outcome") -> tuple[str, ...]:
    """Say how far off cases are, how many are close under each model, and how far apart runs are.

    Returns
    -------
    tuple of str
        A sentence each; the last says whether every case is within its tolerance.
    """
    plateaus = plateau_sentences(settled(outcome.validated))
    return (
        *_busy(outcome),
        *_other_operations(outcome),
        *_errors(outcome),
        *plateaus,
        *_rivals(outcome),
        *_spread(outcome),
        *_failures(outcome),
        *_ranges(outcome),
        _verdict(outcome),
    )


def _ranges(outcome: "Outcome") -> Iterator[str]:
    """Say how many cases lie within their range, and whether that rejects the ranges."""
    yield from coverage_sentences(outcome.rows)
    found = coverage_of(outcome.rows)
    if found is not None:
        verdict = "rejects" if found.is_rejected else "does not reject"
        yield (
            f"The mean of the runs lies within for {found.cases_within} of "
            f"{counted(range(found.cases), 'case')}, which {verdict} that they hold 90 % (binomial, 5 %)."
        )


def _other_operations(outcome: "Outcome") -> Iterator[str]:
    for each in outcome.validated:
        if not comparing.has_same_operations(each):
            yield (
                f"{each.case.name} has not the same operations in each run and forecast: mean times of a "
                "kind are compared, as often as it was done, and not one operation with another."
            )


def reasons(verdict: "Verdict") -> tuple[str, ...]:
    """Say why a case is outside, not judged, or within only by the spread; nothing if it is within.

    Only operations as bad as the case itself are named.
    """
    found = [_total_reason(verdict)] if verdict.total.standing is verdict.standing else []
    for name, level in (("dirty", verdict.dirty), ("cached", verdict.cached)):
        if level is not None and level.check.standing is verdict.standing:
            found.append(_level_reason(name, level))
    if verdict.latency is not None and verdict.latency.check.standing is verdict.standing:
        found.append(_latency_reason(verdict.latency))
    return () if verdict.standing is Standing.WITHIN else tuple(found)


def _total_reason(verdict: "Verdict") -> str:
    if verdict.total.is_noisy:
        return (
            f"the total times of its runs differ by ±{percent(verdict.spread or 0.0)} %, the tolerance is "
            f"{percent(verdict.tolerance.total)} %"
        )
    if verdict.total.is_by_waiting:
        return (
            f"total time {signed_percent(verdict.error)} %, without the waits for a processor "
            f"{signed_percent(verdict.error_without_waiting)} %"
        )
    return f"total time {signed_percent(verdict.error)} %, allowed is {percent(verdict.allowed)} %"


def _latency_reason(latency: "LatencyVerdict") -> str:
    check = latency.check
    if check.standing is Standing.NOT_JUDGED:
        return (
            f"{latency.called} of an operation differs by {percent(check.between_runs or 0.0)} % from run to "
            f"run, the tolerance is {percent(check.tolerance)} %"
        )
    off = f"{latency.called} of an operation off by {percent(check.off)} %"
    return f"{off}, allowed is {percent(check.allowed)} %"


def _level_reason(name: str, level: "LevelVerdict") -> str:
    check = level.check
    if check.standing is Standing.NOT_JUDGED:
        return (
            f"95 % of the samples of {name} memory of a run are within {percent(check.allowed)} % of another "
            f"run, the tolerance is {percent(check.tolerance)} %"
        )
    only = "only " if check.standing is Standing.OUTSIDE else ""
    by = ", by which runs differ," if check.allowed > check.tolerance else ""
    return (
        f"{name} memory within {percent(check.allowed)} %{by} at {only}{percent(level.share_allowed)} % of "
        "the samples"
    )


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
            yield f"{model} forecasts the total time of {close} of {cases} within the allowed error{than}."


def _spread(outcome: "Outcome") -> Iterator[str]:
    spreads = [verdict.spread for verdict in outcome.verdicts if verdict.spread is not None]
    if not spreads:
        yield (
            "Of one run nobody knows how much it differs from the next, in time or in memory: the spread is "
            "not known, and the tolerances count alone (--runs 3)."
        )
        return
    yield f"The total times of a case differ by ±{percent(max(spreads))} % at most from run to run."
    tolerances = [each.case.tolerance for each in outcome.validated]
    for name, whole, levels, tolerance in (
        ("Dirty", "limit", outcome.dirty, min(each.dirty for each in tolerances)),
        ("Cached", "memory", outcome.cached, min(each.cached for each in tolerances)),
    ):
        if (share := share_within((one for one in levels if one.model == MEASURED), tolerance)) is not None:
            yield (
                f"{name} memory of one run is within {percent(tolerance)} % of the {whole} of another at "
                f"{percent(share)} % of the samples."
            )


def _failures(outcome: "Outcome") -> Iterator[str]:
    if outcome.failures:
        yield f"{counted(outcome.failures, 'case')} could not be run or forecast."


def _verdict(outcome: "Outcome") -> str:
    """Count the cases of each verdict, and say why those are not within that are not."""
    verdicts = outcome.verdicts
    if not verdicts:
        return "Nothing was compared."
    counts = outcome.counts()
    by_spread = counts[Standing.BY_SPREAD]
    within = counts[Standing.WITHIN] + by_spread
    only = "only by the spread between the runs"
    if within == len(verdicts) == 1:
        return f"{outcome.model} forecasts the case within the tolerance{f', {only}' if by_spread else ''}."
    cases = f"all {within} cases" if within == len(verdicts) else f"{within} of {counted(verdicts, 'case')}"
    some = f", {by_spread} of them {only}" if by_spread else ""
    missed = "".join(
        f"; {counts[standing]} {called} ({_named(verdicts, standing)})"
        for standing, called in ((Standing.OUTSIDE, "outside"), (Standing.NOT_JUDGED, _REPEAT))
        if counts[standing]
    )
    return f"{outcome.model} forecasts {cases} within the tolerance{some}{missed}."


def _named(verdicts: "Sequence[Verdict]", standing: Standing) -> str:
    found = (verdict for verdict in verdicts if verdict.standing is standing)
    return "; ".join(f"{verdict.case}: {', '.join(reasons(verdict))}" for verdict in found)
