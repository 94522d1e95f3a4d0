"""Measures the cost of new pages by the size of their folios.

A write makes folios as large as its call, up to 2 MiB, where the file system has large ones (ext4 since
Linux 6.16: fs/ext4/inode.c, `ext4_should_enable_large_folio`; mm/filemap.c, `__filemap_get_folio`). Seconds
per page y of calls of S bytes then follow y = page + folio * 4096 / min(S, 2 MiB).
"""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pagecast.calibration.fits import PAGE_BYTES

__all__ = ["FolioCosts", "fit_folios", "has_large_folios", "maps_folios"]

LARGEST_FOLIO_BYTES: Final = 2 << 20
LARGE_SINCE: Final = (6, 16)
MAPPED_SINCE: Final = (6, 18)
"""As in `crates/pagecast-core/src/policy/kernel/version.rs`."""


@dataclass(frozen=True, slots=True)
class FolioCosts:
    """Seconds of each page, and of each folio beside its pages; NaN where it is not known."""

    page_s: float
    folio_s: float


def has_large_folios(kernel_version: str) -> bool:
    """Tell whether ext4 of a kernel, "6.18", has large folios."""
    return _version(kernel_version) >= LARGE_SINCE


def maps_folios(kernel_version: str) -> bool:
    """Tell whether a fault of a mapping maps a whole folio (mm/memory.c, `finish_fault`)."""
    return _version(kernel_version) >= MAPPED_SINCE


def _version(kernel_version: str) -> tuple[int, int]:
    major, minor = map(int, kernel_version.split("."))
    return major, minor


def fit_folios(found: Mapping[int, float]) -> FolioCosts:
    """Tell costs of folios from costs of pages; least squares.

    Parameters
    ----------
    found : mapping of bytes of a call to seconds per byte
        Additional time of new pages; calls are whole pages. NaN is left out.

    Returns
    -------
    FolioCosts
        Of NaN with fewer than two sizes of folios.
    """
    known = {call: seconds for call, seconds in found.items() if not math.isnan(seconds)}
    folios_per_page = [PAGE_BYTES / min(call, LARGEST_FOLIO_BYTES) for call in known]
    if len(set(folios_per_page)) < 2:
        return FolioCosts(math.nan, math.nan)
    line = statistics.linear_regression(folios_per_page, [PAGE_BYTES * each for each in known.values()])
    return FolioCosts(page_s=line.intercept, folio_s=line.slope)
