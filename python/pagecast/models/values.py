"""Values of the nets that a user has given: they come before those of the machine."""

from collections.abc import Mapping
from typing import Any, Final

from pagecast.arguments import written
from pagecast.errors import ArgumentError, UnknownModelError
from pagecast.petri.net import Net

__all__ = ["Values"]

OF_SCENARIO: Final = frozenset(
    {
        "P_HIGH",
        "P_LOW",
        "P_NORMAL",
        "block_bytes",
        "block_pages",
        "cached_pages",
        "clients",
        "file_bytes",
        "file_pages",
        "first_random",
        "is_cached",
        "is_random",
        "is_synchronous",
        "page_bytes",
        "servers",
    }
)
"""Values that the scenario gives, or that are as they are."""


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

    def check(self, *nets: Net) -> None:
        """Refuse a name that none of some nets declares as a number or a word, and those of the scenario."""
        texts = {name: text for net in nets for name, text in net.values.items()}
        names = sorted(name for name, text in texts.items() if text.isalnum() and name not in OF_SCENARIO)
        for name in self.given:
            if name not in names:
                raise UnknownModelError(f"petri has no option `{name}`; its options are {', '.join(names)}")

    def over(self, settings: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
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
