"""Whose pages are written: the share of each disk in what was written lately on a host.

What it models: each page written counts for its disk and for all; counts are halved every 3 s, until one
page is left. Then time stops until the next page, and no disk has a share: the kernel counts per processor,
and does not see so few.
Source: lib/flex_proportions.c; mm/page-writeback.c (wb_domain_writeout_add, writeout_period).
"""

FULL = 1024  # FPROP_FRAC_BASE


class Share:
    """The count of one disk, up to date at some period."""

    def __init__(self) -> None:
        self.events = self.period = 0


class Fractions:
    def __init__(self, hz: int):
        self.length = 3 * hz
        self.events, self.period = 1, 0
        self.period_ends: int | None = None

    def add(self, share: Share, pages: int, now: int, most: int = FULL) -> None:
        """Count pages, but only as far as the share is at most so many 1024ths (__fprop_add_percpu_max)."""
        self._go_on(share, now)
        if most < FULL:
            room = self.events * most - share.events * FULL
            pages = 0 if room < 0 else min(pages, -(-room // (FULL - most)))
        share.events += pages
        self.events += pages
        if self.period_ends is None:
            self.period_ends = now + self.length

    def of(self, share: Share, now: int) -> tuple[int, int]:
        """The share as (numerator, denominator)."""
        self._go_on(share, now)
        return (0, 1) if self.period_ends is None else (share.events, self.events)

    def _go_on(self, share: Share, now: int) -> None:
        while self.period_ends is not None and self.period_ends <= now:
            if self.events <= 1:
                self.period_ends = None
            else:
                self.events >>= 1
                self.period += 1
                self.period_ends += self.length
        share.events >>= self.period - share.period
        share.period = self.period
