"""Sums the study up in a few sentences."""

from collections.abc import Iterator

from pagecast.comparison.coverage import coverage_sentences
from pagecast.comparison.levels import share_within
from pagecast.comparison.plateaus import plateau_sentences
from pagecast.comparison.rows import TOTAL, judged, main_model
from pagecast.comparison.tables import percent
from pagecast.comparison.totals import totals_sentence
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
    others = (totals_sentence(totals, name, TOTAL_TOLERANCE) for name in outcome.models if name != model)
    plateaus = plateau_sentences(outcome.plateaus)
    return (
        totals_sentence(totals, model, TOTAL_TOLERANCE),
        *coverage_sentences(outcome.rows),
        *_levels(outcome, model),
        *plateaus,
        *others,
    )


def _levels(outcome: LiveKernelOutcome, model: str) -> Iterator[str]:
    dirty = [level for level in outcome.dirty if level.model == model and level.case != CASE]
    if (share := share_within(dirty, DIRTY_TOLERANCE)) is not None:
        yield f"The dirty memory of {model} is within 10 % of the limit at {percent(share)} % of the samples."
    if cached := [file for file in outcome.cached if file.model == model and file.case != CASE]:
        close = sum(file.is_within for file in cached)
        yield f"The cached bytes of a file are within 5 % of the memory at {close} of {len(cached)} looks."
