"""Takes the table ``[sweep]`` out of the text of a scenario; the core reads the rest.

The table is for `pagecast.sweep` alone. Its lines become blank, so that messages about the rest name the
right lines. Left out: ``sweep`` as an inline table or with a dotted key at the top of the file.
"""

import re
import tomllib
from typing import Any, Final

from pagecast.arguments import shown
from pagecast.errors import ScenarioError

__all__ = ["SWEEP_SCHEMA", "split_sweep_table"]

SWEEP_SCHEMA: Final = {
    "additionalProperties": False,
    "description": "What pagecast sweep varies and measures; other commands pass over it",
    "properties": {
        "measure": {
            "description": "Measures, such as p99(db fsync)",
            "items": {"type": "string"},
            "type": ["array", "string"],
        },
        "model": {"description": "The model to ask", "type": "string"},
        "sample": {"description": "latin:N or latin:N:SEED, instead of every combination", "type": "string"},
        "vary": {"description": "Values by key, keys as for --set: a text, or a list", "type": "object"},
    },
    "type": "object",
}
"""The table in the JSON schema of a scenario."""

_OURS = re.compile(rb"\s*\[\s*sweep\s*(\.[^\]\n]*)?\]\s*(#.*)?")
_HEADER = re.compile(rb"\s*\[\[?\s*[\w\"'-][^=\n]*\]\]?\s*(#.*)?")


def split_sweep_table(text: bytes, origin: str) -> tuple[bytes, dict[str, Any] | None]:
    """Split a scenario.

    Parameters
    ----------
    text : bytes
        TOML.
    origin : str
        Name of the text in messages.

    Returns
    -------
    tuple of bytes and dict or None
        The text with the lines of the table blank, and what the table holds; None if there is none.

    Raises
    ------
    ScenarioError
        The table is no TOML.
    """
    if b"sweep" not in text:
        return text, None
    lines = text.split(b"\n")
    ours = _lines_of_the_table(lines)
    if not any(ours):
        return text, None
    rest = b"\n".join(b"" if mine else line for line, mine in zip(lines, ours, strict=True))
    alone = b"\n".join(line if mine else b"" for line, mine in zip(lines, ours, strict=True))
    try:
        found: dict[str, Any] = tomllib.loads(f"{alone.decode()}\n")["sweep"]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{shown(origin)}: the table [sweep] is no TOML ({error})") from None
    return rest, found


def _lines_of_the_table(lines: list[bytes]) -> list[bool]:
    """Tell which lines belong to it: from its headers to the next header of another table.

    A line of a list may look like a header. So a part that is no TOML by itself goes on to the next one.
    """
    ours = [False] * len(lines)
    at = 0
    while at < len(lines):
        if not _OURS.fullmatch(lines[at].rstrip(b"\r")):
            at += 1
            continue
        ends = [n for n in range(at + 1, len(lines)) if _HEADER.fullmatch(lines[n].rstrip(b"\r"))]
        ends.append(len(lines))
        end = next((end for end in ends if _is_toml(lines[at:end])), ends[0])
        ours[at:end] = [True] * (end - at)
        at = end
    return ours


def _is_toml(lines: list[bytes]) -> bool:
    try:
        tomllib.loads(b"\n".join([*lines, b""]).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    return True
