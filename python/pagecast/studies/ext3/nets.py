"""The random load under the shipped Petri nets of ext3: values of a net instead of keys of a machine.

The same rows fix values as fix keys of the machine. Values that no row fixes are the defaults of the net.
"""

from collections.abc import Mapping
from typing import Final

from pagecast.petri import load
from pagecast.petri.nets import path_of
from pagecast.studies.ext3.loads import BLOCK_KIB, FILE_KIB, REQUESTS
from pagecast.studies.ext3.published import Figure

__all__ = ["FIXES", "MODEL", "rate_kib_per_s"]

MODEL: Final = "petri"
"""The name of the column."""

LOAD: Final = {
    "file_pages": FILE_KIB // 4,
    "block_pages": BLOCK_KIB // 4,
    "requests": REQUESTS,
    "is_random": True,
}

WRITES: Final = {"copy_l2_ns": 12_972}
"""Table 6 fixes it."""

CACHE: Final = {"disk_position_ns": 0, "disk_page_ns": 12_800}
"""The disk's cache of 8 MiB takes 4 KiB at the 320 MB/s of Ultra320 SCSI, at no position."""

VALUES: Final[Mapping[int, Mapping[str, object]]] = {
    5: {"copy_l2_ns": 5587, "cached_pages": FILE_KIB // 4},
    6: {**WRITES, **CACHE},
    9: {**WRITES, **CACHE, "journal_mode": "data"},
    11: {**WRITES, "is_synchronous": True, "disk_position_ns": 625_275},
}
"""By table. Table 5 fixes T_L2 of reads, and Table 11 the time of a request of which each is waited for."""

FIXES: Final[Mapping[int, str]] = {
    5: "copy_l2_ns of ext3-read",
    6: "copy_l2_ns of ext3-write",
    11: "disk_position_ns of ext3-write",
}
"""The value that the row of a table fixes."""


def rate_kib_per_s(figure: Figure, **values: object) -> float:
    """Give the throughput of a row of the random load; `values` are put in the place of its own."""
    net = load(path_of(f"ext3-{figure.operation}")).with_values(**LOAD, **VALUES[figure.table], **values)
    finished_ns: int = net.run().tokens("Finished")["time"][0]
    return REQUESTS * BLOCK_KIB * 1e9 / finished_ns
