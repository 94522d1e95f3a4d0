"""Sums the study up in a few sentences."""

from pagecast.comparison.rows import judged, main_model
from pagecast.comparison.tables import signed_percent
from pagecast.studies.notes.outcome import NoteOutcome

__all__ = ["conclusion"]


def conclusion(outcome: NoteOutcome) -> tuple[str, ...]:
    """Say how far each judged figure is forecast, and how far the rivals are; nothing if none is judged."""
    main = main_model(outcome.models)
    rows = judged(outcome.rows)
    if not rows:
        return ()
    each = ", ".join(
        f"{row.forecast_s:.2f} s for {row.measured_s:.2f} s ({row.experiment}, {row.operation}: "
        f"{signed_percent(row.error)} %)"
        for row in rows
        if row.model == main
    )
    sentences = [f"{main} forecasts {each}."]
    rivals = [
        f"{model} errs by {100 * max(errors):.0f} %"
        for model in outcome.models
        if model != main and (errors := [abs(row.error) for row in rows if row.model == model])
    ]
    if rivals:
        sentences.append(f"At the worst of them, {' and '.join(rivals)}.")
    return tuple(sentences)
