"""Sums the study up in a few sentences."""

from pagecast.comparison.rows import judged, main_model
from pagecast.comparison.tables import signed_percent
from pagecast.studies.ext3.outcome import Ext3Outcome
from pagecast.studies.ext3.published import RANDOM

__all__ = ["conclusion"]


def conclusion(outcome: Ext3Outcome) -> tuple[str, ...]:
    """Say how many rows are judged and how far they are, what traces show, and which shapes hold."""
    main = main_model(outcome.models)
    sentences = []
    of_main = [one for one in outcome.tables if one.model == main]
    cases = {row.case for row in judged(outcome.rows)}
    if outcome.rows:
        each = "; ".join(
            f"{one.figure.case} {signed_percent(one.error)} %, where the author's model has "
            f"{signed_percent(one.figure.author_error)} %"
            for one in of_main
            if one.figure.case in cases
        )
        fixing = len({row.case for row in outcome.rows} - cases)
        sentences.append(f"{fixing} rows fix keys of the machine, {len(cases)} judged: {each}.")
    if traces := [one for one in of_main if one.figure.load != RANDOM]:
        ours = 100 * sum(abs(one.error) for one in traces) / len(traces)
        author = 100 * sum(abs(one.figure.author_error) for one in traces) / len(traces)
        sentences.append(
            f"{len(traces)} rows of traces are reported, not judged: {ours:.0f} % off on average with "
            f"generated traces, the author's model {author:.0f} % with the captured ones."
        )
    if outcome.shapes:
        held = sum(one.holds for one in outcome.shapes)
        sentences.append(f"{held} of {len(outcome.shapes)} claims on the shape of the figures hold.")
    return tuple(sentences)
