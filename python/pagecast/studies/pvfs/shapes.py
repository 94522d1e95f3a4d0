"""What the dissertation says of its PVFS figures, held against forecasts. It prints no throughput.

Each judgement has its tolerance beside it, named before any forecast of it was looked at.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import mean
from typing import Final

from pagecast.comparison.shapes import Shape
from pagecast.studies.pvfs.plan import (
    MEMORY_KIB,
    MIB,
    SIZES,
    Curve,
    Curves,
    Forecasts,
    Rates,
    Sizes,
    as_curves,
    by_clients,
)
from pagecast.studies.pvfs.scenarios import CONSTANT, SERVERS

__all__ = [
    "AXES",
    "BARS",
    "WAYS",
    "judge",
    "judge_buffer",
    "judge_clients",
    "judge_files",
    "judge_long",
    "judge_memory",
    "judge_starts",
    "over_draws",
]

WAYS: Final = ("read", "write")

LEVEL_KIB: Final = 2 * MIB
"""From this size on writes have their level (section 3.3.3)."""

WITHIN: Final = 0.05
"""Rates so near to each other are the same, as in the study of ext3."""

BARS: Final = 0.2
"""The bars of the dissertation's figures."""

LESS: Final = 0.75
"""A rate that has fallen is less than this part of the other."""

TIMES: Final = 10
"""Small blocks lose so many times as much as large ones."""

AXES: Final[Mapping[str, tuple[str, int, int]]] = {"66": ("write", 6, 80_000), "67": ("read", 7, 90_000)}
"""Figures with a known axis: what they show, of how many clients, and its end in KB/s."""


def judge(found: Mapping[str, Forecasts], sizes: Sizes = SIZES) -> tuple[Shape, ...]:
    """Judge the forecasts of the experiments that were asked for."""
    shapes: list[Shape] = []
    if points := found.get("clients"):
        short, long = (by_clients(points, file_kib=file) for file in (sizes.short_kib, sizes.long_kib))
        shapes += [*judge_clients(short), *judge_long(short, long)]
    if points := found.get("buffer"):
        lines = as_curves(points, line=lambda p: (p.clients, p.search), at=lambda p: p.block_kib)
        shapes += judge_buffer(lines)
    if points := found.get("starts"):
        shapes += judge_starts(over_draws(points))
    if points := found.get("files"):
        shapes += judge_files(as_curves(points, line=lambda p: p.file_kib, at=lambda p: p.block_kib))
    if points := found.get("memory"):
        together = as_curves(points, line=lambda p: p.clients, at=lambda p: p.clients * p.file_kib)
        shapes += judge_memory(together, sizes.memory_kib)
    return tuple(shapes)


def judge_clients(curves: Curves) -> Iterator[Shape]:
    """Judge throughput over blocks, by the number of clients."""
    apart = max(
        max(rates) / min(rates) - 1
        for curve in curves.values()
        for one in curve.values()
        for rates in one.values()
    )
    yield Shape(
        "the curves of equal clients coincide, within 5 %",
        "57 to 70",
        f"{100 * apart:.1f} % apart at most",
        apart <= WITHIN,
    )
    for way in WAYS:
        parts = [_mean(curve, min(curve), way) / _fastest(curve, way) for curve in curves.values()]
        yield Shape(
            f"{way}s of small blocks are slower: at 8 KiB less than half of the fastest block",
            "55 to 70",
            f"{100 * min(parts):.0f} to {100 * max(parts):.0f} % of the fastest",
            max(parts) < 0.5,
        )
    for way in WAYS:
        yield from _beyond_servers(curves, way)


def judge_long(short: Curves, long: Curves) -> Iterator[Shape]:
    """Judge long files beside short ones, 512 and 64 MiB: curves over blocks by the number of clients."""
    for figure, (way, clients, axis) in AXES.items():
        fastest = max(_fastest(curves[clients], way) for curves in (short, long))
        yield Shape(
            f"{way}s of {clients} clients stay below the end of the axis, {axis:,} KB/s",
            figure,
            f"{fastest:,.0f} KiB/s at most",
            fastest <= axis,
        )
    for way in WAYS:
        apart, clients = max(
            (abs(_mean(curve, block, way) / _mean(short[clients], block, way) - 1), clients)
            for clients, curve in long.items()
            for block in curve
        )
        yield Shape(
            f"{way}s of short and long files have the same level, within 20 %, for any number of clients",
            "17" if way == "read" else "18",
            f"{100 * apart:.1f} % apart at most, {clients} clients",
            apart <= BARS,
        )


