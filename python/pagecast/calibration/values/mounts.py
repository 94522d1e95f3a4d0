"""The keys of a machine file for its file system: commits of its journal, and giving blocks back."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from pagecast.calibration.facts import PAGE_BYTES
from pagecast.calibration.measure import BLOCK_BYTES, SMALL_BYTES, Cell
from pagecast.calibration.rounds import Rounds
from pagecast.calibration.values.functions import name_costs
from pagecast.calibration.values.value import Value, beyond_noise, show_call, show_size, show_time

__all__ = ["mount_values"]

EXPIRED_S: Final = 30.0
"""`dirty_expire_centisecs`: then Linux begins to write what it was told, also below a virtual machine."""
OLD_PART: Final = 0.5
"""Blocks cost nothing any more that cost less than this part of what young ones do."""


def mount_values(rounds: Rounds) -> Iterator[Value]:
    """Give the keys of `[mount]` that were measured.

    Parameters
    ----------
    rounds : Rounds

    Yields
    ------
    Value
        In the order of the file.
    """
    yield from _commit(rounds)
    yield from name_costs(rounds.all.functions)
    yield from _giving_back(rounds)


def _commit(rounds: Rounds) -> Iterator[Value]:
    pairs = zip(*(rounds.of(Cell(what, BLOCK_BYTES)) for what in ("append", "fdatasync")), strict=False)
    how = "fsync of a file that a block of 4 KiB has made longer, beyond fdatasync of one written over"
    yield from beyond_noise("mount.commit", [more - less for more, less in pairs], how)


def _giving_back(rounds: Rounds) -> Iterator[Value]:
    """Divide the time of cutting a small and a large file by pages, by blocks, and by file."""
    size = rounds.all.drain_bytes
    pages = (size - SMALL_BYTES) / PAGE_BYTES
    if pages <= 0:
        return
    both = list(zip(rounds.of(Cell("free")), rounds.of(Cell("free small")), strict=False))
    each = [(large - small) / pages for large, small in both]
    first = [small - page_s * SMALL_BYTES / PAGE_BYTES for (_, small), page_s in zip(both, each, strict=True)]
    removed = rounds.per_page("remove", PAGE_BYTES)
    freed = [page_s - removed_s for page_s, removed_s in zip(each, removed, strict=False)]
    how = f"cutting files of {show_call(SMALL_BYTES)} and {show_size(size)} that are on the disk to nothing"
    block_how = f"{how}, beyond taking their pages away; each 4 KiB"
    blocks = list(beyond_noise("mount.block_free", freed, block_how))
    yield from blocks
    if blocks:
        yield from _old_blocks(rounds, freed, first, removed)
    yield from beyond_noise("mount.file_free", first, f"{how}; what both take")


def _old_blocks(
    rounds: Rounds, freed: Sequence[float], first: Sequence[float], removed: Sequence[float]
) -> Iterator[Value]:
    """Say that blocks cost nothing any more once the host of the machine has them on a disk of its own."""
    freed_s, first_s, removed_s = (median(each) for each in (freed, first, removed))
    age_s = rounds.all.put_s
    old_s = max(0.0, (rounds.all.old_cut_s - first_s) / (rounds.all.drain_bytes / PAGE_BYTES) - removed_s)
    if age_s < EXPIRED_S or old_s > OLD_PART * freed_s:
        return
    how = "cited: dirty_expire_centisecs of a host that runs Linux; "
    how += f"measured: {show_time(old_s)} for each 4 KiB of a file {age_s:.0f} s old"
    yield Value("mount.block_free_within", f'"{EXPIRED_S:g} s"', how)
