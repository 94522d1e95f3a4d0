"""Sums the study up in a few sentences."""

from collections.abc import Iterator

from pagecast.comparison.levels import share_within
from pagecast.comparison.plateaus import plateau_sentences
from pagecast.comparison.rows import TOTAL, Row, judged, main_model
from pagecast.comparison.tables import percent
from pagecast.studies.live_kernel.calibration import CASE
from pagecast.studies.live_kernel.outcome import LiveKernelOutcome
from pagecast.tolerance import DIRTY_TOLERANCE

__all__ = ["conclusion"]

TOTAL_TOLERANCE = 0.10
"""How far the total time of a case may be off."""


def conclusion(outcome: LiveKernelOutcome) -> tuple[str, ...]:
    """Say how many cases are close, and how often dirty memory and cached files are."""
    model = main_model(outcome.models)
    totals = [row for row in judged(outcome.rows) if row.operation == TOTAL]
    others = (_totals(totals, name) for name in outcome.models if name != model)
    plateaus = plateau_sentences(outcome.plateaus)
    return (_totals(totals, model), *_levels(outcome, model), *plateaus, *others)


def _totals(rows: list[Row], model: str) -> str:
    cases: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.model == model:
            cases.setdefault((row.experiment, row.case), []).append(row)
    errors = {
        key: sum(row.forecast_s for row in of) / sum(row.measured_s for row in of) - 1
        for key, of in cases.items()
    }
    if not errors:
        return f"No judged case was forecast under {model}."
    close = sum(abs(error) <= TOTAL_TOLERANCE for error in errors.values())
    (platform, case), worst = max(errors.items(), key=lambda item: abs(item[1]))
    return (
        f"{model} forecasts the total time of {close} of {len(errors)} judged cases within 10 %; "
        f"the worst is {case} on {platform} with {100 * worst:+.0f} %."
    )


def _levels(outcome: LiveKernelOutcome, model: str) -> Iterator[str]:
    dirty = [level for level in outcome.dirty if level.model == model and level.case != CASE]
    if (share := share_within(dirty, DIRTY_TOLERANCE)) is not None:
        yield f"The dirty memory of {model} is within 10 % of the limit at {percent(share)} % of the samples."
    if cached := [file for file in outcome.cached if file.model == model and file.case != CASE]:
        close = sum(file.is_within for file in cached)
        yield f"The cached bytes of a file are within 5 % of the memory at {close} of {len(cached)} looks."
