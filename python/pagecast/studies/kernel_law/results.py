"""The tables of the study, for the terminal and the report."""

from collections.abc import Iterable, Sequence

import numpy as np

from pagecast.comparison.tables import percent
from pagecast.report.document import Table
from pagecast.studies.kernel_law.law import REAL_TOLERANCE
from pagecast.studies.kernel_law.outcome import KernelLawOutcome
from pagecast.studies.kernel_law.throughput import Throughput, by_kind, by_limit

__all__ = ["law_table", "seeks_table", "throughput_table"]


def law_table(outcome: KernelLawOutcome) -> Table:
    """Make the table of the exact results of the law."""
    events, thresholds = outcome.events, outcome.thresholds
    real = [abs(one.real_error) for one in events]
    rows = [
        ("rate of a task, rounded as the kernel rounds", _count(one.is_exact for one in events)),
        (
            f"the same in real numbers, within {100 * REAL_TOLERANCE:g} % (greatest {100 * max(real):.2f} %)",
            _count(error <= REAL_TOLERANCE for error in real),
        ),
        (
            "period that the pages of a task should take",
            _count(one.period[0] == one.period[1] for one in events),
        ),
        ("pause of a task", _count(one.pause[0] == one.pause[1] for one in events)),
        (
            "pages until a task that slept is checked again",
            _count(one.poll[0] == one.poll[1] for one in events if one.has_poll),
        ),
        ("limit and background threshold", _count(one.is_exact for one in thresholds)),
        (
            "device's part of the limit, printed as 1 % of it",
            _count(one.is_device_full for one in thresholds),
        ),
    ]
    return Table(
        title="The law against printed numbers",
        columns=("what", "exact"),
        rows=rows,
        text_columns=1,
    )


def _count(of: Iterable[bool]) -> str:
    found = list(of)
    return f"{sum(found)} of {len(found)}"


def throughput_table(throughputs: Sequence[Throughput], title: str) -> Table:
    """Make the table of throughputs by limit, number of writers and file system."""
    groups = by_limit(throughputs)
    filesystems = sorted({filesystem for _, _, filesystem in groups})
    lines: list[Sequence[str] | None] = []
    for limit, writers in dict.fromkeys((limit, writers) for limit, writers, _ in groups):
        of = {name: groups.get((limit, writers, name), []) for name in filesystems}
        if lines and lines[-1] is not None and lines[-1][0] != str(limit):
            lines.append(None)
        figures = (figure for found in of.values() for figure in _means(found))
        lines.append((str(limit), str(writers), *figures))
    return Table(
        title=title,
        columns=(
            "limit, MiB",
            "writers",
            *(f"{name}\n{figure}" for name in filesystems for figure in ("published", "forecast")),
        ),
        rows=lines,
        text_columns=0,
        note="Means over machines, kernels and background thresholds.",
    )


def _means(found: Sequence[Throughput]) -> tuple[str, str]:
    """Give what was published and what is forecast of the same cases."""
    if not found:
        return "", ""
    figures = [one.case.published for one in found], [one.forecast for one in found]
    published, forecast = (f"{np.mean(each):.2f}" for each in figures)
    return published, forecast


def seeks_table(throughputs: Sequence[Throughput]) -> Table:
    """Make the table of differences by what the disks have to write."""
    rows = []
    for kind, of in by_kind(throughputs).items():
        away = [one.difference for one in of]
        # `no-cache` and `endless-cache` keep the disk busy.
        rivals = [abs(1 - one.case.published) for one in of]
        numbers = (np.mean(np.abs(away)), np.mean(away), np.max(np.abs(away)), np.mean(rivals))
        rows.append((kind, *(percent(float(number)) for number in numbers), str(len(of))))
    return Table(
        title="Forecast less published, in % of the most",
        columns=("what the disk writes", "mean", "mean with its sign", "greatest", "always busy", "cases"),
        rows=rows,
        text_columns=1,
    )
