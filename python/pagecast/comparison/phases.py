"""The table of a recorded case's phases: measured and forecast times, and their errors."""

from collections.abc import Sequence

import numpy as np

from pagecast.comparison.rows import Row
from pagecast.comparison.tables import percent
from pagecast.report.document import Table

__all__ = ["phases_table"]


def phases_table(rows: Sequence[Row], models: Sequence[str], *, title: str, note: str) -> Table:
    """Make the table of measured and forecast times: means over the repetitions, case by case."""
    points: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        name = f"{row.operation} of {row.process}" if row.process else row.operation
        points.setdefault((row.case, name), {}).setdefault(row.model, []).append(row)
    lines: list[Sequence[str] | None] = []
    last = ""
    for (case, operation), by_model in points.items():
        if lines and case != last:
            lines.append(None)
        first = next(iter(by_model.values()))
        measured = [row.measured_s for row in first]
        mark = "*" if first[0].role == "calibration" else ""
        spread = (max(measured) - min(measured)) / float(np.mean(measured))
        cells = [cell for model in models for cell in _forecast(by_model.get(model, []))]
        label = "" if case == last else f"{case}{mark}"
        lines.append((label, operation, f"{np.mean(measured):.2f}", percent(spread), *cells))
        last = case
    names = [name for model in models for name in (model.replace("-", "-\n"), "%")]
    return Table(
        title=title,
        columns=("case", "phase", "measured", "±%", *names),
        rows=lines,
        text_columns=2,
        note=note,
    )


def _forecast(rows: Sequence[Row]) -> tuple[str, str]:
    if not rows:
        return "", ""
    forecast = float(np.mean([row.forecast_s for row in rows]))
    measured = float(np.mean([row.measured_s for row in rows]))
    return f"{forecast:.2f}", f"{100 * (forecast / measured - 1):+.0f}"
