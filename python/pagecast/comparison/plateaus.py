"""Compares the levels of dirty memory and rates while writers are throttled, traced and forecast."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Final

from pagecast.comparison.tables import percent, signed_percent
from pagecast.plot.axes import size_scale
from pagecast.report.document import Table
from pagecast.throttling import SETTLING_S, Plateau

__all__ = ["TOLERANCE", "Settled", "plateau_sentences", "plateau_table"]

TOLERANCE: Final = 0.05
"""Tolerances of the plateau of dirty memory, of the base rate and of the bytes dirtied."""

MOST: Final = 3
"""A table of more plateaus is folded away in HTML."""

_QUANTITIES: Final = {
    "dirty_bytes": ("dirty", ""),
    "position": ("dirty by set point", ""),
    "setpoint_bytes": ("set point", ""),
    "limit_bytes": ("dirty limit", ""),
    "base_rate_bytes_per_s": ("base rate", "/s"),
    "task_rate_bytes_per_s": ("rate of a writer", "/s"),
    "throughput_bytes_per_s": ("made dirty", "/s"),
}
"""Names of the quantities of a plateau in a table, and the suffix of their unit of bytes, if any."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The plateau of one traced run, and that of its forecast under one model.

    `experiment` is the platform of a study.
    """

    case: str
    repetition: int
    model: str
    measured: Plateau
    forecast: Plateau
    experiment: str | None = None

    def error(self, quantity: str) -> float:
        """Signed relative error of a quantity of `Plateau`; NaN if 0 was traced: writers stood still."""
        measured: float = getattr(self.measured, quantity)
        forecast: float = getattr(self.forecast, quantity)
        return forecast / measured - 1 if measured else math.nan

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        errors = {
            name: self.error(name) if getattr(self.measured, name) else None for name in Plateau.__slots__
        }
        of = {} if self.experiment is None else {"experiment": self.experiment}
        return of | {
            "case": self.case,
            "repetition": self.repetition,
            "model": self.model,
            "measured": asdict(self.measured),
            "forecast": asdict(self.forecast),
            "error": errors,
        }


def plateau_sentences(pairs: Sequence[Settled]) -> tuple[str, ...]:
    """Say how far each model's plateaus are off, a sentence for each."""
    models = dict.fromkeys(pair.model for pair in pairs)
    return tuple(_sentence(model, [pair for pair in pairs if pair.model == model]) for model in models)


def _sentence(model: str, pairs: Sequence[Settled]) -> str:
    dirty, position, base, made = (
        _far([pair.error(name) for pair in pairs])
        for name in ("dirty_bytes", "position", "base_rate_bytes_per_s", "throughput_bytes_per_s")
    )
    runs = f" in the median of {len(pairs)} traced runs" if len(pairs) > 1 else ""
    return (
        f"While writers were throttled, {model} was off{runs} by {dirty} in dirty memory, by {position} in "
        f"that as a part of the set point, by {base} in the base rate, and by {made} in dirtied bytes."
    )


def _far(errors: Sequence[float]) -> str:
    """Say how far several are off in the median, and the worst of them."""
    if len(errors) == 1:
        return f"{signed_percent(errors[0])} %"
    return f"{percent(median(map(abs, errors)))} % (worst {signed_percent(max(errors, key=abs))} %)"


def plateau_table(pairs: Sequence[Settled]) -> Table | None:
    """Make the table of plateaus: levels of dirty memory and rates while writers are throttled.

    Returns
    -------
    Table or None
        None where no run was traced.
    """
    lines: list[Sequence[str] | None] = []
    for pair in pairs:
        of = "" if pair.experiment is None else f"{pair.experiment}, "
        names = (f"{of}{pair.case}, run {pair.repetition}", pair.model)
        for quantity, (called, per) in _QUANTITIES.items():
            lines.append((*names, called, *_cells(pair, quantity, per)))
            names = ("", "")
        lines.append(None)
    if not lines:
        return None
    return Table(
        title="While writers were throttled: traced and forecast",
        columns=("case", "model", "quantity", "traced", "forecast", "error\n%"),
        rows=lines[:-1],
        text_columns=3,
        is_long=len(pairs) > MOST,
        note="Medians over the time in which writers were throttled, but for the first "
        f"{SETTLING_S:.0f} s of each; made dirty: bytes of that time. The plateau should be within "
        f"{100 * TOLERANCE:.0f} %. Rate of a writer: traced is the rate at its checks, forecast the rate "
        "with pauses of whole clock ticks.",
    )


def _cells(pair: Settled, quantity: str, per: str) -> tuple[str, str, str]:
    values = (getattr(pair.measured, quantity), getattr(pair.forecast, quantity))
    if quantity == "position":
        told = [f"{value:.3f}" for value in values]
    else:
        scale, unit = size_scale(values[0])
        told = [f"{value / scale:.1f} {unit}{per}" for value in values]
    return told[0], told[1], signed_percent(pair.error(quantity)) if values[0] else "?"
