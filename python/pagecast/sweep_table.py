"""The table ``[sweep]`` of a scenario: what `pagecast.sweep` varies and measures. The core passes over it."""

import tomllib
from typing import Any, Final

from pagecast.arguments import shown
from pagecast.errors import ScenarioError

__all__ = ["SWEEP_SCHEMA", "sweep_table"]

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


def sweep_table(text: bytes, origin: str) -> dict[str, Any] | None:
    """Give the table of a scenario, or None.

    Parameters
    ----------
    text : bytes
        TOML.
    origin : str
        Name of the text in messages.

    Returns
    -------
    dict or None

    Raises
    ------
    ScenarioError
        The text is no TOML.
    """
    if b"sweep" not in text:
        return None
    try:
        found: dict[str, Any] | None = tomllib.loads(text.decode()).get("sweep")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{shown(origin)}: no TOML ({error})") from None
    return found
