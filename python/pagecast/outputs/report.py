"""The report of a simulation or a real run: its figures and percentiles as one HTML file."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from pagecast._core import format_bytes
from pagecast.arguments import shown
from pagecast.durations import seconds
from pagecast.kinds import NO_IO
from pagecast.report import Figure, Report, Section, Table, write
from pagecast.result import Result

__all__ = ["CAPTIONS", "write_report"]

CAPTIONS: Final = {
    "timeline": "What memory holds, and under kernel the limits of dirty memory.",
    "parts": "Where the time of operations goes.",
    "latency": "Percentiles, histograms, and over time the mean and longest duration of the operations that "
    "ended in each window. Copies of a process share a line.",
    "rates": "Operations and bytes per second; an operation counts while it is under way.",
    "cache_content": "How much of each file is in memory; its dirty part is hatched.",
    "devices": "Share of time that each disk has a request.",
    "bdi": "What the kernel estimates of each device, and the rate that a throttled writer gets.",
    "gantt": "What each process did over time.",
    "gantt_cores": "What each core was held for.",
}
"""What figures show, by their names."""

_MOST_ROWS: Final = 200


def write_report(results: Sequence[Result], figures: Mapping[str, Mapping[str, str]], path: Path) -> None:
    """Write one self-contained HTML file; needs jinja2.

    Parameters
    ----------
    results : sequence of Result
        Of one scenario.
    figures : mapping
        SVG elements by model and by name of figure.
    path : Path
    """
    provenance = results[0].provenance
    scenario = Path(str(provenance["scenario"])).name
    facts = [
        ("scenario", str(provenance["scenario"])),
        ("made by", f"pagecast {provenance['pagecast_version']}"),
        ("command", shlex.join(["pagecast", *map(shown, sys.argv[1:])])),
        ("machine", f"hash {provenance['machine_hash']}"),
        *([] if results[0].is_measured else [("seed", str(results[0].seed))]),
    ]
    kind = "Measured" if results[0].is_measured else "Forecast"
    report = Report(
        title=f"{kind}: {scenario}",
        lead="How long operations take, what they move, and what memory holds meanwhile.",
        conclusion=[_sentence(result) for result in results],
        facts=facts,
        sections=[_section(result, figures.get(result.model, {})) for result in results],
    )
    write(report, path)


def _sentence(result: Result) -> str:
    table = result.latency
    is_io = np.array([operation not in NO_IO for operation in table["operation"]], dtype=bool)
    count, moved = int(table["count"][is_io].sum()), int(table["bytes"][is_io].sum())
    ends = seconds(result.end_s)
    if result.drawn is not None:
        low, high = (seconds(float(result.ranges[name][0])) for name in ("low", "high"))
        ends += f" (90 % range: {low} to {high})"
    return (
        f"{result.model}: the last process ends after {ends}; {count:,} operations on files move "
        f"{format_bytes(moved)}."
    )


def _section(result: Result, figures: Mapping[str, str]) -> Section:
    return Section(
        result.model,
        figures=[
            Figure(name.replace("_", " "), svg, _caption(result, name)) for name, svg in figures.items()
        ],
        tables=[_latency(result), *([] if result.drawn is None else [_ranges(result)])],
    )


def _caption(result: Result, name: str) -> str:
    has_bands = result.drawn is not None and name in ("timeline", "latency")
    return f"{CAPTIONS[name]} Bands are 90 % ranges." if has_bands else CAPTIONS[name]


def _ranges(result: Result) -> Table:
    """Make the table of ranges, in seconds and bytes as a person reads them."""
    ranges, drawn = result.ranges, result.drawn
    assert drawn is not None, "only results with ranges are asked"
    lines = []
    for row, (measure, unit) in enumerate(zip(ranges["measure"], ranges["unit"], strict=True)):
        values = [float(ranges[name][row]) for name in ("forecast", "median", "low", "high")]
        cells = [_amount(value, unit) for value in values]
        lines.append((measure, *cells))
    return Table(
        title="90 % ranges",
        columns=("figure", "forecast", "median", "from", "to"),
        rows=lines,
        text_columns=1,
        note=f"Of {drawn.draws - drawn.failed:,} draws: of {drawn.values} values of the machine, and of the "
        f"error that the model had in {drawn.cases} recorded cases on {drawn.platforms} platforms.",
        is_long=len(lines) > 20,
    )


def _amount(value: float, unit: str) -> str:
    if value != value:
        return "–"
    return seconds(value) if unit == "s" else format_bytes(round(value))


def _latency(result: Result) -> Table:
    """Make the table of percentiles, those with most time in sum first."""
    table = result.latency
    is_io = np.array([operation not in NO_IO for operation in table["operation"]], dtype=bool)
    rows = np.flatnonzero(is_io & (table["total_s"] > 0))
    rows = rows[np.argsort(-table["total_s"][rows], kind="stable")]
    times = ("mean_s", "p50_s", "p90_s", "p99_s", "p99_9_s", "max_s")
    lines = [
        (
            *(table[name][row] for name in ("process", "operation", "path")),
            f"{table['count'][row]:,}",
            format_bytes(int(table["bytes"][row])),
            *(seconds(float(table[name][row])) for name in times),
        )
        for row in rows[:_MOST_ROWS].tolist()
    ]
    few = f" {len(rows) - _MOST_ROWS:,} more take less." if len(rows) > _MOST_ROWS else ""
    return Table(
        title="How long operations on files take",
        columns=("process", "operation", "file", "n", "bytes", "mean", "p50", "p90", "p99", "p99.9", "max"),
        rows=lines,
        text_columns=3,
        note=f"Those that take most time in sum come first; what takes none has no row.{few}",
        is_long=len(lines) > 20,
    )
