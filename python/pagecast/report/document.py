"""The parts of a report, without their looks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Figure", "Report", "Section", "Table"]


@dataclass(frozen=True)
class Table:
    """Texts in rows and columns.

    `text_columns` is how many columns, from the left, are aligned left; numbers follow. Names of columns may
    have several lines. A row of None is a rule between groups of rows. `is_long` tables are folded away in
    HTML.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str] | None]
    text_columns: int = 1
    note: str = ""
    is_long: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawing as the text of an SVG element, and what it shows."""

    name: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it: text, then figures, then tables."""

    heading: str
    text: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()

    @property
    def anchor(self) -> str:
        """The heading as a link target."""
        return "".join(c if c.isalnum() else "-" for c in self.heading.lower()).strip("-")


@dataclass(frozen=True)
class Report:
    """A whole report.

    `conclusion` has the results, a sentence each; `facts` are the inputs and the command that made the
    report, as names and values.
    """

    title: str
    lead: str
    conclusion: Sequence[str]
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section] = field(default=())

    @property
    def opening(self) -> Section | None:
        """The first section with a figure: the report begins with that."""
        return next((section for section in self.sections if section.figures), None)
