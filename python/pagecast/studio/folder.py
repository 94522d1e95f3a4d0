"""Keeps a scenario to its folder: no file outside of it is read, whatever the page sets.

Looked at are the keys with which a scenario names files, ``from`` and ``platform``, also in machine files of
the folder, and what fio's job files include. Shipped machines and disks go by names, which are no files.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pagecast.arguments import shown
from pagecast.errors import ScenarioError

__all__ = ["files_in_folder"]

_KEYS: Final = ("from", "platform")
_INCLUDED: Final = re.compile(rb"^\s*include\s+(\S+)", re.MULTILINE)
_MOST_BYTES: Final = 1 << 20
"""A longer file is a recording, which names no others."""


def files_in_folder(document: Mapping[str, Any], folder: Path) -> list[Path]:
    """Find the files that a scenario names.

    Parameters
    ----------
    document : mapping
        As `tomllib` gives it, with all values set.
    folder : Path
        Of the scenario.

    Returns
    -------
    list of Path
        With symbolic links followed; some may not exist.

    Raises
    ------
    ScenarioError
        One is outside of the folder.
    """
    root = folder.resolve()
    found: list[Path] = []
    parameters = document.get("parameter", {})
    for name in _names(document, parameters if isinstance(parameters, dict) else {}):
        _follow(name, folder, root, found)
    return found


def _follow(name: str, folder: Path, root: Path, found: list[Path]) -> None:
    path = folder / name
    if "/" not in name and not name.endswith(".toml") and not os.path.lexists(path):
        return  # the name of something shipped, or of a host
    real = path.resolve()
    if not real.is_relative_to(root):
        raise ScenarioError(
            f"{shown(name)}: is outside of {shown(root)}, and the studio reads no other folder; "
            "copy the file there"
        )
    if real in found:
        return
    found.append(real)
    for inner in _named_in(real):
        _follow(inner, real.parent, root, found)


def _named_in(path: Path) -> Iterator[str]:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return
        text = path.read_bytes()
    except OSError:
        return  # the core says what is wrong with it
    if path.suffix == ".toml":
        try:
            document = tomllib.loads(text.decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            return
        yield from _names(document, {})
    else:
        yield from (os.fsdecode(each) for each in _INCLUDED.findall(text))


def _names(value: object, parameters: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _KEYS and isinstance(inner, str):
                yield _filled(inner, parameters)
            else:
                yield from _names(inner, parameters)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner, parameters)


def _filled(text: str, parameters: Mapping[str, Any]) -> str:
    """Put parameters in; one may name others."""
    for _ in range(len(parameters)):
        for name, value in parameters.items():
            text = text.replace(f"{{{name}}}", str(value))
    return text
