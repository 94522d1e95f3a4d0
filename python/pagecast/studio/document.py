"""Sets values in the document of a scenario, as the core does for ``--set`` (`scenario/overrides.rs`)."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pagecast.arguments import named, shown
from pagecast.errors import ScenarioError

__all__ = ["Change", "Document", "Path", "applied", "locate"]

Document: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]
"""Keys of tables, and places in lists of tables."""

_SUPERSEDED: Final = {
    "read": ("read_at",),
    "write": ("write_at",),
    "disk": ("nfs", "link"),
    "nfs": ("disk", "write_mode"),
}
"""Keys that go when a value is set: `SUPERSEDED` of `scenario/machine_file.rs`."""

_MARKS: Final = ("{", "[", '"', "'")
"""A value that begins so is TOML; any other one may be a text without quotes."""

_TEXTS: Final = ("version",)
"""Keys that hold text which looks like a number; it stays as typed."""


@dataclass(frozen=True)
class Change:
    """A value that is set.

    Attributes
    ----------
    path : Path
        Where it is in the document.
    value : object
        As `tomllib` gives values.
    removed : tuple of str
        Keys beside it that it replaces.
    """

    path: Path
    value: Any
    removed: tuple[str, ...]


def applied(document: Document, overrides: Sequence[str]) -> Document:
    """Give a document with values set, in their order.

    Parameters
    ----------
    document : dict
        As `tomllib` gives it; it stays as it is.
    overrides : sequence of str
        As for ``--set``.

    Returns
    -------
    dict

    Raises
    ------
    ScenarioError
        A text that sets nothing.
    """
    for override in overrides:
        document = _with(document, locate(document, override))
    return document


def locate(document: Document, override: str) -> Change:
    """Find where an override sets a value, and which.

    Raises
    ------
    ScenarioError
        It leads nowhere.
    """
    try:
        key, typed = _split(override)
        path = _walk(document, _segments(key))
        value = _value(str(path[-1]), typed)
    except ScenarioError as error:
        raise ScenarioError(f"--set {shown(override)}: {error}") from None
    beside = _below(document, path[:-1])
    removed = tuple(other for other in _SUPERSEDED.get(str(path[-1]), ()) if other in beside)
    return Change(path, value, removed)


def _with(document: Document, change: Change) -> Document:
    changed = dict(document)
    below: Any = changed
    for key in change.path[:-1]:
        inner = below[key] if isinstance(key, int) else below.get(key, {})
        below[key] = [*inner] if isinstance(inner, list) else dict(inner)
        below = below[key]
    for other in change.removed:
        del below[other]
    below[change.path[-1]] = change.value
    return changed


def _below(document: Document, path: Path) -> Mapping[str, Any]:
    below: Any = document
    for key in path:
        below = below[key] if isinstance(key, int) else below.get(key, {})
    return below if isinstance(below, dict) else {}


def _split(override: str) -> tuple[str, str]:
    quote = ""
    for at, letter in enumerate(override):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "=":
            return override[:at].strip(), override[at + 1 :].strip()
    raise ScenarioError("there is no `=`; write for example machine.vm.dirty_ratio=10")


def _segments(key: str) -> list[tuple[str, bool]]:
    """Split at dots outside of quotes; with each part whether it was quoted."""
    found, quote, is_quoted = [""], "", [False]
    for letter in key:
        if quote and letter == quote:
            quote = ""
        elif not quote and letter in "\"'":
            quote, is_quoted[-1] = letter, True
        elif not quote and letter == ".":
            found.append("")
            is_quoted.append(False)
        else:
            found[-1] += letter
    if quote or any(not each.strip() for each in found):
        raise ScenarioError(f"`{shown(key)}` is no key; write for example machine.vm.dirty_ratio")
    return [*zip(found, is_quoted, strict=True)]


def _walk(document: Document, segments: list[tuple[str, bool]]) -> Path:
    path: list[str | int] = []
    below: Any = document
    while segments:
        if isinstance(below, list):
            names = [each.get("name", each.get("path")) for each in below if isinstance(each, dict)]
            name, segments = _take(segments, names)
            if name not in names:
                raise ScenarioError(f"there is no `{shown(name)}`; there are {named(names, 8)}")
            if not segments:
                raise ScenarioError(f"the key ends at `{shown(name)}`; say which of its keys")
            path.append(names.index(name))
            below = below[names.index(name)]
        elif isinstance(below, dict):
            name, segments = _take(segments, below)
            path.append(name)
            below = below.get(name, {})
        else:
            what = f"`{shown(segments[0][0])}` is inside a value, which has no keys"
            raise ScenarioError(f"{what}; shorten the key")
    return tuple(path)


def _take(
    segments: list[tuple[str, bool]], known: Sequence[str | None] | Mapping[str, Any]
) -> tuple[str, list[tuple[str, bool]]]:
    """Take the first part, joined with as many of the next as make a key that exists."""
    joined = segments[0][0]
    for at in range(1, len(segments)):
        if joined in known or segments[at][1] or segments[at - 1][1]:
            return (joined, segments[at:]) if joined in known else (segments[0][0], segments[1:])
        joined = f"{joined}.{segments[at][0]}"
    return (joined, []) if joined in known else (segments[0][0], segments[1:])


def _value(key: str, typed: str) -> Any:
    if key in _TEXTS:
        return typed.strip("\"'")
    try:
        found = tomllib.loads(f"x = {typed}")
    except tomllib.TOMLDecodeError:
        if typed[:1] in _MARKS or "\n" in typed:
            raise ScenarioError("the value is no TOML; close its quotes and brackets") from None
        return typed
    if [*found] != ["x"]:
        raise ScenarioError("the value is more than one line; give it in one")
    return found["x"]
