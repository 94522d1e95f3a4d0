"""The curves of the dissertation's figures, forecast and judged by their shape, as no numbers are printed.

Each judgement has its tolerance beside it, named before any forecast was looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pagecast.comparison.shapes import Shape

__all__ = ["BLOCKS_KIB", "CURVES", "GRID", "L2_KIB", "MIB", "Curve", "Rates", "drop_off", "judge"]

MIB: Final = 1024

BLOCKS_KIB: Final = tuple(4 << power for power in range(13))
"""4 KiB to 16 MiB."""

FILES_KIB: Final = (
    4,
    64,
    MIB,
    16 * MIB,
    64 * MIB,
    128 * MIB,
    256 * MIB,
    *(512 * MIB * k for k in range(1, 11)),
)
"""4 KiB to 5 GiB, more than the memory."""

L2_KIB: Final = {512: 64, 1024: 128, 2048: 256, 4096: 512}
"""Table 2: for each size of the L2 cache the block above which copies slow down."""

DISKS: Final = {
    "RAID 0 of two": ('machine.disk.sda.read="119 MB/s"', 'machine.disk.sda.write="119 MB/s"'),
    "SAN": ('machine.disk.sda.read="200 MB/s"', 'machine.disk.sda.write="200 MB/s"'),
}
"""Rates of what Figures 11 and 12 had instead of the disk: twice its own, and a link of 2 Gbit/s."""

WITHIN: Final = 0.05
"""Rates so near to each other are the same."""


@dataclass(frozen=True)
class Curve:
    """Points to forecast: pairs of file and block in KiB, on the machine with some keys changed."""

    name: str
    points: tuple[tuple[int, int], ...]
    overrides: tuple[str, ...] = ()


Rates = dict[tuple[int, int], dict[str, float]]
"""KiB/s by file and block, "read" and "write"."""


GRID: Final = "grid"
"""The curve of all files and blocks."""


def _blocks(file_mib: int) -> tuple[tuple[int, int], ...]:
    return tuple((file_mib * MIB, block) for block in BLOCKS_KIB)


def _curves() -> Iterator[Curve]:
    points = ((file, block) for file in FILES_KIB for block in BLOCKS_KIB if block <= file)
    yield Curve(GRID, tuple(points))
    for l2 in L2_KIB:
        yield Curve(f"L2 of {l2} KiB", _blocks(64), (f'machine.memory.l2="{l2} KiB"',))
    for name, rates in DISKS.items():
        yield Curve(name, _blocks(64), rates)


CURVES: Final = tuple(_curves())


def judge(rates: dict[str, Rates]) -> list[Shape]:
    """Judge the curves, by name."""
    grid = rates[GRID]
    return [
        *_drops(rates),
        _reads_fall_more(_by_block(grid)),
        *_files(grid),
        *_disks(rates),
    ]


def _by_block(rates: Rates) -> dict[str, dict[int, float]]:
    """Give the rates of the file of 64 MiB."""
    return {
        way: {block: one[way] for (file, block), one in rates.items() if file == 64 * MIB}
        for way in ("read", "write")
    }


def _by_file(rates: Rates, way: str) -> list[dict[int, float]]:
    """Give the rates by file, for each block that all these files are longer than."""
    return [{file: one[way] for (file, at), one in rates.items() if at == block} for block in BLOCKS_KIB]


def drop_off(by_block: dict[int, float]) -> int | None:
    """Give the largest block before copies slow down: the next one is more than 1 % slower."""
    return next(
        (block for (block, rate), (_, after) in pairwise(by_block.items()) if after < 0.99 * rate), None
    )


def _drops(rates: dict[str, Rates]) -> Iterator[Shape]:
    for l2, block in L2_KIB.items():
        found = {way: drop_off(one) for way, one in _by_block(rates[f"L2 of {l2} KiB"]).items()}
        yield Shape(
            f"L2 of {l2} KiB: reads and writes slow down above blocks of {block} KiB",
            "Table 2",
            ", ".join(f"{way} {at} KiB" for way, at in found.items()),
            set(found.values()) == {block},
        )


def _reads_fall_more(by_block: dict[str, dict[int, float]]) -> Shape:
    left = {way: one[BLOCKS_KIB[-1]] / one[BLOCKS_KIB[0]] for way, one in by_block.items()}
    return Shape(
        "from blocks of 4 KiB to 16 MiB reads lose more than writes",
        "5 to 9, 13, 14, 30",
        ", ".join(f"{100 * part:.0f} % of {way} left" for way, part in left.items()),
        left["read"] < left["write"] < 1,
    )


def _files(grid: Rates) -> Iterator[Shape]:
    reads, writes = _by_file(grid, "read"), _by_file(grid, "write")
    within, small = ([_up_to(one, most) for one in ways] for ways, most in ((reads, 2048), (writes, 256)))
    spread = max(max(one) / min(one) - 1 for one in within)
    yield Shape(
        "reads up to 2 GiB do not depend on the size of the file, within 5 %, whatever the block",
        "5 to 9, 31",
        f"{100 * spread:.1f} %",
        spread <= WITHIN,
    )
    spread = max(max(one) / min(one) - 1 for one in small)
    yield Shape(
        "nor do writes up to 256 MiB",
        "10, 32",
        f"{100 * spread:.1f} %",
        spread <= WITHIN,
    )
    slow = [
        next((file // MIB for file, rate in one.items() if rate < 0.9 * max(free)), 0)
        for one, free in zip(writes, small, strict=True)
    ]
    left = [one[1024 * MIB] / max(free) for one, free in zip(writes, small, strict=True)]
    yield Shape(
        "writes slow down by more than a tenth at 512 MiB or the next size, 1 GiB",
        "10, 38",
        f"at {min(slow)} to {max(slow)} MiB; {100 * min(left):.0f} to {100 * max(left):.0f} % at 1 GiB",
        all(512 <= at <= 1024 for at in slow),
    )
    beyond = max(one[5120 * MIB] / max(free) for one, free in zip(reads, within, strict=True))
    yield Shape(
        "a file larger than the memory is read at less than a fifth of the rate",
        "5 to 9",
        f"{100 * beyond:.0f} %",
        beyond < 0.2,
    )


def _up_to(rates: dict[int, float], most_mib: int) -> list[float]:
    return [rate for file, rate in rates.items() if file <= most_mib * MIB]


def _disks(rates: dict[str, Rates]) -> Iterator[Shape]:
    disk = _by_block(rates[GRID])
    for name in DISKS:
        other = _by_block(rates[name])
        apart = max(abs(other[way][block] / disk[way][block] - 1) for way in disk for block in disk[way])
        yield Shape(
            f"{name} has the curves of the disk, within 5 %: the page cache hides it",
            "11, 12",
            f"{100 * apart:.1f} % apart at most",
            apart <= WITHIN,
        )
