"""Makes the table of errors of each experiment and model, and writes numbers as tables of comparisons do."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pagecast._core import format_bytes
from pagecast.benchmark.plan import call_text
from pagecast.comparison.rows import Row, Summary, judged, summarise
from pagecast.report.document import Table

__all__ = ["MOST_OPERATIONS", "percent", "seconds", "shown_call", "signed_percent", "summary_table"]

MOST_OPERATIONS: Final = 20
"""A terminal shows so many operations of a case; of more, those that take longest."""

_NOTE: Final = (
    "Errors are averaged over the operations of a case ({case}) first. "
    "mean, median, p90: the mean, the median and the 90th percentile of that over the cases. total: signed "
    "error of the sum of all times of a case, mean over the cases. rows: how many operations were compared."
)
_JUDGED_NOTE: Final = (
    " judged: the mean once more, of those rows only whose measurement did not go into the machine file."
)


def summary_table(
    experiments: Sequence[str],
    rows: Sequence[Row],
    published: Callable[[str], Iterable[Row]] = lambda _: (),
    *,
    title: str,
    case: str,
) -> Table:
    """Make the table of errors of each experiment and model.

    Parameters
    ----------
    experiments : sequence of str
    rows : sequence of Row
        Of all experiments.
    published : callable, optional
        Gives rows of other forecasts for an experiment; they stand below ours.
    title : str
    case : str
        What a case is, for the note below the table.
    """
    is_calibrated = any(row.role == "calibration" for row in rows)
    without = {(each.experiment, each.model): each.mean_abs_error for each in summarise(judged(rows))}
    lines: list[Sequence[str] | None] = []
    for experiment in experiments:
        for summary in summarise(row for row in rows if row.experiment == experiment):
            mean = without.get((experiment, summary.model))
            extra = ["" if mean is None else percent(mean)] if is_calibrated else []
            lines.append((experiment, summary.model, *_errors(summary), *extra))
        for summary in summarise(published(experiment)):
            extra = [""] if is_calibrated else []
            lines.append((experiment, f"{summary.model} (published)", *_errors(summary), *extra))
        lines.append(None)
    names = ("exp", "model", "mean", "median", "p90", "total", "rows")
    return Table(
        title=title,
        columns=(*names, *(["judged"] if is_calibrated else [])),
        rows=lines[:-1],
        text_columns=2,
        note=_NOTE.format(case=case) + (_JUDGED_NOTE if is_calibrated else ""),
    )


def _errors(summary: Summary) -> list[str]:
    errors = (summary.mean_abs_error, summary.median_abs_error, summary.p90_abs_error)
    return [*map(percent, errors), signed_percent(summary.total_error), str(summary.n)]


def percent(fraction: float) -> str:
    """Write 0.1234 as "12.3"."""
    return f"{100 * fraction:.1f}"


def signed_percent(fraction: float) -> str:
    """Write 0.1234 as "+12.3"."""
    return f"{100 * fraction:+.1f}"


def seconds(time_s: float) -> str:
    """Write seconds with three digits that count, and no more than a microsecond."""
    digits = 2 if time_s >= 1 else 3 if time_s >= 0.1 else 4 if time_s >= 0.01 else 5
    return f"{time_s:.{digits}f}"


def shown_call(call_bytes: int) -> str:
    """Give the size of a call for a person, "64 KiB" where it is so many; nothing for 0."""
    if not call_bytes:
        return ""
    return format_bytes(call_bytes) if call_bytes % 1024 else call_text(call_bytes)
