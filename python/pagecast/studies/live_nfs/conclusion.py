"""Sums the study up in a few sentences."""

from typing import Final

from pagecast.comparison.coverage import coverage_sentences
from pagecast.comparison.rows import TOTAL, judged, main_model
from pagecast.comparison.totals import totals_sentence
from pagecast.studies.live_kernel.calibration import CASE
from pagecast.studies.live_nfs.outcome import LiveNfsOutcome

__all__ = ["conclusion"]

TOTAL_TOLERANCE: Final = 0.15
"""How far the total time of a case may be off."""


def conclusion(outcome: LiveNfsOutcome) -> tuple[str, ...]:
    """Say how many cases are close, and how many counts of calls."""
    model = main_model(outcome.models)
    totals = [row for row in judged(outcome.rows) if row.operation == TOTAL]
    others = (name for name in outcome.models if name != model)
    sentences = [totals_sentence(totals, name, TOTAL_TOLERANCE) for name in (model, *others)]
    sentences += coverage_sentences(outcome.rows)
    counts = [each for each in outcome.calls if each.case != CASE]
    if counts:
        close = sum(each.is_within for each in counts)
        sentences.insert(
            1, f"Of {len(counts)} counts of WRITE, COMMIT and READ {close} are within 20 % or one."
        )
    return tuple(sentences)
