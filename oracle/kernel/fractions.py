"""Whose pages are written: the share of each disk in what was written lately on a host.

What it models: each page written counts for its disk and for all; counts are halved every 3 s, until one
page is left. Then time stops until the next page. The kernel counts on each processor by itself, and tells
in batches. So with one processor the last pages of a disk are gone some periods early, or stay. Which of
several counts what is not known: there all is counted exactly, and nothing is left in the end.
Source: lib/flex_proportions.c; lib/percpu_counter.c; mm/page-writeback.c (wb_domain_writeout_add,
writeout_period).
Leaves out: folios larger than a page.
"""

FULL = 1024  # FPROP_FRAC_BASE


class Counter:
    """A percpu_counter that one processor uses."""

    def __init__(self, told: int, batch: int):
        self.told, self.pending, self.batch = told, 0, batch

    @property
    def sum(self) -> int:
        return self.told + self.pending

    def add(self, amount: int) -> None:
        self.pending += amount
        if abs(self.pending) >= self.batch:
            self.told, self.pending = self.sum, 0

    def add_each(self, number: int) -> None:
        """Add so many, one by one."""
        pending = self.pending + number
        self.pending = pending % self.batch if pending >= self.batch else pending
        self.told += pending - self.pending


class Share:
    """The count of one disk, up to date at some period."""

    def __init__(self, cores: int) -> None:
        self.events, self.period = Counter(0, 8 if cores == 1 else 1), 0  # PROP_BATCH

    def go_on(self, period: int) -> None:
        """fprop_reflect_period_percpu."""
        if period > self.period:
            count = self.events.sum if self.events.told < self.events.batch else self.events.told
            self.events.add((count >> (period - self.period)) - count)
            self.period = period


class Fractions:
    def __init__(self, hz: int, cores: int):
        self.length, self.cores = 3 * hz, cores
        self.events, self.period = Counter(1, 32 if cores == 1 else 1), 0
        self.period_ends: int | None = None

    def share(self) -> Share:
        return Share(self.cores)

    def add(self, share: Share, pages: int, now: int, most: int = FULL) -> None:
        """Count pages, but only as far as the share is at most so many 1024ths (__fprop_add_percpu_max)."""
        part, whole = self.of(share, now)
        if most < FULL:
            room = whole * most - part * FULL
            pages = 0 if room < 0 else min(pages, -(-room // (FULL - most)))
        share.events.add_each(pages)
        self.events.add_each(pages)
        if self.period_ends is None and pages:
            self.period_ends = now + self.length

    def of(self, share: Share, now: int) -> tuple[int, int]:
        """The share as (numerator, denominator)."""
        while self.period_ends is not None and self.period_ends <= now:
            if self.events.sum <= 1:
                self.period_ends = None
            else:
                self.events.add((self.events.sum >> 1) - self.events.sum)
                self.period += 1
                self.period_ends += self.length
        if self.cores > 1 and self.period_ends is None:
            return 0, 1
        share.go_on(self.period)
        part = max(share.events.told, 0)
        return part, max(self.events.told, part, 1)
