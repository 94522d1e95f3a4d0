"""Claims on the shape of published figures that print no numbers, and whether forecasts have it."""

from collections.abc import Iterable
from dataclasses import dataclass

from pagecast.report.document import Table

__all__ = ["Shape", "shapes_json", "shapes_table"]


@dataclass(frozen=True)
class Shape:
    """A claim on curves: what came out, and whether it holds."""

    claim: str
    figures: str
    found: str
    holds: bool


def shapes_table(shapes: Iterable[Shape]) -> Table:
    """Make the table of claims."""
    return Table(
        title="The shape of the figures",
        columns=("claim", "figures", "forecast", "holds"),
        rows=[(one.claim, one.figures, one.found, "yes" if one.holds else "no") for one in shapes],
        text_columns=4,
    )


def shapes_json(shapes: Iterable[Shape]) -> list[dict[str, object]]:
    """Give claims as ``--json`` has them."""
    return [
        {"claim": one.claim, "figures": one.figures, "found": one.found, "holds": one.holds} for one in shapes
    ]
