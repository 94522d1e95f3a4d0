"""Two outputs side by side as tables, in a terminal and as a report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pagecast.arguments import counted
from pagecast.comparison.operations import LEAST_S
from pagecast.comparison.tables import MOST_OPERATIONS, seconds, shown_call, signed_percent
from pagecast.durations import seconds as short_seconds
from pagecast.outputs.comparison import Difference, Pair, longest
from pagecast.outputs.percentiles import FEWEST, NAMES, Percentiles
from pagecast.report.document import Report, Section, Table
from pagecast.report.terminal import print_ending, print_table

if TYPE_CHECKING:
    from rich.console import Console

    from pagecast.outputs.comparison import Comparison

__all__ = ["print_comparison", "report"]

LEAD: Final = (
    "The operations that two outputs have in common, how much longer each takes in the second one, and "
    "percentiles of those that are done often."
)


def print_comparison(comparison: "Comparison", console: "Console") -> None:
    """Print each pair, the operations that differ most, and a conclusion."""
    for pair in comparison.pairs:
        for table in _tables(comparison, pair, MOST_OPERATIONS):
            print_table(table, console)
    print_ending(comparison.conclusion(), (), console)


def report(comparison: "Comparison") -> Report:
    """Put the report together.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    Report
    """
    a, b = comparison.a, comparison.b
    facts = [
        ("Command", str(comparison.provenance["command"])),
        ("Version", f"pagecast {comparison.provenance['pagecast_version']}"),
        *((side, f"{of.name}: {_made_from(of.provenance)}") for side, of in (("A", a), ("B", b))),
    ]
    return Report(
        title=f"Side by side: {a.name} and {b.name}",
        lead=LEAD,
        conclusion=comparison.conclusion(),
        facts=facts,
        sections=tuple(
            Section(_called(pair), tables=list(_tables(comparison, pair, None))) for pair in comparison.pairs
        ),
    )


def _made_from(provenance: Mapping[str, object]) -> str:
    known = ("study", "scenario", "command", "kernel", "machine_hash")
    return ", ".join(f"{name} {provenance[name]}" for name in known if provenance.get(name))


def _called(pair: Pair) -> str:
    return pair.a if pair.a == pair.b else f"{pair.a} and {pair.b}"


def _tables(comparison: "Comparison", pair: Pair, most: int | None) -> Iterator[Table]:
    long = [each for each in pair.operations if max(each.a_s, each.b_s) >= LEAST_S]
    shown = longest(long, most)
    few = f" The {len(shown)} of {len(long)} that differ most." if len(shown) < len(long) else ""
    lines: list[Sequence[str] | None] = [_line(each) for each in shown]
    totals = [(each.case, "", "total", "", "", *_times(each)) for each in pair.totals]
    a, b = comparison.a.name, comparison.b.name
    yield Table(
        title=f"{_called(pair)}: seconds of each operation on files",
        columns=("case", "process", "operation", "file", "call", "A", "B", "B - A", "%"),
        rows=[*lines, None, *totals] if lines else totals,
        text_columns=4,
        note=f"A is {a} ({pair.a}), B is {b} ({pair.b}); of several runs their means. %: of A. Operations "
        f"that take under 1 ms in both count in the total only.{few}",
        is_long=most is None and len(lines) > MOST_OPERATIONS,
    )
    if (table := _percentiles(comparison, pair, most)) is not None:
        yield table


def _percentiles(comparison: "Comparison", pair: Pair, most: int | None) -> Table | None:
    """Make the table of percentiles that differ, three lines for each operation; None where none does."""
    differ = [each for each in pair.percentiles if not each.is_same]
    if not differ:
        return None
    lines: list[Sequence[str] | None] = []
    for each in differ[:most]:
        relative = each.relative.values()
        by = ["" if share is None else signed_percent(share) for share in relative]
        for called, n, cells in (("A", each.a.n, _cells(each.a)), ("B", each.b.n, _cells(each.b))):
            lines.append((*(each.key if called == "A" else ("",) * 4), called, f"{n:,}", *cells))
        lines.extend([("", "", "", "", "%", "", *by), None])
    same = len(pair.percentiles) - len(differ)
    few = f" The {most} of {len(differ)} that matter most." if most and len(differ) > most else ""
    others = f" In {counted(range(same), 'other')} no percentile differs by more than 0.2 %." if same else ""
    return Table(
        title=f"{_called(pair)}: percentiles of what is done often",
        columns=("case", "process", "operation", "file", "", "n", "p50", "p90", "p99", "p99.9", "max"),
        rows=lines[:-1],
        text_columns=5,
        note=f"Of operations of which there are {FEWEST} or more. Those come first that differ most in sum, "
        f"as far as percentiles tell. %: of A.{few}{others}",
        is_long=most is None and len(differ) > MOST_OPERATIONS,
    )


def _cells(of: Percentiles) -> list[str]:
    return [short_seconds(of.seconds[name]) for name in NAMES]


def _line(each: Difference) -> tuple[str, ...]:
    call = shown_call(each.call_bytes)
    return (each.case, each.process, each.operation, each.path, call, *_times(each))


def _times(each: Difference) -> tuple[str, str, str, str]:
    sign = "-" if each.difference_s < 0 else "+"
    relative = "" if each.relative is None else f"{100 * each.relative:+.1f}"
    return seconds(each.a_s), seconds(each.b_s), f"{sign}{seconds(abs(each.difference_s))}", relative
