"""Where dirty memory and rates settle while writers are held back: traced in real runs, and forecast."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pagecast.plot.axes import size_scale
from pagecast.report.document import Table
from pagecast.studies.tables import signed_percent
from pagecast.throttling import SETTLING_S, Plateau, plateau, throttling
from pagecast.validation.case import Validated

if TYPE_CHECKING:
    from pagecast.result import Result

__all__ = ["TOLERANCE", "Settled", "plateau_sentences", "plateau_table", "settled"]

TOLERANCE: Final = 0.05
"""How far the plateau of dirty memory, and of the rates, may be off."""


_QUANTITIES: Final = {
    "dirty_bytes": ("dirty", ""),
    "setpoint_bytes": ("set point", ""),
    "limit_bytes": ("dirty limit", ""),
    "base_rate_bytes_per_s": ("base rate", "/s"),
    "task_rate_bytes_per_s": ("allowed to a writer", "/s"),
    "throughput_bytes_per_s": ("made dirty", "/s"),
}
"""What a table calls the quantities of a plateau, and what follows their unit of bytes."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The plateau of one traced run, and that of its forecast under one model."""

    case: str
    repetition: int
    model: str
    measured: Plateau
    forecast: Plateau

    def error(self, quantity: str) -> float:
        """Signed relative error of a quantity of `Plateau`."""
        measured: float = getattr(self.measured, quantity)
        forecast: float = getattr(self.forecast, quantity)
        return forecast / measured - 1

    def as_dict(self) -> dict[str, object]:
        """Give it under the names of ``--json``."""
        errors = {name: self.error(name) for name in Plateau.__slots__}
        return {
            "case": self.case,
            "repetition": self.repetition,
            "model": self.model,
            "measured": asdict(self.measured),
            "forecast": asdict(self.forecast),
            "error": errors,
        }


def settled(validated: Iterable[Validated]) -> tuple[Settled, ...]:
    """Give the plateaus of all runs that were traced, under each model that has one."""
    return tuple(pair for each in validated for pair in _of_case(each))


def _of_case(validated: Validated) -> Iterator[Settled]:
    for number, run in enumerate(validated.measured):
        measured = _plateau(run)
        if measured is None:
            continue
        for model, forecasts in validated.forecasts.items():
            if (forecast := _plateau(forecasts[number])) is not None:
                yield Settled(validated.case.name, number + 1, model, measured, forecast)


def _plateau(result: "Result") -> Plateau | None:
    met = throttling(result)
    return None if met is None else plateau(met)


def plateau_sentences(pairs: Sequence[Settled]) -> tuple[str, ...]:
    """Say how far each model's plateaus are off at worst, a sentence for each.

    Parameters
    ----------
    pairs : sequence of Settled

    Returns
    -------
    tuple of str
    """
    models = dict.fromkeys(pair.model for pair in pairs)
    return tuple(_sentence(model, [pair for pair in pairs if pair.model == model]) for model in models)


def _sentence(model: str, pairs: Sequence[Settled]) -> str:
    dirty, allowed, made = (
        signed_percent(max((pair.error(name) for pair in pairs), key=abs))
        for name in ("dirty_bytes", "task_rate_bytes_per_s", "throughput_bytes_per_s")
    )
    worst = f" (the worst of {len(pairs)} traced runs)" if len(pairs) > 1 else ""
    return (
        f"While writers were held back, {model} was off by {dirty} % in dirty memory, by {allowed} % in what "
        f"a writer is allowed, and by {made} % in what was made dirty{worst}."
    )


def plateau_table(pairs: Sequence[Settled]) -> Table | None:
    """Make the table of plateaus: where dirty memory and rates settle while writers are held back.

    Parameters
    ----------
    pairs : sequence of Settled

    Returns
    -------
    Table or None
        None where no run was traced.
    """
    lines: list[Sequence[str] | None] = []
    for pair in pairs:
        names = (f"{pair.case}, run {pair.repetition}", pair.model)
        for quantity, (called, per) in _QUANTITIES.items():
            lines.append((*names, called, *_cells(pair, quantity, per)))
            names = ("", "")
        lines.append(None)
    if not lines:
        return None
    return Table(
        title="While writers were held back: traced and forecast",
        columns=("case", "model", "quantity", "traced", "forecast", "error\n%"),
        rows=lines[:-1],
        text_columns=3,
        note="Medians over the time in which writers were held back, but for the first "
        f"{SETTLING_S:.0f} s of each; made dirty: bytes of that time. The plateau should be within "
        f"{100 * TOLERANCE:.0f} %.",
    )


def _cells(pair: Settled, quantity: str, per: str) -> tuple[str, str, str]:
    measured, forecast = getattr(pair.measured, quantity), getattr(pair.forecast, quantity)
    scale, unit = size_scale(measured)
    told = [f"{value / scale:.1f} {unit}{per}" for value in (measured, forecast)]
    return told[0], told[1], signed_percent(pair.error(quantity))
