"""Hostile inputs made of valid ones: a value in guillemets is replaced by one that nobody expects."""

import re
from collections.abc import Iterator, Sequence

__all__ = ["plain", "slots", "spoiled"]

_SLOT = re.compile("«(.*?)»", re.DOTALL)


def plain(seed: str) -> str:
    """Give the valid text."""
    return _SLOT.sub(r"\1", seed)


def slots(seed: str) -> int:
    """Count the values that can be replaced."""
    return len(_SLOT.findall(seed))


def spoiled(seed: str, values: Sequence[str], *, each: int, first: int = 0) -> Iterator[tuple[str, str]]:
    """Replace one value after the other, each by so many of the values in turn.

    Yields
    ------
    tuple of str
        What was replaced by what, and the text.
    """
    at = first
    for number, match in enumerate(_SLOT.finditer(seed)):
        for _ in range(each):
            value = values[at % len(values)]
            at += 1
            text = plain(seed[: match.start()]) + value + plain(seed[match.end() :])
            yield f"{number} {match.group(1)[:30]} -> {value[:40]}", text
