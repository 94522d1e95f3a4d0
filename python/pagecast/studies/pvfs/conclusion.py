"""Sums the study up in a few sentences."""

from pagecast.studies.pvfs.outcome import PvfsOutcome

__all__ = ["conclusion"]


def conclusion(outcome: PvfsOutcome) -> tuple[str, ...]:
    """Say how many claims hold, and which do not."""
    held = sum(one.holds for one in outcome.shapes)
    sentences = [f"{held} of {len(outcome.shapes)} claims on the shape of the figures hold."]
    sentences += [f"Missed: {one.claim} ({one.found})." for one in outcome.shapes if not one.holds]
    return tuple(sentences)
