"""The loads under the Petri nets of ext3: values of a net instead of keys of a machine.

The same rows fix values as fix keys of the machine. Values that no row fixes are the defaults of the net. The
random load is that of the shipped nets; traces are lists of calls.
"""

from collections.abc import Mapping
from typing import Final

from pagecast.petri import load
from pagecast.petri.nets import path_of
from pagecast.petri.nets.calls import Call
from pagecast.petri.nets.ext3_read import ext3_read
from pagecast.petri.nets.ext3_write import ext3_write
from pagecast.studies.ext3.loads import BLOCK_KIB, FILE_KIB, REQUESTS, trace
from pagecast.studies.ext3.published import RANDOM, Figure
from pagecast.studies.ext3.scenarios import load_bytes

__all__ = ["FIXES", "MODEL", "rate_kib_per_s"]

MODEL: Final = "petri"
"""The name of the column."""

PAGE_KIB: Final = 4

LOAD: Final = {
    "file_pages": FILE_KIB // PAGE_KIB,
    "block_pages": BLOCK_KIB // PAGE_KIB,
    "requests": REQUESTS,
    "is_random": True,
}

WRITES: Final = {"copy_l2_ns": 12_972}
"""Table 6 fixes it."""

CACHE: Final = {"disk_position_ns": 0, "disk_page_ns": 12_800}
"""The disk's cache of 8 MiB takes 4 KiB at the 320 MB/s of Ultra320 SCSI, at no position."""

VALUES: Final[Mapping[int, Mapping[str, object]]] = {
    5: {"copy_l2_ns": 5587, "cached_pages": FILE_KIB // PAGE_KIB},
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


OF_TRACES: Final[Mapping[int, int]] = {7: 5, 8: 6, 10: 9, 12: 11}
"""The table of the random load whose values a table of traces has."""


def rate_kib_per_s(figure: Figure, **values: object) -> float:
    """Give the throughput of a row; `values` are put in the place of its own."""
    of_table = VALUES[OF_TRACES.get(figure.table, figure.table)]
    if figure.load == RANDOM:
        net = load(path_of(f"ext3-{figure.operation}")).with_values(**LOAD, **of_table, **values)
    else:
        build = ext3_read if figure.operation == "read" else ext3_write
        calls = _calls(figure)
        net = build(calls).with_values(file_pages=FILE_KIB // PAGE_KIB, **of_table, **values)
    finished_ns: int = net.run().tokens("Finished")["time"][0]
    return load_bytes(figure) / 1024 * 1e9 / finished_ns


def _calls(figure: Figure) -> list[Call]:
    """Give the requests of a trace, with an fsync at the end of writes."""
    page_bytes = 1024 * PAGE_KIB
    requests = trace(int(figure.load.removeprefix("trace ")))
    firsts = [(one.offset_bytes // page_bytes, one.size_bytes // page_bytes) for one in requests]
    calls = [Call(first, first + pages) for first, pages in firsts]
    return calls if figure.operation == "read" else [*calls, Call(0, 0)]
