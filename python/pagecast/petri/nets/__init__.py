"""The nets that come with pagecast, as files of CPN Tools; `generate` makes them from the other modules.

Source: chapters 4 and 6 of a dissertation that models ext3 and PVFS as coloured Petri nets.
"""

from pathlib import Path
from typing import Final

from pagecast.errors import ArgumentError

__all__ = ["FOLDER", "NAMES", "path_of"]

NAMES: Final = ("ext3-read", "ext3-write", "pvfs-read", "pvfs-write")
"""Names of the nets."""

FOLDER: Final = Path(__file__).parent


def path_of(name: str) -> Path:
    """Give the file of a net.

    Parameters
    ----------
    name : str
        One of `NAMES`.

    Returns
    -------
    Path

    Raises
    ------
    ArgumentError
        No net has this name.
    """
    if name not in NAMES:
        raise ArgumentError(f"`{name}` is no net of pagecast; there are {', '.join(NAMES)}")
    return FOLDER / f"{name}.cpn"
