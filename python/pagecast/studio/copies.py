"""The settings of the page to take away: the scenario's TOML with them, and the command that simulates it."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from pagecast.api import Scenario
from pagecast.arguments import shown
from pagecast.errors import ScenarioError
from pagecast.studio.toml_edit import edited

__all__ = ["as_command", "as_toml"]


def as_toml(text: bytes, path: Path, overrides: Sequence[str]) -> str:
    """Give the text of a scenario with values set, checked to describe the same machine.

    Parameters
    ----------
    text : bytes
    path : Path
        Of the scenario, for messages and relative files.
    overrides : sequence of str
        As for ``--set``.

    Returns
    -------
    str

    Raises
    ------
    ScenarioError
        The scenario or a value cannot be understood.
    """

    def read(content: str | bytes, values: Sequence[str]) -> Scenario:
        return Scenario.from_toml(content, origin=shown(path), base_dir=path.parent, set=values)

    wanted = read(text, overrides)
    found = edited(text.decode(), overrides)
    try:
        is_same = read(found, ()).machine_hash == wanted.machine_hash
    except ScenarioError:
        is_same = False
    if not is_same:
        raise ScenarioError("these values cannot be written into the scenario; copy them as a command")
    return found


def as_command(path: Path, models: Sequence[str], overrides: Sequence[str], *, seed: int = 0) -> str:
    """Give the command that prints the figures of the page.

    Parameters
    ----------
    path : Path
        As the user named it.
    models : sequence of str
    overrides : sequence of str
    seed : int

    Returns
    -------
    str
        For a shell.
    """
    words = ["pagecast", "simulate", shown(path)]
    words += [word for model in models for word in ("--model", model)]
    words += [word for override in overrides for word in ("--set", override)]
    words += ["--seed", str(seed)] if seed else []
    return shlex.join(words)
