"""The tables of the study, for the terminal and the report."""

from collections.abc import Iterable, Iterator

from pagecast.comparison.tables import signed_percent
from pagecast.report.document import Table
from pagecast.studies.nfs.outcome import NfsOutcome
from pagecast.studies.nfs.published import MIB

__all__ = ["tables"]


_OF_COMMITS = ("kernel", "limit, MiB", "writers", "published", "forecast", "error")


def tables(outcome: NfsOutcome) -> Iterator[Table]:
    """Make the tables of throughputs and of COMMITs."""
    rows = [
        (
            one.case.kernel,
            str(one.case.limit_bytes // MIB),
            str(one.case.writers),
            f"{one.case.mib_per_s:.1f}",
            f"{one.mib_per_s:.1f}",
            signed_percent(one.mib_per_s / one.case.mib_per_s - 1),
            "calibration" if one.case == outcome.server else "",
        )
        for one in outcome.forecasts
    ]
    yield Table(
        title="Written back, in MiB/s",
        columns=("kernel", "limit, MiB", "writers", "published", "forecast", "error", ""),
        rows=rows,
        text_columns=1,
    )
    note = "Over the longest run that keeps every answer; without a forecast there is none."
    for title, of_commits, below in (
        ("Size of a COMMIT, in MiB", _commits(outcome), ""),
        ("Round trip of a COMMIT, in s", _round_trips(outcome), note),
    ):
        if found := list(of_commits):
            yield Table(title=title, columns=_OF_COMMITS, rows=found, text_columns=1, note=below)
    if outcome.patches:
        yield _patches(outcome)


def _commits(outcome: NfsOutcome) -> Iterable[tuple[str, ...]]:
    for one in outcome.forecasts:
        if one.case.commits is None or one.commit_mib is None:
            continue
        yield (
            one.case.kernel,
            str(one.case.limit_bytes // MIB),
            str(one.case.writers),
            f"{one.case.commits.size_mib:.1f}",
            f"{one.commit_mib:.1f}",
            signed_percent(one.commit_mib / one.case.commits.size_mib - 1),
        )


def _round_trips(outcome: NfsOutcome) -> Iterable[tuple[str, ...]]:
    for one in outcome.forecasts:
        if one.case.commits is None:
            continue
        published = one.case.commits.round_trip_s
        found = one.round_trip_s
        yield (
            one.case.kernel,
            str(one.case.limit_bytes // MIB),
            str(one.case.writers),
            f"{published:.2f}",
            "" if found is None else f"{found:.2f}",
            "" if found is None else signed_percent(found / published - 1),
        )


def _patches(outcome: NfsOutcome) -> Table:
    """Make the table of patches that were not merged, which nothing is forecast of."""
    kernels = list(dict.fromkeys(case.kernel for case in outcome.patches))
    by = {(case.kernel, case.limit_bytes, case.writers): case.mib_per_s for case in outcome.patches}
    keys = sorted({(case.limit_bytes, case.writers) for case in outcome.patches}, reverse=True)
    rows = [
        (
            str(limit // MIB),
            str(writers),
            *(f"{rate:.1f}" if (rate := by.get((kernel, limit, writers))) else "" for kernel in kernels),
        )
        for limit, writers in keys
    ]
    return Table(
        title="Published of patches that were not merged, in MiB/s",
        columns=("limit, MiB", "writers", *kernels),
        rows=rows,
        text_columns=0,
    )
