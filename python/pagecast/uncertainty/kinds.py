"""Tells kinds of I/O apart, for each of which the error of the model is learned by itself.

A write is synchronous where most of its time goes by at the device, the journal or the network: O_DIRECT,
O_SYNC and O_DSYNC. A process, a case or a scenario is of the kind that takes `MOST` of its time, else mixed.
"""

import tomllib
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pagecast.kinds import NO_IO

if TYPE_CHECKING:
    from pagecast.api import Scenario
    from pagecast.result import Columns

__all__ = ["KINDS", "NAMES", "Kind", "kind_of_whole", "kinds_of_rows", "nfs_mounts", "seconds_by_kind"]

Kind: TypeAlias = Literal["read", "buffered_write", "synchronous", "mixed", "nfs"]

NAMES: Final[dict[Kind, str]] = {
    "read": "reads",
    "buffered_write": "buffered writes",
    "synchronous": "fsync and synchronous writes",
    "mixed": "mixed I/O",
    "nfs": "NFS",
}
"""How texts call the kinds."""

KINDS: Final[tuple[Kind, ...]] = tuple(NAMES)

MOST: Final = 0.8
"""A whole is of one kind from this share of its time on."""

_READS: Final = frozenset({"read", "fread", "mmap_read", "readahead"})
_WRITES: Final = frozenset({"write", "fwrite", "mmap_write", "truncate"})
_SYNCS: Final = frozenset({"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"})
_WAITS_FOR_DEVICE: Final = ("device_write_s", "journal_s", "network_s", "server_s", "queueing_s")
"""Parts of a write that returns when its bytes are durable."""


def kinds_of_rows(table: "Columns", parts: "Columns", nfs: Collection[str] = ()) -> list[Kind | None]:
    """Give the kind of each row of a table of operations.

    Parameters
    ----------
    table, parts : Columns
        `operations` and `parts`, or `latency` and `latency_parts`: the same rows.
    nfs : collection of str
        Mount points of NFS.

    Returns
    -------
    list of str or None
        None of what is not about files; mixed of copies, and of operations on names.
    """
    waits = np.sum([parts[name] for name in _WAITS_FOR_DEVICE], axis=0)
    whole = np.sum([parts[name] for name in parts if name.endswith("_s")], axis=0)
    is_synchronous = (2 * waits > whole) & (whole > 0)
    rows = zip(table["operation"], table["path"], is_synchronous.tolist(), strict=True)
    return [_kind(operation, path, synchronous, nfs) for operation, path, synchronous in rows]


def _kind(operation: str, path: str, is_synchronous: bool, nfs: Collection[str]) -> Kind | None:
    if operation in NO_IO:
        return None
    if any(path == mount or path.startswith(f"{mount.rstrip('/')}/") for mount in nfs):
        return "nfs"
    if operation in _READS:
        return "read"
    if operation in _SYNCS:
        return "synchronous"
    if operation in _WRITES:
        return "synchronous" if is_synchronous else "buffered_write"
    return "mixed"


def seconds_by_kind(kinds: list[Kind | None], time_s: NDArray[np.float64]) -> dict[Kind, float]:
    """Add up the times of rows by their kinds."""
    found: dict[Kind, float] = {}
    for kind, seconds in zip(kinds, time_s.tolist(), strict=True):
        if kind is not None:
            found[kind] = found.get(kind, 0.0) + seconds
    return found


def kind_of_whole(seconds: Mapping[Kind, float]) -> Kind:
    """Give the kind of a whole by the seconds of each kind in it; mixed where none takes `MOST`."""
    total = sum(seconds.values())
    return next((kind for kind, time_s in seconds.items() if time_s >= MOST * total > 0), "mixed")


def nfs_mounts(scenario: "Scenario") -> frozenset[str]:
    """Give the mount points of NFS of all hosts."""
    machine = tomllib.loads(scenario.machine.to_toml())
    hosts = machine.get("host", {"": machine.get("machine", {})})
    return frozenset(
        path for host in hosts.values() for path, mount in host.get("mount", {}).items() if "nfs" in mount
    )
