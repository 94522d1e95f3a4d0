"""The result of a comparison, and its presentation: printed, as JSON, as a report.

A study and a validation each have an `Outcome` of their own, with comparisons of their own, and a
`Presentation` with their tables and sentences.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pagecast.comparison.coverage import coverage_of
from pagecast.comparison.rows import Row, to_json
from pagecast.report.document import Report, Table

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Outcome", "Presentation"]

_Outcome = TypeVar("_Outcome", bound="Outcome")


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation(Generic[_Outcome]):
    """How outcomes of one kind are shown.

    Attributes
    ----------
    headline : callable
        Gives the first line of a terminal; "" is no line.
    tables : callable
        Gives the output for a terminal, in its order; None is no table.
    conclusion : callable
        Gives the results, a sentence each.
    report : callable
        Builds the report.
    notes : callable
        Gives lines below the tables.
    """

    tables: Callable[[_Outcome], Iterable[Table | None]]
    conclusion: Callable[[_Outcome], tuple[str, ...]]
    report: Callable[[_Outcome], Report]
    headline: Callable[[_Outcome], str] = lambda _: ""
    notes: Callable[[_Outcome], Iterable[str]] = lambda _: ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a comparison.

    `models` were asked, in this order. `rows` are times, one for each measured point and model. `left_out`
    names the omissions, with reasons. `provenance` has everything needed to repeat it.
    """

    presentation: Presentation[Any] = field(repr=False)
    models: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: tuple[str, ...] = ()
    provenance: dict[str, object]

    def beside_times(self) -> dict[str, object]:
        """Give the comparisons beside times, under the names of ``--json``."""
        return {}

    def conclusion(self) -> tuple[str, ...]:
        """Give the results, a sentence each."""
        return self.presentation.conclusion(self)

    def to_json(self) -> dict[str, object]:
        """Give the rows, their summary and the provenance, and the comparisons beside times."""
        found = coverage_of(self.rows)
        coverage = {} if found is None else {"coverage": found.as_dict()}
        return to_json(self.rows, self.provenance) | coverage | self.beside_times()

    def print_to(self, console: "Console") -> None:
        """Print the tables and the conclusion for a reader at a terminal."""
        from pagecast.report.terminal import print_ending, print_plain, print_table

        if headline := self.presentation.headline(self):
            print_plain(headline, console)
        for table in self.presentation.tables(self):
            if table is not None:
                print_table(table, console)
        for note in self.presentation.notes(self):
            print_plain(note, console)
        print_ending(self.conclusion(), self.left_out, console)

    def write_report(self, path: Path) -> None:
        """Write one self-contained HTML file; needs matplotlib and jinja2."""
        from pagecast.report.html import write

        write(self.presentation.report(self), path)
