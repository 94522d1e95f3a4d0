"""Writes texts, keys and values of TOML, which the standard library only reads."""

import json
import re
from typing import Any

__all__ = ["toml_key", "toml_string", "toml_value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_string(text: str) -> str:
    """Give a TOML string; what is not UTF-8 or not to be seen is written out."""
    clean = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """Give a part of a key: as it is, or quoted where it has other signs than a bare key may have."""
    return name if _BARE.fullmatch(name) else toml_string(name)


def toml_value(value: Any) -> str:
    """Give a value in one line: text, number, list or table, as `tomllib` reads them."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return toml_string(value) if isinstance(value, str) else json.dumps(value)
