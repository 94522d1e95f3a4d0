"""Makes a document that breaks a law smaller: leaves out what can be left out, and rounds numbers."""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fuzz.laws.document import Table

Path = tuple[str | int, ...]
Step = Callable[[Table], Table]
REQUIRED = ("file", "process", "do", "path", "name", "host", "between", "flags", "machine")


def shrunk(
    document: Table, is_broken: Callable[[Table], bool], is_over: Callable[[], bool] = lambda: False
) -> Table:
    """Give the smallest document found that breaks the law still, or the best one until the time is over."""
    has_changed = True
    while has_changed:
        has_changed = False
        for step in steps(document):
            try:
                smaller = step(document)
            except LookupError:
                continue  # its place has gone with another step
            if is_over():
                return document
            if is_broken(smaller):
                document, has_changed = smaller, True
    return document


def steps(document: Table) -> Iterator[Step]:
    """Give ways to make it smaller: whole processes first, then operations, tables, keys, then numbers."""
    places = sorted(walk(document, ()), key=lambda place: len(place[0]))
    for path, value in places:
        if path[-1] not in REQUIRED:
            yield partial(without, path)
        if isinstance(value, dict) and "repeat" in value:
            yield partial(unrolled, path)
    for path, value in places:
        for simpler in simpler_values(value):
            yield partial(with_value, path, simpler)


def place_of(document: Table, path: Path) -> Any:
    """Give the table or list that a value is in."""
    for key in path[:-1]:
        document = document[key]
    return document


def without(path: Path, document: Table) -> Table:
    result = copy.deepcopy(document)
    del place_of(result, path)[path[-1]]
    return result


def unrolled(path: Path, document: Table) -> Table:
    result = copy.deepcopy(document)
    steps, at = place_of(result, path), path[-1]
    steps[at : at + 1] = steps[at]["do"]
    return result


def with_value(path: Path, value: Any, document: Table) -> Table:
    result = copy.deepcopy(document)
    place = place_of(result, path)
    if place[path[-1]] <= value:
        raise KeyError(path[-1])
    place[path[-1]] = value
    return result


def walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Visit every value with its place, the last entries of a list first."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for index in reversed(range(len(value))):
            yield from walk(value[index], (*path, index))


def simpler_values(value: Any) -> Iterator[Any]:
    """Give rounder numbers of about the same size, so that the scenario stays a likely one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 2:
        return
    kind = type(value)
    if kind is int:
        yield from (1, value // 2)
        return
    for digits in (1, 2, 3):
        step = 10 ** max(0, len(str(int(value))) - digits)
        yield kind(int(value) // step * step)
