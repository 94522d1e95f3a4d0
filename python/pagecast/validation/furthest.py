"""Which operations of a case are furthest off: where to look first."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from pagecast.validation.outcome import TOTAL

if TYPE_CHECKING:
    from pagecast.studies.comparison import Row
    from pagecast.validation.outcome import Outcome

__all__ = ["furthest_lines"]

MOST: Final = 3
LEAST_SHARE: Final = 0.1
"""Of all that the operations of a case are off, added up; what is less is not named."""


def furthest_lines(outcome: "Outcome") -> Iterator[str]:
    """Name the operations that are furthest off in each case whose total time is outside.

    Parameters
    ----------
    outcome : Outcome

    Yields
    ------
    str
        A line for each case: seconds measured and forecast, means over the runs.
    """
    for verdict in outcome.verdicts:
        if verdict.is_total_within:
            continue
        rows = (row for row in outcome.rows if (row.case, row.model) == (verdict.case, verdict.model))
        if named := list(_furthest(rows)):
            yield f"{verdict.case}: {'; '.join(named)}"


def _furthest(rows: "Iterable[Row]") -> Iterator[str]:
    found: dict[tuple[str | None, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.operation != TOTAL:
            found[row.process, row.operation].append((row.measured_s, row.forecast_s))
    means = {
        key: (sum(measured) / len(pairs), sum(forecast) / len(pairs))
        for key, pairs in found.items()
        for measured, forecast in [zip(*pairs, strict=True)]
    }
    off = {key: abs(forecast - measured) for key, (measured, forecast) in means.items()}
    processes = {process for process, _ in means}
    for key in sorted(off, key=off.__getitem__, reverse=True)[:MOST]:
        if off[key] < LEAST_SHARE * sum(off.values()):
            return
        process, operation = key
        whose = f"{process}, " if len(processes) > 1 else ""
        measured, forecast = means[key]
        yield f"{whose}{operation} {measured:.3g} s, forecast {forecast:.3g} s"
