"""In which state the storage was while a series was written: its machine, and which writes went into that.

A machine file stands for a state of the storage. Buffered series have that of their group, for which CAWL had
one set of calibration values. Series past the page cache have others: one flusher drains dirty pages more
slowly than one writer writes directly, small writes make a RAID 5 read before it writes, and the write cache
of nvram1 had room or had none.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Final

from pagecast.studies.cawl.series import Series

__all__ = ["MACHINES", "is_calibration", "machine_of", "parameters"]

MACHINES: Final = {
    "A": "cawl-host1-a",
    "B": "cawl-host1-b",
    "C": "cawl-host1-c",
    "N": "cawl-nvram1-n",
}
"""The machine of each group of series."""

HOST_2: Final = "cawl-host2"
"""The machine of series of which nothing was published."""

_PAST_CACHE: Final = {
    "h1_direct_sizes_5": "cawl-host1-a-direct",
    "h1_sync_sizes_5": "cawl-host1-a-direct",
    "h1_sync_1k_rep2": "cawl-host1-a-direct",
    "h1_direct_sizes_512": "cawl-host1-a-small",
    "h1_sync_sizes_512": "cawl-host1-a-small",
    "nv_direct_1k": "cawl-nvram1-cache",
    "nv_direct_1k_rep2": "cawl-nvram1-cache",
    "nv_sync_1k": "cawl-nvram1-cache",
    "nv_sync_1k_rep2": "cawl-nvram1-cache",
    "nv_direct_sizes_512": "cawl-nvram1-cache",
    "nv_direct_sizes_512_4m": "cawl-nvram1-cache",
    "nv_sync_sizes_16m": "cawl-nvram1-cache",
    "nv_direct_sizes": "cawl-nvram1-direct",
    "nv_sync_sizes": "cawl-nvram1-direct",
    "nv_direct_sizes_5": "cawl-nvram1-direct",
    "nv_sync_sizes_5": "cawl-nvram1-direct",
}
"""The machine of series that were written past the page cache, where it is not that of their group."""

_CALIBRATING: Final[Mapping[str, int]] = {
    "h1_direct_1k": 1024,
    "h1_direct_sizes": 64,
    "h1_sync_sizes": 32,
    "h1_direct_sizes_5": 5,
    "h1_direct_sizes_512": 1024,
    "nv_direct_1k": 1024,
    "nv_sync_sizes": 64,
    "nv_direct_sizes_512_4m": 8192,
}
"""How many writes, from the first on, of a series past the page cache went into its machine."""


def machine_of(series: Series) -> str:
    """Name the machine that stands for the state of the storage while a series was written."""
    return _PAST_CACHE.get(series.name) or MACHINES.get(series.group, HOST_2)


def is_calibration(series: Series, write: float | None = None) -> bool:
    """Say whether values of the series' own machine may come from it, or from one of its writes.

    Parameters
    ----------
    series : Series
    write : float, optional
        Counted from 1; without it, the question is whether they may come from any.

    Returns
    -------
    bool
        Of buffered series, whether they were written without pause.
    """
    if series.is_buffered:
        return series.pause_s == 0
    return (write or 1) <= _CALIBRATING.get(series.name, 0)


def parameters(machine: str) -> list[str]:
    """Name the values that a machine does not share with all others of its hardware.

    Parameters
    ----------
    machine : str
        A shipped name.

    Returns
    -------
    list of str
        Keys of its file, and of those that it is made from but the last, which is the hardware's.
    """
    from pagecast.api import machine_path

    table = tomllib.loads(machine_path(machine).read_text(encoding="utf-8"))
    if "from" not in table:
        return []
    own = _leaves({name: value for name, value in table.items() if isinstance(value, dict)})
    return list(dict.fromkeys([*parameters(table["from"]), *own]))


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"
