"""The 90 % ranges of a forecast, a line for each figure."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from pagecast._core import format_bytes
from pagecast.api import Scenario
from pagecast.cli.amounts import seconds, shortened
from pagecast.result import Result

__all__ = ["range_notes", "ranges_table"]

_MOST_ROWS = 40


def ranges_table(width: int, result: Result) -> Table | None:
    """Make the table of ranges of a forecast; None where none were drawn.

    Parameters
    ----------
    width : int
        Of the terminal.
    result : Result
    """
    ranges, drawn = result.ranges, result.drawn
    if drawn is None:
        return None
    rows = list(zip(*(ranges[name] for name in ("measure", "unit", "forecast", "low", "high")), strict=True))
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"90 % ranges of {drawn.draws - drawn.failed:,} draws, {result.made_by}",
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        caption=_more(len(rows) - _MOST_ROWS),
        caption_justify="left",
    )
    table.add_column("figure", no_wrap=True)
    for name in ("forecast", "from", "to", "width"):
        table.add_column(name, justify="right", no_wrap=True)
    room = max(width - 50, 20)
    for measure, unit, *values in rows[:_MOST_ROWS]:
        forecast, low, high = map(float, values)
        cells = [_amount(value, unit) for value in (forecast, low, high)]
        table.add_row(shortened(measure, room), *cells, _width(forecast, low, high))
    return table


def _amount(value: float, unit: str) -> str:
    if value != value:
        return "–"
    return seconds(value) if unit == "s" else format_bytes(round(value))


def _width(forecast: float, low: float, high: float) -> str:
    """Give how wide a range is, as a share of the forecast."""
    return f"{100 * (high - low) / forecast:.0f} %" if forecast > 0 and high == high else ""


def _more(rows: int) -> str | None:
    return f"… and {rows:,} more; --json and --out have all." if rows > 0 else None


def range_notes(scenario: Scenario, results: Sequence[Result]) -> Iterator[str]:
    """Say what ranges come from, and what they leave out.

    Parameters
    ----------
    scenario : Scenario
    results : sequence of Result

    Yields
    ------
    str
    """
    known = [(result.model, result.drawn) for result in results if result.drawn is not None]
    if not known:
        return
    if not scenario.uncertainty:
        yield (
            "The values of the machine are taken as exact: it has no `uncertainty`. `pagecast calibrate` "
            "writes it into a machine file; a table [machine.uncertainty] gives it by hand."
        )
    for model, drawn in known:
        if drawn.cases:
            yield (
                f"Ranges of {model} hold the error that it had in {drawn.cases} recorded cases on "
                f"{drawn.platforms} platforms; {drawn.cases_of_kind} of the cases are of the kind of this "
                f"scenario, {drawn.kind}. Levels of memory have the ranges of the machine alone."
            )
        else:
            yield f"Ranges of {model} hold no error of the model: none was learned."
        if drawn.failed:
            yield f"{drawn.failed:,} of {drawn.draws:,} draws of {model} failed: {drawn.first_failure}"