def _beyond_servers(curves: Curves, way: str) -> Iterator[Shape]:
    """Judge the expectation that clients get less each as they exceed servers. The text does not state it."""
    few, many = (_fastest(curves[clients], way) for clients in (min(curves), max(curves)))
    yield Shape(
        f"{way}s get less for each as clients exceed servers: {max(curves)} clients less than 3/4 of one "
        "(our expectation)",
        "",
        f"{100 * many / few:.0f} %",
        many < LESS * few,
    )
    within = curves[max(clients for clients in curves if clients <= SERVERS)]
    beyond = [curve for clients, curve in curves.items() if clients > SERVERS]
    most = max(_mean(curve, block, way) / _mean(within, block, way) for curve in beyond for block in curve)
    yield Shape(
        f"{way}s of more clients than servers are slower than those of as many, at every block "
        "(our expectation)",
        "",
        f"{100 * most:.0f} % at most",
        most < 1,
    )
    gain, clients, block = max(
        (_mean(after, block, way) / _mean(before, block, way), clients, block)
        for (_, before), (clients, after) in pairwise(curves.items())
        if clients > SERVERS
        for block in after
    )
    yield Shape(
        f"{way}s get less for each with every client beyond the servers, at every block (our expectation)",
        "",
        f"{100 * gain:.0f} % of one client fewer at most, {clients} clients at {block} KiB",
        gain < 1,
    )


def judge_buffer(lines: Mapping[tuple[int, str], Curve]) -> Iterator[Shape]:
    """Judge what linear receive buffers cost against one of constant cost, by clients and search."""
    for way in WAYS:
        losses = [
            {
                block: 1 - _mean(curve, block, way) / _mean(lines[clients, CONSTANT], block, way)
                for block in curve
            }
            for (clients, search), curve in lines.items()
            if search != CONSTANT
        ]
        small, large = ([loss[end(loss)] for loss in losses] for end in (min, max))
        yield Shape(
            f"{way}s of small blocks pay the linear buffer: 8 KiB lose more than ten times as much as 2 MiB",
            "55 to 70",
            f"8 KiB lose {100 * min(small):.1f} to {100 * max(small):.1f} %, "
            f"2 MiB {100 * max(0.0, *large):.1f} % at most",
            all(one > TIMES * max(0.0, other) for one, other in zip(small, large, strict=True)),
        )


def over_draws(forecasts: Forecasts) -> dict[int, dict[str, list[float]]]:
    """Give the mean rates of the clients in each draw, by the number of clients."""
    found: dict[int, dict[str, list[float]]] = {}
    for point, rates in forecasts.items():
        for way in WAYS:
            found.setdefault(point.clients, {}).setdefault(way, []).append(mean(rates[way]))
    return found


def judge_starts(found: Mapping[int, Rates]) -> Iterator[Shape]:
    """Judge the rates of clients that do not begin together, in each draw, by the number of clients."""
    for way in WAYS:
        rates = [mean(one[way]) for one in found.values()]
        gain = max(after / before for before, after in pairwise(rates))
        yield Shape(
            f"{way}s get less for each with every client beyond the servers, if they do not begin together: "
            f"64 KiB, mean of {len(found[min(found)][way])} draws (our expectation)",
            "",
            f"{100 * gain:.0f} % of one client fewer at most",
            gain < 1,
        )


def judge_files(curves: Curves) -> Iterator[Shape]:
    """Judge throughput of one client over blocks, by the size of its file."""
    by_block = [
        {file: curve[block] for file, curve in curves.items() if block in curve}
        for block in sorted({block for curve in curves.values() for block in curve})
    ]
    reads, writes = ([{file: _mean(one, file, way) for file in one} for one in by_block] for way in WAYS)
    spread = max(max(one.values()) / min(one.values()) - 1 for one in reads)
    yield Shape(
        "reads do not depend on the size of the file, within 5 %, whatever the block",
        "17",
        f"{100 * spread:.1f} % apart at most",
        spread <= WITHIN,
    )
    short = max(rate / one[LEVEL_KIB] for one in writes for file, rate in one.items() if file < LEVEL_KIB)
    yield Shape(
        "files of less than 2 MiB are written more slowly than one of 2 MiB, whatever the block",
        "18",
        f"{100 * short:.1f} % at most",
        short < 1,
    )
    levels = [[rate for file, rate in one.items() if file >= LEVEL_KIB] for one in writes]
    spread = max(max(level) / min(level) - 1 for level in levels)
    yield Shape(
        "writes have their level from 2 MiB on, within 20 %, the dissertation's own bars, whatever the block",
        "18",
        f"{100 * spread:.1f} % apart at most",
        spread <= BARS,
    )


def judge_memory(curves: Curves, memory_kib: int = MEMORY_KIB) -> Iterator[Shape]:
    """Judge throughput over the size of all files together, by the number of clients."""
    clients = max(curves)
    curve = curves[clients]
    for way, figure in zip(WAYS, ("17", "18"), strict=True):
        half, twice = (_mean(curve, together, way) for together in (memory_kib // 2, 2 * memory_kib))
        yield Shape(
            f"{way}s drop at the memory of the servers: {clients} clients get less than 3/4 with files of "
            "twice its size, of what they get with half of it",
            figure,
            f"{100 * twice / half:.0f} %",
            twice < LESS * half,
        )


def _mean(curve: Curve, at: int, way: str) -> float:
    """Give the mean rate of the clients at a place of a curve."""
    return mean(curve[at][way])


def _fastest(curve: Curve, way: str) -> float:
    return max(_mean(curve, at, way) for at in curve)
