"""Writes the `.cpn` files of the nets: ``python -m pagecast.petri.nets.generate`` after a change of a net."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets import NAMES, path_of
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write
from pagecast.petri.nets.layout import laid_out
from pagecast.petri.nets.pvfs_read import pvfs_read
from pagecast.petri.nets.pvfs_write import pvfs_write

__all__ = ["BUILDERS", "main", "write"]

BUILDERS: Final[dict[str, Callable[[], Net]]] = {
    "ext3-read": ext3_read,
    "ext3-write": ext3_write,
    "pvfs-read": pvfs_read,
    "pvfs-write": pvfs_write,
}
"""What builds each net, by name."""


def write(net: Net, path: str | os.PathLike[str]) -> None:
    """Write a net of these modules as a file of CPN Tools, with the layout of the shipped ones.

    Parameters
    ----------
    net : Net
    path : path-like
    """
    net.save(path)
    file = Path(path)
    file.write_text(laid_out(file.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    """Write all files."""
    for name in NAMES:
        write(BUILDERS[name](), path_of(name))


if __name__ == "__main__":
    main()
