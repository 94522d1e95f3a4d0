"""How much memory is kept free.

Source: mm/page_alloc.c (calculate_min_free_kbytes, __setup_per_zone_wmarks, setup_per_zone_lowmem_reserve,
__zone_watermark_ok), mm/khugepaged.c (set_recommended_min_free_kbytes: 11 page blocks per populated zone).
Leaves out: a mark per zone; the zones together are one.
"""

import math
from dataclasses import dataclass

from .settings import KIB, PAGE, Vm

DMA32_END = 4 << 30
PAGE_BLOCK = 512  # pages
LOWMEM_RESERVE_RATIO = 256


@dataclass(frozen=True)
class Watermarks:
    """In pages."""

    min: int
    low: int
    high: int

    @classmethod
    def of(cls, memory_bytes: int, vm: Vm, reserve: int | None = None) -> "Watermarks":
        """By the size of the memory, with transparent huge pages.

        What a zone keeps from requests that a higher zone could fulfil comes on top of its marks; with it,
        the high marks are `reserve` pages, totalreserve_pages.
        """
        if vm.min_free_kbytes is None:
            by_size = min(max(math.isqrt(16 * (memory_bytes // KIB)), 128), 262144) * KIB // PAGE
            zones = 2 if memory_bytes <= DMA32_END else 3
            least = max(by_size, min(PAGE_BLOCK * zones * 11, memory_bytes // PAGE // 20))
        else:
            least = vm.min_free_kbytes * KIB // PAGE
        gap = max(least // 4, memory_bytes // PAGE * vm.watermark_scale_factor // 10000)
        if reserve is None:
            protected = max(memory_bytes - DMA32_END, 0) // PAGE // LOWMEM_RESERVE_RATIO
        else:
            protected = max(reserve - (least + 2 * gap), 0)
        least += protected
        return cls(least, least + gap, least + 2 * gap)
