"""What the commands of `pagecast petri` share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pagecast.arguments import shown
from pagecast.cli import options
from pagecast.petri import Net, load
from pagecast.petri.nets import NAMES, path_of

__all__ = ["cut", "loaded", "net", "values"]

_LONGEST = 200
"""Characters of a marking in a table."""

net: Callable[[Any], Any] = click.argument("net", metavar="NET.cpn", type=options.FileName())
"""The file of a net, or the name of one that comes with pagecast."""

values: Callable[[Any], Any] = click.option(
    "--set",
    "values",
    multiple=True,
    type=options.Text(),
    metavar="NAME=VALUE",
    help="Another value for a `val` of the net, in CPN ML; may be given several times.",
)
"""Values of the net."""


def loaded(path: Path, values: tuple[str, ...]) -> Net:
    """Load a net, with other values.

    Parameters
    ----------
    path : Path
        The file, or where there is none, the name of a net that comes with pagecast.
    values : tuple of str
        Each is ``NAME=VALUE``.

    Returns
    -------
    Net
    """
    found: dict[str, object] = {}
    for text in values:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise click.BadParameter(f"`{shown(text)}` is no NAME=VALUE", param_hint="--set")
        found[name.strip()] = value.strip()
    name = str(path)
    of = load(path_of(name) if name in NAMES and not path.exists() else path)
    return of.with_values(**found) if found else of


def cut(text: str) -> str:
    """Cut a marking for a table.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
