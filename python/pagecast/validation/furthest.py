"""Which operations of a case are furthest off: where to look first."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Final

from pagecast.validation import details
from pagecast.validation.comparing import by_operation

if TYPE_CHECKING:
    from pagecast.comparison.rows import Row
    from pagecast.validation.details import OperationDetails
    from pagecast.validation.outcome import Outcome

__all__ = ["furthest_lines"]

MOST: Final = 3
LEAST_SHARE: Final = 0.1
"""Of all that the operations of a case are off, added up; what is less is not named.

So is what an operation waited for a processor, where that is less of what it took longer than forecast.
"""


def furthest_lines(outcome: "Outcome") -> Iterator[str]:
    """Name the operations that are furthest off in each case whose total time is outside.

    Yields
    ------
    str
        A line for each case: seconds measured and forecast, means over the runs; the size of the calls, and
        how much of what was not forecast went by in the run queue.
    """
    for verdict in outcome.verdicts:
        if verdict.is_total_within:
            continue
        rows = by_operation(outcome.rows, verdict.case)
        known = details.by_operation(outcome.operations, verdict.case)
        of_model = {key: models.get(verdict.model, []) for key, models in rows.items()}
        if named := list(_furthest(of_model, known)):
            yield f"{verdict.case}: {'; '.join(named)}"


def _furthest(
    rows: "Mapping[tuple[str | None, str], Sequence[Row]]",
    known: "Mapping[tuple[str, str], OperationDetails]",
) -> Iterator[str]:
    means = {
        key: (mean(row.measured_s for row in of), mean(row.forecast_s for row in of))
        for key, of in rows.items()
        if of
    }
    off = {key: abs(forecast - measured) for key, (measured, forecast) in means.items()}
    has_several = len({process for process, _ in means}) > 1
    for key in sorted(off, key=off.__getitem__, reverse=True)[:MOST]:
        if off[key] < LEAST_SHARE * sum(off.values()):
            return
        process, operation = key
        whose = f"{process}, " if has_several else ""
        measured, forecast = means[key]
        of = known[process or "", operation]
        calls = f" ({of.call} calls)" if of.call else ""
        waited = ""
        if measured > forecast and of.run_queue_s >= LEAST_SHARE * (measured - forecast):
            waited = f", {of.run_queue_s:.2g} s of it waiting for a processor"
        yield f"{whose}{operation}{calls} {measured:.3g} s{waited}, forecast {forecast:.3g} s"
