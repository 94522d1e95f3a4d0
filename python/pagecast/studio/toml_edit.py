"""Writes values into the text of a scenario; comments and layout stay where a place for the value is found.

Places are tried one after the other: the value that is there, an inline table, a table's header, the end of
the file. A try counts only if the text then reads as the document that is wanted. If none does, the keys of
the scenario are written anew, without comments.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pagecast.studio.document import Change, Document, Path, applied, locate
from pagecast.toml_text import toml_key, toml_value

__all__ = ["edited"]

_HEADER: Final = re.compile(r"^[ \t]*(\[\[?)([^\[\]\n=]+)\]\]?[ \t]*(?:#.*)?$", re.MULTILINE)
_MOST_BYTES: Final = 1 << 18
"""A longer text is written anew."""


def edited(text: str, overrides: Sequence[str]) -> str:
    """Give the text of a scenario with values set.

    Parameters
    ----------
    text : str
        TOML.
    overrides : sequence of str
        As for ``--set``.

    Returns
    -------
    str
        TOML that reads as the scenario with these values.

    Raises
    ------
    ScenarioError
        An override leads nowhere.
    """
    for override in overrides:
        document = tomllib.loads(text)
        change = locate(document, override)
        wanted = applied(document, [override])
        if wanted == document:
            continue
        tries = _tries(text, change) if len(text) < _MOST_BYTES else iter(())
        text = next((each for each in tries if _reads_as(each, wanted)), None) or _anew(wanted)
    return text


def _reads_as(text: str, wanted: Document) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _tries(text: str, change: Change) -> Iterator[str]:
    key, value = _key(change.path[-1]), toml_value(change.value)
    for begin, end in _values(text, change.path[-1]):
        yield f"{text[:begin]}{value}{text[end:]}"
    if len(change.path) > 1:
        for at in _insides(text, change.path[-2]):
            is_empty = text[at:].lstrip().startswith("}")
            yield f"{text[:at]} {key} = {value}{'' if is_empty else ','}{text[at:]}"
    for at, depth in _headers(text, change.path):
        yield f"{text[:at]}\n{_dotted(change.path[depth:])} = {value}{text[at:]}"
    if not any(isinstance(part, int) for part in change.path):
        first = _HEADER.search(text)
        at = first.start() if first else len(text)
        if len(change.path) > 1:
            gap = "" if text.endswith("\n") else "\n"
            yield f"{text}{gap}\n[{_dotted(change.path[:-1])}]\n{key} = {value}\n"
        yield f"{text[:at]}{_dotted(change.path)} = {value}\n{text[at:]}"


def _values(text: str, key: str | int) -> Iterator[tuple[int, int]]:
    """Find the values of a key wherever it stands."""
    for match in re.finditer(rf"(?<![\w-])[\"']?{re.escape(str(key))}[\"']?[ \t]*=[ \t]*", text):
        yield match.end(), _end_of_value(text, match.end())


def _insides(text: str, table: str | int) -> Iterator[int]:
    for match in re.finditer(rf"(?<![\w-])[\"']?{re.escape(str(table))}[\"']?[ \t]*=[ \t]*\{{", text):
        yield match.end()


def _headers(text: str, path: Path) -> Iterator[tuple[int, int]]:
    """Find the headers of tables on the way to a path, the longest first: their ends, and their depths."""
    found: list[tuple[int, int]] = []
    counts: dict[str, int] = {}
    for match in _HEADER.finditer(text):
        parts: Path
        try:
            parts = tuple(_flat(tomllib.loads(f"[{match[2]}]")))
        except tomllib.TOMLDecodeError:
            continue
        if match[1] == "[[":
            name = ".".join(map(str, parts))
            parts = (*parts, counts.get(name, 0))
            counts[name] = counts.get(name, 0) + 1
        if path[: len(parts)] == parts and len(parts) < len(path):
            found.append((match.end(), len(parts)))
    return iter(sorted(found, key=lambda each: -each[1]))


def _flat(table: dict[str, Any]) -> Iterator[str]:
    for key, below in table.items():
        yield key
        yield from _flat(below)


def _end_of_value(text: str, begin: int) -> int:
    """Find where a value ends: at the end of its brackets or quotes, or of its word."""
    depth, at = 0, begin
    while at < len(text):
        letter = text[at]
        if letter in "\"'":
            at = _end_of_string(text, at)
            if depth == 0:
                return at
            continue
        if letter == "#" and depth:
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
            continue
        if letter in "[{":
            depth += 1
        elif letter in "]}" and depth:
            depth -= 1
            if depth == 0:
                return at + 1
        elif depth == 0 and letter in " \t\n,#]}":
            return at
        at += 1
    return at


def _end_of_string(text: str, begin: int) -> int:
    quote = text[begin] * 3 if text.startswith(text[begin] * 3, begin) else text[begin]
    at = begin + len(quote)
    while at < len(text) and not text.startswith(quote, at):
        at += 2 if text[at] == "\\" and quote[0] == '"' else 1
    return at + len(quote)


def _key(part: str | int) -> str:
    return toml_key(str(part))


def _dotted(path: Path) -> str:
    return ".".join(map(_key, path))


def _anew(document: Document) -> str:
    """Write a document with a line for each key of a table, tables below the plain values."""
    plain, tables = "", ""
    for key, value in document.items():
        if isinstance(value, dict) and value:
            tables += f"\n[{_key(key)}]\n{_lines(value)}"
        elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            tables += "".join(f"\n[[{_key(key)}]]\n{_lines(each)}" for each in value)
        else:
            plain += _lines({key: value})
    return plain + tables


def _lines(table: dict[str, Any]) -> str:
    return "".join(f"{_key(key)} = {toml_value(value)}\n" for key, value in table.items())
