"""Values of the nets that a user has given: they come before those of the machine."""

from collections.abc import Iterable, Mapping
from typing import Any

from pagecast.arguments import written
from pagecast.errors import ArgumentError, UnknownModelError

__all__ = ["Values"]


class Values:
    """Options of the model.

    Parameters
    ----------
    given : mapping of str to str
        Whole numbers, truth values, or a word of an enumeration.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = dict(given)
        self._read = {name: _value(name, text) for name, text in given.items()}

    def check(self, known: Iterable[str]) -> None:
        """Refuse a name that no net declares."""
        names = sorted(known)
        for name in self.given:
            if name not in names:
                raise UnknownModelError(
                    f"petri has no option `{name}`; the values of its nets are {', '.join(names)}"
                )

    def over(self, settings: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
        """Give the settings of a net with those that were given and that it knows."""
        return {**settings, **{name: value for name, value in self._read.items() if name in known}}


def _value(name: str, text: str) -> int | bool | str:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        if text.isidentifier():
            return text
    raise ArgumentError(f"{name}={written(text)} is no whole number, truth value or word of a net")
