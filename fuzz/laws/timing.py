"""When operations began and ended, and whether that is the same in two answers."""

from collections.abc import Callable

from fuzz.laws.simulating import Answer

Times = dict[tuple[str, int], tuple[int, int]]
"""By process and index: start and end in nanoseconds."""


def exactly(end_ns: int) -> int:
    """Allow no difference."""
    return 0


def times(answer: Answer) -> Times:
    """Take the times of all operations out of a result."""
    assert answer.result is not None
    table = answer.result.operations
    keys = zip(table["process"], table["index"].tolist(), strict=True)
    spans = zip(*(nanoseconds(table[name]) for name in ("start_s", "end_s")), strict=True)
    return dict(zip(keys, spans, strict=True))


def nanoseconds(column: "list[float]") -> list[int]:
    """Undo the division of whole nanoseconds by 1e9."""
    return [round(seconds * 1e9) for seconds in column]


def times_apart(one: Answer, other: Answer, most_ns: Callable[[int], int] = exactly) -> str:
    """Say which operation has other times, if one has; one that ends then may differ by `most_ns`."""
    if one.result is None or other.result is None:
        return "" if one.result is other.result else f"one is refused: {one.refusal}{other.refusal}"
    others = times(other)
    for key, (start, end) in times(one).items():
        start_now, end_now = others[key]
        if max(abs(start - start_now), abs(end - end_now)) > most_ns(end):
            return f"{key[0]} {key[1]} is from {start} to {end} ns, and from {start_now} to {end_now} ns"
    return ""


def operations_apart(one: Answer, other: Answer) -> str:
    """Say which operation is another one or of other bytes, if one is."""
    if one.result is None or other.result is None:
        return "" if one.result is other.result else f"one is refused: {one.refusal}{other.refusal}"
    others = operations(other)
    for key, operation in operations(one).items():
        if others.get(key) != operation:
            return f"{key[0]} {key[1]} is {operation}, and {others.get(key)}"
    return ""


def operations(answer: Answer) -> dict[tuple[str, int], tuple[str, int]]:
    """Take what each operation is, and its bytes, out of a result."""
    assert answer.result is not None
    table = answer.result.operations
    keys = zip(table["process"], table["index"].tolist(), strict=True)
    kinds = zip(table["operation"], table["bytes"].tolist(), strict=True)
    return dict(zip(keys, kinds, strict=True))
