"""Checks of arguments: a message names the argument, the wanted value, and how to get it."""

import operator
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import TypeVar

from pagecast.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "check_flag",
    "check_mapping",
    "check_name",
    "check_number",
    "check_path",
    "check_progress",
    "check_text",
    "check_type",
    "check_whole",
    "check_word",
    "counted",
    "listed",
    "named",
    "shown",
    "texts",
    "written",
]

_LONGEST = 60
"""Characters of a value that a message shows."""

_LONGEST_PATH = 4095
"""Bytes of a path: PATH_MAX of Linux without the null."""

_READABLE_BITS = 20
"""A larger limit is written as a power of two where it is one."""

_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")


def written(value: object) -> str:
    """Give a value as Python writes it; of a long one its beginning."""
    try:
        text = repr(value)
    except Exception:  # a whole number of over 4300 digits, or a class whose own mistake this is
        return f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def shown(path: str | os.PathLike[str]) -> str:
    """Give a name that can be printed, also if it is not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def counted(things: Sequence[object], one: str, several: str = "") -> str:
    """Say how many there are: "1 file", "2 files"."""
    return f"{len(things)} {one if len(things) == 1 else several or f'{one}s'}"


def named(names: Sequence[object], most: int) -> str:
    """Give the first names of several, and how many more there are: "a, b and 3 more"."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def _wrong_type(name: str, value: object, wanted: str) -> ArgumentTypeError:
    return ArgumentTypeError(f"{name}={written(value)} is a {type(value).__name__}, not {wanted}")


def check_type(name: str, value: object, wanted: type[_T], remedy: str) -> _T:
    """Give an argument that must be of a class of ours; `remedy` is how to get one."""
    if not isinstance(value, wanted):
        raise _wrong_type(name, value, f"a {wanted.__name__}; get one with {remedy}")
    return value


def check_mapping(name: str, value: Mapping[_K, _V] | None, example: str) -> dict[_K, _V]:
    """Give a dictionary, an empty one for None; `example` is how to write one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _wrong_type(name, value, f"a dictionary; write {example}")
    return dict(value)


def check_whole(name: str, value: object, *, least: int | None = None, most: int | None = None) -> int:
    """Give a whole number, in a range if there is one; True and 1.0 are none."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise _wrong_type(name, value, "a whole number") from None
    if least is not None and most is None and number < least:
        raise ArgumentError(f"{name}={written(value)}: at least {least} is needed")
    if least is not None and most is not None and not least <= number <= most:
        bits = most.bit_length()
        end = f"2^{bits} - 1" if bits > _READABLE_BITS and most + 1 == 1 << bits else f"{most}"
        raise ArgumentError(f"{name}={written(value)} is not from {least} to {end}")
    return number


def check_number(name: str, value: object, *, of: str) -> float:
    """Give a number that a float holds, infinite or not; `of` says what and how it is written."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong_type(name, value, f"a number of {of}")
    try:
        return float(value)
    except OverflowError:
        raise ArgumentError(f"{name}={written(value)}: is too large") from None


def check_flag(name: str, value: object) -> bool:
    """Give True or False."""
    if not isinstance(value, bool):
        raise _wrong_type(name, value, "True or False")
    return value


def check_word(name: str, value: object, words: Iterable[str]) -> str:
    """Give one of several words."""
    if not isinstance(value, str):
        raise _wrong_type(name, value, "a str")
    known = list(words)
    if value not in known:
        nearest = get_close_matches(value, known, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"choose one of {', '.join(known)}"
        raise ArgumentError(f"{name}={written(value)} is not known; {hint}")
    return value


def check_text(name: str, value: object) -> str:
    """Give a text that is UTF-8."""
    if not isinstance(value, str):
        raise _wrong_type(name, value, "a str")
    if any(unicodedata.category(one) == "Cs" for one in value):
        raise ArgumentError(f"{name}={written(value)} is not UTF-8")
    return value


def check_name(name: str, value: object) -> str:
    """Give a name that somebody chose: UTF-8, not empty, in one line."""
    text = check_text(name, value)
    if not text.strip() or any(unicodedata.category(one) == "Cc" for one in text):
        raise ArgumentError(f"{name}={written(text)} cannot be a name; use letters and digits")
    return text


def check_path(name: str, value: object) -> str:
    """Give a path of this machine as a str, with its bytes where it is not UTF-8."""
    if not isinstance(value, str | os.PathLike):
        raise _wrong_type(name, value, "a str or path-like")
    path = os.fsdecode(value)
    if "\0" in path or len(os.fsencode(path)) > _LONGEST_PATH:
        raise ArgumentError(f"{name}={written(value)} cannot be a path; name a file or directory")
    return path


def check_progress(progress: _T) -> _T:
    """Give the function that is called with the progress, or None."""
    if progress is not None and not callable(progress):
        raise _wrong_type("progress", progress, "a function, or None")
    return progress


def listed(name: str, values: Iterable[_T]) -> list[_T]:
    """Give a list of anything; a text is none."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise _wrong_type(name, values, "a list")
    return list(values)


def texts(name: str, values: Iterable[str]) -> list[str]:
    """Give a list of texts; one text alone is none."""
    if isinstance(values, str):
        raise ArgumentTypeError(f"{name}={written(values)} is a string; write [{written(values)}]")
    return [check_text(name, value) for value in listed(name, values)]
