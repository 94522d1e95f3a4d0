"""Sums the study up in a few sentences."""

from pagecast.studies.pvfs.outcome import PvfsOutcome

__all__ = ["conclusion"]


def conclusion(outcome: PvfsOutcome) -> tuple[str, ...]:
    """Say how many claims hold, and which do not."""
    sentences = []
    for shapes, by in ((outcome.shapes, ""), (outcome.net_shapes, " under petri")):
        if shapes:
            held = sum(one.holds for one in shapes)
            sentences.append(f"{held} of {len(shapes)} claims on the shape of the figures hold{by}.")
            sentences += [f"Missed{by}: {one.claim} ({one.found})." for one in shapes if not one.holds]
    return tuple(sentences)
