"""Writes the `.cpn` files of the nets: ``python -m pagecast.petri.nets.generate`` after a change of a net."""

from collections.abc import Callable
from typing import Final

from pagecast.petri.net import Net
from pagecast.petri.nets import NAMES, path_of
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write
from pagecast.petri.nets.pvfs_read import pvfs_read
from pagecast.petri.nets.pvfs_write import pvfs_write

__all__ = ["BUILDERS", "main"]

BUILDERS: Final[dict[str, Callable[[], Net]]] = {
    "ext3-read": ext3_read,
    "ext3-write": ext3_write,
    "pvfs-read": pvfs_read,
    "pvfs-write": pvfs_write,
}
"""What builds each net, by name."""


def main() -> None:
    """Write all files."""
    for name in NAMES:
        BUILDERS[name]().save(path_of(name))


if __name__ == "__main__":
    main()
